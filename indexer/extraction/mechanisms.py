"""Mechanisms of programs as facts: every statement by which code decides something of a known kind, with its place and its words (pure).

Read from the syntax tree of Python and from the lines of configurations; nothing is run.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from indexer.read_document import MOST_OF_A_KIND, MechanismFact
from lineage.hyperparameters.mechanisms import MechanismKind, by_call, by_name, kinds
from lineage.records import MECHANISM, Document
from lineage.text.syntax import UNREADABLE, Function, defaults, module
from lineage.text.tokens import parts

SCHEDULE, WARMUP = "lr_schedule", "warmup_and_floor"
_STEPS = frozenset("step steps globalstep currentstep curstep nstep it iter iters niter curiter iteration itr epoch epochs".split())
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_PLAIN = frozenset(("float", "int", "min", "max"))
"""Calls in which a step stays a step."""


class RateBranch(NamedTuple):
    """Lines that decide something of the rate: of which kind, and the rate's name."""

    kind: str
    line: int
    end_line: int
    written: str


class _Branch(NamedTuple):
    test: ast.expr | None
    body: Sequence[ast.stmt]


def rate_branches(statement: ast.If) -> Iterator[RateBranch]:
    """The schedule that a chain of branches on the step is, and the branch of it in which the rate rises."""
    chain = list(_chain(statement))
    if not any(branch.test and _compares(branch.test) for branch in chain):
        return
    written = [name for branch in chain for name, value in _rates(branch.body) if _computed(value)]
    if not written:
        return
    yield RateBranch(SCHEDULE, statement.lineno, statement.end_lineno or statement.lineno, written[0])
    for branch in chain:
        if branch.test and _is_early(branch.test):
            rising = next((name for name, value in _rates(branch.body) if _rises(value)), None)
            if rising:
                yield RateBranch(WARMUP, branch.test.lineno, branch.body[-1].end_lineno or branch.test.lineno, rising)


def alternatives(statement: ast.If) -> list[ast.If]:
    """The `elif`s of a statement: parts of its chain."""
    branches = []
    while len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        statement = statement.orelse[0]
        branches.append(statement)
    return branches


def _chain(statement: ast.If) -> Iterator[_Branch]:
    last = statement
    for last in (statement, *alternatives(statement)):
        yield _Branch(last.test, last.body)
    yield _Branch(None, last.orelse)


def _rates(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """What a block sets rates to, or gives back made of one."""
    for statement in body:
        if isinstance(statement, ast.Assign | ast.Return) and statement.value is not None:
            written = _names(statement.value) if isinstance(statement, ast.Return) else map(_name, statement.targets)
            if name := next(filter(_is_rate, written), ""):
                yield name, statement.value


def _is_rate(name: str) -> bool:
    words = parts(name)
    return "lr" in words or any(pair == ("learning", "rate") for pair in pairwise(words))


def _is_step(node: ast.AST) -> bool:
    return _name(node).replace("_", "").lower() in _STEPS


def _name(node: ast.AST) -> str:
    """The last name of an expression, or the key of what is set in a dictionary."""
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else ""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _names(node: ast.AST) -> Iterator[str]:
    return (name for child in ast.walk(node) if (name := _name(child)))


def _has_step(node: ast.AST) -> bool:
    return any(map(_is_step, ast.walk(node)))


def _compares(test: ast.expr) -> bool:
    """Whether a test asks how far training is: a step before or behind something."""
    return any(
        isinstance(node, ast.Compare) and all(isinstance(operator, _ORDERED) for operator in node.ops) and any(map(_is_step, _sides(node)))
        for node in ast.walk(test)
    )


def _sides(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def _is_early(test: ast.expr) -> bool:
    """Whether a test holds while a step is below something."""
    for node in (node for node in ast.walk(test) if isinstance(node, ast.Compare)):
        for left, operator, right in zip(_sides(node), node.ops, node.comparators, strict=False):
            if (isinstance(operator, ast.Lt | ast.LtE) and _is_step(left)) or (isinstance(operator, ast.Gt | ast.GtE) and _is_step(right)):
                return True
    return False


def _computed(value: ast.expr) -> bool:
    """Whether a rate depends on the step, or is reckoned from others."""
    return _has_step(value) or (isinstance(value, ast.BinOp) and any(map(_is_rate, _names(value))))


def _rises(value: ast.expr) -> bool:
    """Whether a value is a product of a share of the steps: nothing takes the step away, divides by it, or bends it."""
    if not (_has_step(value) and any(isinstance(node, ast.Div) for node in ast.walk(value)) and any(map(_is_rate, _names(value)))):
        return False
    return not any(_bends(node) for node in ast.walk(value))


def _bends(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.Pow | ast.FloorDiv | ast.Mod):
        return _has_step(node.right)
    return isinstance(node, ast.Call) and _name(node.func) not in _PLAIN and _has_step(node)


_LONGEST = 200
_CODE = 400
_LINES = 12
_CONFIG_LINES = 1_500
_OPTIONS = frozenset(("add_argument", "add_option", "option", "add_arg"))
_CONFIG_LINE = re.compile(r"\s*(?:-\s+)?[\"']?([A-Za-z_][\w./-]{0,80})[\"']?\s*[:=]\s*(\S.*?),?\s*\Z")
_FLAG = re.compile(r"(?<!\S)--([A-Za-z][\w.-]{1,60})(?:[ =]([^\s\\-][^\s\\]{0,80}))?")
_COMMENT = re.compile(r"\s+#\s.*\Z")


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
    """One fact per place and kind, and a bounded number per kind."""
    first: dict[tuple[str, int], MechanismFact] = {}
    for fact in facts:
        first.setdefault((fact.name, fact.line), fact)
    counts: Counter[str] = Counter()
    kept = []
    for fact in sorted(first.values()):
        counts[fact.name] += 1
        if counts[fact.name] <= MOST_OF_A_KIND:
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
