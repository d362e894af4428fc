"""Learning rates that branches on the step compute (pure): `elif step < 3000: lr = base * step / 3000` is a schedule, and its warm-up.

Nothing there need be called a schedule or a warm-up; the form says it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from lineage.text.tokens import parts

SCHEDULE, WARMUP = "lr_schedule", "warmup_and_floor"
_STEPS = frozenset(
    (
        "step",
        "steps",
        "globalstep",
        "currentstep",
        "curstep",
        "nstep",
        "it",
        "iter",
        "iters",
        "niter",
        "curiter",
        "iteration",
        "itr",
        "epoch",
        "epochs",
    )
)
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
    found = []
    while len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        statement = statement.orelse[0]
        found.append(statement)
    return found


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
