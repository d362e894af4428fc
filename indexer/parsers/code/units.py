"""Units of a source file, in lines, and what every language shares in finding them."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else text[: most - 1] + "…"
