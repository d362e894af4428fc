"""Units of a source file, and their spans in characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lineage.records import Span
from lineage.text.hidden_text import shortened


class LineIndex:
    """Where each line of a text begins. Lines are counted from 1."""

    def __init__(self, text: str) -> None:
        self.size = len(text)
        self.starts = [0]
        for line in text.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def extent(self, first: int, last: int) -> tuple[int, int]:
        """Offsets of lines first..last, the newline after the last one left out."""
        count = len(self.starts) - 1
        first, last = min(max(first, 1), count), min(max(last, 1), count)
        return self.starts[first - 1], max(self.starts[first - 1], self.starts[last] - 1)


def spans(units: Iterable[CodeUnit], lines: LineIndex, context: tuple[str, ...]) -> tuple[Span, ...]:
    """Spans of the units and all their parts, in the order (start, -end).

    `context` is what stands before a unit's own header: the file's path, then the headers of enclosing classes.
    """
    return tuple(sorted(_walk(units, lines, context, ()), key=lambda span: (span.start, -span.end)))


def _walk(units: Iterable[CodeUnit], lines: LineIndex, context: tuple[str, ...], path: tuple[str, ...]) -> Iterator[Span]:
    for unit in units:
        start, end = lines.extent(unit.first, unit.last)
        inner = (*path, unit.name) if unit.name else path
        around = (*context, unit.header) if unit.header else context
        yield Span(start, end, unit.role, inner, header="" if unit.role == "block" else " · ".join(around))
        yield from _walk(unit.parts, lines, around, inner)


def labelled(unlabelled: tuple[Span, ...], label: str) -> tuple[Span, ...]:
    """The same spans with a label, such as the number of a notebook's cell."""
    return tuple(replace(span, label=label) for span in unlabelled)


LONG = 40
"""Lines from which a unit also lists its statements, so that it can be cut between them."""

_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|%|;)")
_MARKERS = re.compile(r"^\s*(?:#+!?|//+!?|/\*+!?|\*+/?|--+|%+)\s*")


@dataclass(frozen=True)
class CodeUnit:
    """Lines first..last (from 1, both included) that belong together.

    `role` as in `lineage.records.Span`, with `block` for a statement within a long unit; `name` is the last part of the
    qualified name; `header` the signature and first line of documentation; `parts` lie inside, in order.
    """

    first: int
    last: int
    role: str
    name: str = ""
    header: str = ""
    parts: tuple[CodeUnit, ...] = ()


def leading(lines: list[str], first: int, floor: int) -> int:
    """The line from which comments lead up to line `first` without a gap, not reaching `floor` or above it."""
    while first - 1 > floor and _COMMENT.match(lines[first - 2]):
        first -= 1
    return first


def comment_text(lines: list[str], first: int, last: int) -> str:
    """The first words of the comment in lines first..last, without its markers; empty if there are none."""
    for line in lines[first - 1 : last]:
        words = _MARKERS.sub("", line).strip(" */-=#\t")
        if len(words) > 2:
            return words[:160]
    return ""


def one_line(text: str, most: int = 200) -> str:
    """`text` on one line, at most `most` characters."""
    return shortened(" ".join(text[: 4 * most].split()), most)
