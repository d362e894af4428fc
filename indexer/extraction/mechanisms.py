"""Mechanisms of programs as facts: every statement by which code decides something of a known kind, with its place and its words (pure).

Read from the syntax tree of Python and from the lines of configurations; nothing is run.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexer.extraction.rate_branches import alternatives, rate_branches
from lineage.hyperparameters.mechanisms import MechanismKind, by_call, by_name, kinds
from lineage.records import MECHANISM, Document
from lineage.text.syntax import UNREADABLE, Function, defaults, module

MOST = 25
"""Facts of one kind in one document."""
_LONGEST = 200
_CODE = 400
_LINES = 12
_CONFIG_LINES = 1_500
_OPTIONS = frozenset(("add_argument", "add_option", "option", "add_arg"))
_CONFIG_LINE = re.compile(r"\s*(?:-\s+)?[\"']?([A-Za-z_][\w./-]{0,80})[\"']?\s*[:=]\s*(\S.*?),?\s*\Z")
_FLAG = re.compile(r"(?<!\S)--([A-Za-z][\w.-]{1,60})(?:[ =]([^\s\\-][^\s\\]{0,80}))?")
_COMMENT = re.compile(r"\s+#\s.*\Z")


@dataclass(frozen=True, order=True)
class MechanismFact:
    """A statement that decides something: its lines, the kind, the words that told it (`how`), the code in one line, the function around it."""

    line: int
    end_line: int
    name: str
    value: str
    written: str
    how: str
    scope: str


def read(document: Document) -> list[MechanismFact]:
    """The mechanisms of one document; none of text that is no Python, configuration or command."""
    if document.language == "python":
        try:
            return _bounded(_MechanismReader(document.text.split("\n"), module(document.text)).facts())
        except UNREADABLE:
            return []
    if document.kind == "config":
        return _bounded(_configured(document.text.split("\n")[:_CONFIG_LINES]))
    return _bounded(_flags(document.text.split("\n"))) if document.language == "bash" else []


def _bounded(facts: Iterable[MechanismFact]) -> list[MechanismFact]:
    """One fact a place and kind, and no more than is sane of a kind."""
    first: dict[tuple[str, int], MechanismFact] = {}
    for fact in facts:
        first.setdefault((fact.name, fact.line), fact)
    counts: Counter[str] = Counter()
    kept = []
    for fact in sorted(first.values()):
        counts[fact.name] += 1
        if counts[fact.name] <= MOST:
            kept.append(fact)
    return kept


def _folded(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").replace("-", "").lower()


def _configured(lines: Sequence[str]) -> Iterator[MechanismFact]:
    for number, line in enumerate(lines, 1):
        if match := _CONFIG_LINE.match(line):
            for kind in by_name().get(_folded(match[1].replace("/", ".")), ()):
                yield MechanismFact(number, number, MECHANISM + kind.name, line.strip()[:_LONGEST], match[1], "config", "")


def _flags(lines: Sequence[str]) -> Iterator[MechanismFact]:
    for number, line in enumerate(lines, 1):
        for match in _FLAG.finditer(line):
            for kind in by_name().get(_folded(match[1]), ()):
                yield MechanismFact(number, number, MECHANISM + kind.name, match[0][:_LONGEST], match[1], "config", "")


class _MechanismReader:
    """One module: its statements, each with the function around it."""

    def __init__(self, lines: Sequence[str], tree: ast.Module) -> None:
        self.lines = lines
        self.tree = tree
        self._in_chain: set[ast.stmt] = set()

    def facts(self) -> Iterator[MechanismFact]:
        """What every statement decides; definitions by their names."""
        stack: list[tuple[ast.stmt, str]] = [(statement, "") for statement in self.tree.body]
        while stack:
            statement, scope = stack.pop()
            yield from self._statement(statement, scope)
            inner = f"{scope}.{statement.name}".strip(".") if isinstance(statement, Function | ast.ClassDef) else scope
            stack += [(child, inner) for child in _children(statement)]

    def _statement(self, statement: ast.stmt, scope: str) -> Iterator[MechanismFact]:
        if isinstance(statement, ast.Import | ast.ImportFrom) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            return
        end = _end(statement)
        if isinstance(statement, Function | ast.ClassDef):
            yield from self._definition(statement, scope)
        if isinstance(statement, ast.If):
            yield from self._branches(statement, scope)
        parts = list(_header(statement))
        known: set[str] = set()
        text = self._text(statement.lineno, end)
        for call in (node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)):
            for wanted, kind in _called(_dotted(call.func)):
                known.add(kind.name)
                yield self._fact(kind, call.lineno, min(call.end_lineno or call.lineno, call.lineno + _LINES), wanted, "call", scope)
            yield from self._keywords(call, scope)
        yield from self._targets(statement, scope)
        plain = len(text) < _CODE and not isinstance(statement, Function | ast.ClassDef | ast.Assert | ast.Raise)
        for kind in (kind for kind in kinds() if plain and kind.code and kind.name not in known):
            if kind.code and (match := kind.code.search(text)):
                known.add(kind.name)
                yield MechanismFact(statement.lineno, end, MECHANISM + kind.name, text[:_LONGEST], match[0][:40], "code", scope)

    def _definition(self, node: Function | ast.ClassDef, scope: str) -> Iterator[MechanismFact]:
        last = min(node.end_lineno or node.lineno, node.lineno + 4 * _LINES)
        inner = f"{scope}.{node.name}".strip(".")
        for kind in kinds():
            if kind.functions and kind.functions.match(node.name) and kind.functions.fullmatch(node.name):
                yield MechanismFact(
                    node.lineno, last, MECHANISM + kind.name, self._text(node.lineno, node.lineno)[:_LONGEST], node.name, "definition", scope
                )
        if not isinstance(node, ast.ClassDef):
            for argument, default in defaults(node.args):
                if not _is_none(default):
                    yield from self._named(argument.arg, argument.lineno, "parameter", inner)

    def _branches(self, statement: ast.If, scope: str) -> Iterator[MechanismFact]:
        """The learning rate that a chain of branches on the step computes, told once for the chain."""
        if statement in self._in_chain:
            return
        self._in_chain.update(alternatives(statement))
        for branch in rate_branches(statement):
            end = min(branch.end_line, branch.line + _LINES)
            yield MechanismFact(branch.line, end, MECHANISM + branch.kind, self._text(branch.line, end)[:_LONGEST], branch.written, "branch", scope)

    def _keywords(self, call: ast.Call, scope: str) -> Iterator[MechanismFact]:
        """Options that a call declares, and keywords that it is given, but for what is only passed on."""
        if _dotted(call.func).rpartition(".")[2] in _OPTIONS or _dotted(call.func).rpartition(".")[2].startswith("DEFINE_"):
            for nth, argument in enumerate(call.args[:2]):
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and (nth == 0 or argument.value.startswith("-")):
                    last = min(call.end_lineno or call.lineno, call.lineno + _LINES)
                    yield from self._named(argument.value.lstrip("-"), call.lineno, "option", scope, last)
            return
        for keyword in call.keywords:
            if keyword.arg and not _passes(keyword.arg, keyword.value) and not _is_none(keyword.value):
                yield from self._named(keyword.arg, keyword.value.lineno, "keyword", scope)

    def _targets(self, statement: ast.stmt, scope: str) -> Iterator[MechanismFact]:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                name = _dotted(target).rpartition(".")[2] if not isinstance(target, ast.Subscript) else _key(target)
                if name and not _passes(name, statement.value) and not _is_none(statement.value):
                    yield from self._named(name, statement.lineno, "assignment" if _valued(statement.value) else "computed", scope)
        for node in (node for part in _header(statement) for node in ast.walk(part) if isinstance(node, ast.Dict)):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and _valued(value):
                    yield from self._named(key.value, key.lineno, "keyword", scope)

    def _named(self, name: str, line: int, how: str, scope: str, last: int = 0) -> Iterator[MechanismFact]:
        for kind in by_name().get(_folded(name), ()):
            yield self._fact(kind, line, last or line, name, how, scope)

    def _fact(self, kind: MechanismKind, line: int, end: int, written: str, how: str, scope: str) -> MechanismFact:
        return MechanismFact(line, end, MECHANISM + kind.name, self._text(line, end)[:_LONGEST], written, how, scope)

    def _text(self, first: int, last: int) -> str:
        """Lines as one, without comments."""
        rows = (_COMMENT.sub("", row).strip() for row in self.lines[first - 1 : min(last, first + _LINES)])
        return " ".join(row for row in rows if row and not row.startswith("#"))


def _children(statement: ast.stmt) -> Iterator[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(statement, field, ())
    for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from handler.body


def _header(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are no statements of their own."""
    if isinstance(statement, ast.If | ast.While):
        yield statement.test
    elif isinstance(statement, ast.For | ast.AsyncFor):
        yield from (statement.target, statement.iter)
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield from statement.items
    elif isinstance(statement, Function | ast.ClassDef):
        yield from statement.decorator_list
    elif not hasattr(statement, "body"):
        yield statement


def _end(statement: ast.stmt) -> int:
    """The last line of a statement, of a compound one that of its head."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or statement.lineno
    return max(statement.lineno, min(last, statement.lineno + _LINES))


def _called(dotted: str) -> Iterator[tuple[str, MechanismKind]]:
    for wanted, kind in by_call().get(dotted.rpartition(".")[2], ()):
        if dotted == wanted or "." not in wanted or dotted.endswith(f".{wanted}"):
            yield wanted, kind


def _dotted(node: ast.AST) -> str:
    """The dotted name of an expression, "" for what has none; calls and subscripts inside of it are left out."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return ".".join(reversed([*parts, *([node.id] if isinstance(node, ast.Name) else [])]))


def _key(target: ast.Subscript) -> str:
    return target.slice.value if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str) else ""


def _passes(name: str, value: ast.expr) -> bool:
    """Whether a value is only handed on under its own name."""
    return isinstance(value, ast.Name | ast.Attribute) and _folded(_dotted(value)) == _folded(name)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _valued(value: ast.expr) -> bool:
    """Whether an expression is a literal, or is made of some."""
    return any(isinstance(node, ast.Constant) and node.value is not None for node in ast.walk(value))
