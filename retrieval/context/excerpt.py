"""Shorten a long function at its statements (pure): keep what answers, count what is left out.

Long functions are where a paper's method is wired together (`main`, `train`, `run_loop`), and to drop them for their
length is to drop what was asked for. A statement stays with the heads of all that it stands in; for what goes, a comment says
how many lines and which, counted in the source file.
"""

from __future__ import annotations

import ast
import math
import re
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lineage.text.syntax import UNREADABLE, module
from lineage.text.tokens import tokens

_BLANK = re.compile(r"\s*(?:#.*)?\Z")
_SURPLUS = 1.3
"""Statements are chosen by the tokens of their lines, for more than the room, because lines together cost less; then counted as shown."""
_AGAIN = 0.3
"""What a word is worth that is in what was kept already."""
_LOOPED = 2.0
"""What is done in a loop is worth so much of what prepares it or follows it."""
_DECIDES = 3
"""What a statement that settles something is worth besides its words, in the weightiest of words."""
_THRIFT = 0.75
"""How far the length of a statement counts: a call of twenty arguments says much, `optimizer.step()` all."""
_TELLS = frozenset(tokens("print log logger logging wandb warn warnings tqdm pbar writer info debug"))
_FEWEST = 3
"""Statements that must stay for what is left to be worth showing."""


@dataclass(frozen=True)
class Simple:
    """A simple statement: its `lines` (from 0, comments above included), the `heads` of all that it stands in, the `names` in it.

    `loops`: it is done again and again. `decides`: it settles what the target leaves open.
    """

    lines: tuple[int, ...]
    heads: tuple[int, ...]
    names: frozenset[str]
    loops: bool = False
    decides: bool = False

    def without(self, first: int) -> Simple:
        """The same where the first lines are not counted."""
        return replace(self, lines=tuple(at - first for at in self.lines), heads=tuple(at - first for at in self.heads if at >= first))


def cut(
    text: str, first_line: int, worth: Mapping[str, float], cost: Callable[[str], int], room: int, deciding: Collection[int] = frozenset()
) -> str:
    """`text` (Python, whose first line is `first_line` of its file) in at most `room` tokens; empty where it cannot be cut to that.

    `worth` says of a word what it is worth to keep a statement that says it; one on a line (of the file) that is `deciding` says the
    weightiest word besides.
    """
    lines = text.split("\n")
    decided = {at for at in range(len(lines)) if first_line + at in deciding}
    candidates = [replace(statement, decides=not decided.isdisjoint(statement.lines)) for statement in statements(lines)]
    chosen = _chosen(candidates, _Costs.of(lines, cost), worth, int(_SURPLUS * room))

    def made(count: int) -> str:
        return _shown(lines, {line for statement in chosen[:count] for line in (*statement.lines, *statement.heads)}, first_line)

    fitting = bisect(range(len(chosen) + 1), False, key=lambda count: cost(made(count)) > room) - 1
    return made(fitting) if fitting >= _FEWEST else ""


def statements(lines: Sequence[str]) -> list[Simple]:
    """The simple statements of a Python source, in order; none of what is not Python, or has lines that end in other ways."""
    outer = [f"{indent}if 1:" for indent in _outer(lines)]
    source = [*outer, *lines]
    try:
        body = module("\n".join(source)).body if not any("\r" in line for line in lines) else []
        return [statement.without(len(outer)) for statement in _within(body, 0, (), source, loops=False)]
    except UNREADABLE:
        return []


def _outer(lines: Sequence[str]) -> list[str]:
    """The indentations of the blocks that a source begins within, outermost first: a part of a long function begins anywhere."""
    shown_lines: list[str] = []
    least: str | None = None
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        if not _BLANK.match(line) and (least is None or len(indent) < len(least)):
            shown_lines, least = shown_lines if least is None else [indent, *shown_lines], indent
    return ["", *shown_lines] if least else shown_lines


def _within(body: Sequence[ast.AST], start: int, heads: tuple[int, ...], lines: Sequence[str], *, loops: bool) -> Iterable[Simple]:
    """The statements of a block that begins at line `start`."""
    for node in body:
        first, last = _first(node), getattr(node, "end_lineno", start)
        above = next((at for at in range(start, first) if lines[at].strip()), first)
        blocks = [block for block in _blocks(node) if _first(block[0]) > first]
        if blocks:
            yield from _compound(blocks, first, heads, lines, loops=loops or isinstance(node, _LOOPS))
        else:
            yield Simple(tuple(range(above, last)), heads, _said(node), loops)
        start = last


def _said(node: ast.AST) -> frozenset[str]:
    """The names in a statement: what it does; of what only tells a person or a log how it goes, nothing."""
    if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or _TELLS & _names(getattr(node.value, "func", node))):
        return frozenset()
    return _names(node)


def _names(node: ast.AST) -> frozenset[str]:
    names = (getattr(child, name, None) for child in ast.walk(node) for name in ("id", "attr", "arg", "name"))
    return frozenset(tokens(" ".join(name for name in names if isinstance(name, str))))


_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def _compound(blocks: Sequence[Sequence[ast.AST]], start: int, heads: tuple[int, ...], lines: Sequence[str], *, loops: bool) -> Iterable[Simple]:
    """The statements of a compound one: each block's heads are its own line (`else:`) and the first one's."""
    first: tuple[int, ...] = ()
    for block in blocks:
        begins = _first(block[0])
        ends = next((at + 1 for at in range(begins - 1, start - 1, -1) if not _BLANK.match(lines[at])), start)
        head = tuple(range(start, ends))
        first = first or head
        yield from _within(block, ends, (*heads, *dict.fromkeys((*first, *head))), lines, loops=loops)
        start = getattr(block[-1], "end_lineno", begins)


def _first(node: ast.AST) -> int:
    """The first line of a statement, from 0, its decorators included."""
    decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    patterns = getattr(node, "pattern", None)
    return int(min([getattr(patterns or node, "lineno", 1), *decorators])) - 1


def _blocks(node: ast.AST) -> list[Sequence[ast.AST]]:
    """The blocks of a compound statement, in order: bodies, handlers' bodies, cases' bodies, what else and at last is done."""
    blocks = [getattr(node, "body", None)]
    blocks += [clause.body for name in ("handlers", "cases") for clause in getattr(node, name, ())]
    blocks += [getattr(node, name, None) for name in ("orelse", "finalbody")]
    return [block for block in blocks if isinstance(block, list) and block]


@dataclass(frozen=True)
class _Costs:
    """Tokens of each line, and of a mark in its place: there are tokenizers to which every space of an indentation is one."""

    lines: Sequence[int]
    marks: Sequence[int]

    @classmethod
    def of(cls, lines: Sequence[str], cost: Callable[[str], int]) -> _Costs:
        """By a function that counts."""
        indents = [line[: len(line) - len(line.lstrip())] for line in lines]
        marks = {indent: cost(f"{indent}# … 999 lines (L999-L999)\n") for indent in set(indents)}
        return cls([cost(line + "\n") for line in lines], [marks[indent] for indent in indents])

    def price(self, statement: Simple, kept: set[int]) -> int:
        """What a statement adds to the lines that are kept; one that stands apart, another mark too."""
        beside = statement.lines[0] - 1 in kept or statement.lines[-1] + 1 in kept
        return sum(self.lines[line] for line in {*statement.lines, *statement.heads} - kept) + (0 if beside else self.marks[statement.lines[-1]])


def _chosen(statements: Sequence[Simple], costs: _Costs, worth: Mapping[str, float], room: int) -> list[Simple]:
    """The statements that say most for their tokens, as many as fit, best first."""
    kept: set[int] = set()
    covered: set[str] = set()
    chosen: list[Simple] = []
    weightiest = max(worth.values(), default=0.0)
    waiting = [replace(statement, names=statement.names.intersection(worth)) for statement in statements]

    def gain(statement: Simple, price: int) -> float:
        word_weight = sum(worth[word] * (_AGAIN if word in covered else 1.0) for word in statement.names) + weightiest * _DECIDES * statement.decides
        return word_weight * (_LOOPED if statement.loops else 1.0) / math.pow(price or 1, _THRIFT)

    while priced := [(candidate, price) for candidate in waiting if (price := costs.price(candidate, kept)) <= room]:
        best, price = max(priced, key=lambda pair: gain(*pair))
        room -= price
        waiting = [candidate for candidate, _ in priced if candidate is not best]
        chosen.append(best)
        kept.update(best.lines, best.heads)
        covered |= best.names
    return chosen


def _shown(lines: Sequence[str], kept: set[int], first_line: int) -> str:
    """The lines kept; every other run of lines is one comment, or stays where it is no longer than that."""
    shown: list[str] = []
    at = 0
    while at < len(lines):
        end = next((n for n in range(at, len(lines)) if n in kept), len(lines))
        gone = [line for line in lines[at:end] if line.strip()]
        if len(gone) > 1:
            indent = gone[0][: len(gone[0]) - len(gone[0].lstrip())]
            shown.append(f"{indent}# … {end - at} lines (L{first_line + at}-L{first_line + end - 1})")
        else:
            shown += lines[at:end]
        if end < len(lines):
            shown.append(lines[end])
        at = end + 1
    return "\n".join(shown)
