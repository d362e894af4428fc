"""Units of a Python file by its own syntax tree (`ast`), without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from indexer.parsers.code.spans import LONG, CodeUnit, leading, one_line
from lineage.text.syntax import Function, module

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LEAST = 4
"""Settings in a row from which they are a unit of their own."""
FIELDS = 8
"""The like of the fields of a class."""
_ADDS = {"add_argument", "add_option", "add_flag", "option", "ConfigDict", "CfgNode", "ArgumentParser", "add_argument_group"}
_AROUND = {"parse_args", "parse_known_args", "set_defaults", "add_mutually_exclusive_group", "add_subparsers", "add_parser"}
_DEFINES = re.compile(r"(?:DEFINE|mark_flag)_?\w{0,40}\Z")


def outline(text: str) -> tuple[CodeUnit, ...]:
    """Functions, classes and runs of module-level statements; raises one of `UNREADABLE` for what this Python cannot parse."""
    return _Outline(text.split("\n")).units(module(text).body, 0)


class _Outline:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def units(self, body: Sequence[ast.stmt], floor: int, role: str = "module") -> tuple[CodeUnit, ...]:
        """The units of a body whose first line comes after `floor`; `role` is that of plain statements."""
        code_units: list[CodeUnit] = []
        for kind, statements in _grouped(body, role):
            before = code_units[-1].last if code_units else floor
            if kind == "scope":
                code_units.extend(self._scopes(statements, before, role))
            elif kind == "option":
                code_units.append(self._options(statements, before))
            else:
                code_units.append(self._run(statements, before, role))
        return tuple(code_units)

    def _options(self, nodes: Sequence[ast.stmt], floor: int) -> CodeUnit:
        """Settings in a row, each a part: where there are many they are cut between them."""
        parts = self.blocks(nodes, floor)
        return CodeUnit(parts[0].first, parts[-1].last, "config", parts=parts)

    def _scopes(self, nodes: Iterable[ast.stmt], floor: int, role: str) -> Iterator[CodeUnit]:
        for node in nodes:
            unit = self._class(node, floor) if isinstance(node, ast.ClassDef) else self._function(node, floor, role)
            floor = unit.last
            yield unit

    def _function(self, node: ast.stmt, floor: int, role: str) -> CodeUnit:
        assert isinstance(node, Function)  # noqa: S101
        first, last = self._first(node, floor), _last(node)
        parts = self._statements(node.body, node.lineno) if last - first >= LONG or _says_settings(node) else ()
        parts = (*self._decorators(node, first), *parts) if parts else ()
        return CodeUnit(first, last, "method" if role == "class" else "function", node.name, _described(_signature(node), node), parts)

    def _statements(self, body: Sequence[ast.stmt], floor: int) -> tuple[CodeUnit, ...]:
        """The statements of a function, its settings in a row as one unit."""
        code_units: list[CodeUnit] = []
        for kind, nodes in _grouped(body, "block"):
            floor = code_units[-1].last if code_units else floor
            code_units.extend([self._options(nodes, floor)] if kind == "option" else self.blocks(nodes, floor))
        return tuple(code_units)

    def _decorators(self, node: Function, first: int) -> Iterator[CodeUnit]:
        """The options that stand above a command of click."""
        given = [expr for expr in node.decorator_list if called(expr) == "option"]
        if len(given) >= LEAST:
            ends = [expr.end_lineno or expr.lineno for expr in given]
            starts = [first, *(end + 1 for end in ends[:-1])]
            parts = tuple(CodeUnit(start, end, "block") for start, end in zip(starts, ends, strict=True) if start <= end)
            yield CodeUnit(first, ends[-1], "config", parts=parts)

    def _class(self, node: ast.ClassDef, floor: int) -> CodeUnit:
        bases = ", ".join(ast.unparse(base) for base in [*node.bases, *(keyword.value for keyword in node.keywords)])
        header = _described(one_line(f"class {node.name}({bases})" if bases else f"class {node.name}"), node)
        parts = self.units(node.body, node.lineno, "class")
        scopes = tuple(part for part in parts if part.role != "class" or part.name)
        return CodeUnit(self._first(node, floor), _last(node), "class", node.name, header, scopes)

    def _run(self, nodes: list[ast.stmt], floor: int, role: str) -> CodeUnit:
        first = leading(self.lines, nodes[0].lineno, floor)
        last = _last(nodes[-1])
        long = last - first >= LONG or any(map(_holds_settings, nodes))
        return CodeUnit(first, last, role, parts=self.blocks(nodes, floor) if long else ())

    def blocks(self, body: Sequence[ast.stmt], floor: int) -> tuple[CodeUnit, ...]:
        """The statements of a body, those that are long themselves cut further."""
        code_units: list[CodeUnit] = []
        for node in body:
            floor = code_units[-1].last if code_units else floor
            if isinstance(node, _Scope):
                code_units.extend(self._scopes([node], floor, "module"))
            else:
                inner = self._inner(node) if _last(node) - node.lineno >= LONG or _holds_settings(node) else ()
                code_units.append(CodeUnit(leading(self.lines, node.lineno, floor), _last(node), "block", parts=inner))
        return tuple(code_units)

    def _inner(self, node: ast.stmt) -> tuple[CodeUnit, ...]:
        bodies = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        bodies[1:1] = [case.body for case in getattr(node, "handlers", []) + getattr(node, "cases", [])]
        units = [unit for body in bodies if isinstance(body, list) and body for unit in self._statements(body, body[0].lineno - 1)]
        return tuple(sorted(units, key=lambda unit: (unit.first, -unit.last)))

    def _first(self, node: _Scope, floor: int) -> int:
        return leading(self.lines, min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), floor)


def _grouped(body: Sequence[ast.stmt], role: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Neighbours of one kind together; a few settings are statements like others."""
    sets, least = (is_setting, FIELDS) if role == "class" else (is_option, LEAST)
    stmts: list[ast.stmt] = []
    for kind, group in groupby(body, lambda node: "option" if sets(node) else _kind(node)):
        nodes = list(group)
        if kind == "statement" or (kind == "option" and len(nodes) < least):
            stmts += nodes
            continue
        if stmts:
            yield "statement", stmts
        stmts = []
        yield kind, nodes
    if stmts:
        yield "statement", stmts


def _says_settings(node: Function) -> bool:
    given = sum(called(expr) == "option" for expr in node.decorator_list)
    return max(given, sum(map(is_option, node.body))) >= LEAST


def _holds_settings(node: ast.stmt) -> bool:
    return isinstance(node, ast.If | ast.With) and sum(map(is_option, node.body)) >= LEAST


def _kind(node: ast.stmt) -> str:
    if isinstance(node, _Scope):
        return "scope"
    return "import" if isinstance(node, ast.Import | ast.ImportFrom) else "statement"


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _signature(node: Function) -> str:
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return one_line(f"{start} {node.name}({ast.unparse(node.args)}){returns}")


def _described(signature: str, node: _Scope) -> str:
    """The signature and the first line of the docstring."""
    words = (ast.get_docstring(node) or "").strip().partition("\n")[0]
    return f"{signature} · {one_line(words, 160)}" if words else signature


def is_option(node: ast.stmt) -> bool:
    """Whether a statement says one setting, or belongs to those that do (the parser made, the arguments parsed)."""
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    if isinstance(value, ast.Call):
        name = called(value)
        return name in _ADDS or name in _AROUND or bool(_DEFINES.match(name))
    return _is_field(node)


def _is_field(node: ast.stmt) -> bool:
    """`cfg.model.depth = 12`, in a module or a function; what an object keeps of itself is none."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
        return False
    root: ast.expr = node.targets[0]
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id not in {"self", "cls"} and is_plain(node.value)


def is_plain(value: ast.expr | None) -> bool:
    """Whether a value is written out: a number, a word, or a row of them."""
    if isinstance(value, ast.UnaryOp):
        return is_plain(value.operand)
    if isinstance(value, ast.List | ast.Tuple):
        return all(is_plain(expr) for expr in value.elts[:20])
    return isinstance(value, ast.Constant)


def is_setting(node: ast.stmt) -> bool:
    """Whether a statement of a class is a field with its default, or the words below one."""
    if isinstance(node, ast.AnnAssign):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def called(call: ast.expr) -> str:
    """The last name of what is called, "" where that has none."""
    function = call.func if isinstance(call, ast.Call) else call
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
