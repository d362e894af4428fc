"""Units of a Python file by its own syntax tree (`ast`), without running it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from indexer.source_code.units import LONG, Unit, leading, one_line, run

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def outline(text: str) -> tuple[Unit, ...]:
    """Functions, classes and runs of module-level statements.

    Raises `SyntaxError`, `ValueError`, `RecursionError` or `MemoryError` for what this Python cannot parse.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    return _Outline(text.split("\n")).units(tree.body, 0)


class _Outline:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def units(self, body: Sequence[ast.stmt], floor: int, role: str = "module") -> tuple[Unit, ...]:
        """The units of a body whose first line comes after `floor`; `role` is that of plain statements."""
        found: list[Unit] = []
        for kind, nodes in groupby(body, _kind):
            statements = list(nodes)
            before = found[-1].last if found else floor
            if kind == "scope":
                found.extend(self._scopes(statements, before, role))
            else:
                found.append(self._run(statements, before, role))
        return tuple(found)

    def _scopes(self, nodes: Iterable[ast.stmt], floor: int, role: str) -> Iterator[Unit]:
        for node in nodes:
            unit = self._class(node, floor) if isinstance(node, ast.ClassDef) else self._function(node, floor, role)
            floor = unit.last
            yield unit

    def _function(self, node: ast.stmt, floor: int, role: str) -> Unit:
        assert isinstance(node, _Function)  # noqa: S101
        first, last = self._first(node, floor), _last(node)
        parts = self.blocks(node.body, node.lineno) if last - first >= LONG else ()
        return Unit(first, last, "method" if role == "class" else "function", node.name, _described(_signature(node), node), parts)

    def _class(self, node: ast.ClassDef, floor: int) -> Unit:
        bases = ", ".join(ast.unparse(base) for base in [*node.bases, *(keyword.value for keyword in node.keywords)])
        header = _described(one_line(f"class {node.name}({bases})" if bases else f"class {node.name}"), node)
        parts = self.units(node.body, node.lineno, "class")
        scopes = tuple(part for part in parts if part.role != "class" or part.name)
        return Unit(self._first(node, floor), _last(node), "class", node.name, header, scopes)

    def _run(self, nodes: list[ast.stmt], floor: int, role: str) -> Unit:
        first = leading(self.lines, nodes[0].lineno, floor)
        unit = run(first, _last(nodes[-1]), (), role)
        return run(first, unit.last, self.blocks(nodes, floor), role) if unit.last - first >= LONG else unit

    def blocks(self, body: Sequence[ast.stmt], floor: int) -> tuple[Unit, ...]:
        """The statements of a body, those that are long themselves cut further."""
        found: list[Unit] = []
        for node in body:
            floor = found[-1].last if found else floor
            if isinstance(node, _Scope):
                found.extend(self._scopes([node], floor, "module"))
            else:
                inner = self._inner(node) if _last(node) - node.lineno >= LONG else ()
                found.append(Unit(leading(self.lines, node.lineno, floor), _last(node), "block", parts=inner))
        return tuple(found)

    def _inner(self, node: ast.stmt) -> tuple[Unit, ...]:
        bodies = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        bodies[1:1] = [case.body for case in getattr(node, "handlers", []) + getattr(node, "cases", [])]
        units = [unit for body in bodies if isinstance(body, list) and body for unit in self.blocks(body, body[0].lineno - 1)]
        return tuple(sorted(units, key=lambda unit: (unit.first, -unit.last)))

    def _first(self, node: _Scope, floor: int) -> int:
        return leading(self.lines, min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), floor)


def _kind(node: ast.stmt) -> str:
    if isinstance(node, _Scope):
        return "scope"
    return "import" if isinstance(node, ast.Import | ast.ImportFrom) else "statement"


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _signature(node: _Function) -> str:
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return one_line(f"{start} {node.name}({ast.unparse(node.args)}){returns}")


def _described(signature: str, node: _Scope) -> str:
    """The signature and the first line of the docstring."""
    words = (ast.get_docstring(node) or "").strip().partition("\n")[0]
    return f"{signature} · {one_line(words, 160)}" if words else signature
