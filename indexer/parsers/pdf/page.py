"""Records passed between the stages of PDF parsing, so that only one stage depends on PyMuPDF."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lineage.records import Status

Box = tuple[float, float, float, float]
Range = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """A stretch of glyphs on one baseline.

    `box` is in points from the page's top left; `xs` is the left edge of every character of `text`;
    `italic`, `raised` and `bolds` are character ranges; `math` the share of characters set in a mathematical font.
    `size` and `bold` are those of most characters. `column` is -1 for a line across the page. `notes` are (mark, index) of footnote marks taken out.
    """

    page: int
    box: Box
    base: float
    text: str
    xs: tuple[float, ...]
    size: float
    bold: bool = False
    italic: tuple[Range, ...] = ()
    raised: tuple[Range, ...] = ()
    bolds: tuple[Range, ...] = ()
    math: float = 0.0
    column: int = 0
    gaps: int = 0
    notes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class PdfLink:
    """A link annotation: its rectangle, and either a `uri` or a place (`page`, `x`, `y`) with a destination's `name`."""

    page: int
    box: Box
    uri: str = ""
    name: str = ""
    to_page: int = 0
    to: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Page:
    """One page as read: `lines` in the order of the content stream. Numbers count from 1."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    links: tuple[PdfLink, ...] = ()


@dataclass(frozen=True)
class Anchor:
    """A named place inside the document (`cite.vaswani2017`), in top-left coordinates."""

    name: str
    page: int
    x: float
    y: float


@dataclass(frozen=True)
class Pages:
    """A whole file as read, with what was lost or left out on the way."""

    pages: tuple[Page, ...]
    total: int
    anchors: tuple[Anchor, ...] = ()
    title: str = ""
    repaired: bool = False
    hidden: int = 0
    invisible: int = 0
    notes: tuple[str, ...] = ()
    lost: tuple[tuple[str, Status, str], ...] = ()


def union(boxes: Iterable[Box]) -> Box:
    """The smallest box around all of `boxes` (at least one)."""
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return min(x0s), min(y0s), max(x1s), max(y1s)


def shifted(ranges: Iterable[Range], by: int) -> tuple[Range, ...]:
    """Every range moved by `by` characters."""
    return tuple((start + by, end + by) for start, end in ranges)


def without_marks(line: Line, marks: frozenset[str]) -> Line:
    """The line less the raised marks of footnotes, whose places are kept in `notes`."""
    runs = [run for run in runs_of(line.raised) if _is_mark(line.text[slice(*run)], marks)]
    if not runs:
        return line
    gone = {n for start, end in runs for n in range(start, end) if not line.text[n].isspace()}
    kept_positions = [n for n in range(len(line.text)) if n not in gone]
    moved = [sum(k < n for k in kept_positions) for n in range(len(line.text) + 1)] if len(line.text) < 2_000 else list(range(len(line.text) + 1))
    placed_marks = [(mark, moved[start]) for start, end in runs for mark in _marks(line.text[start:end])]
    return replace(
        line,
        text="".join(line.text[n] for n in kept_positions),
        xs=tuple(line.xs[n] for n in kept_positions),
        italic=tuple((moved[a], moved[b]) for a, b in line.italic),
        bolds=tuple((moved[a], moved[b]) for a, b in line.bolds),
        raised=tuple((moved[a], moved[b]) for a, b in line.raised if (a, b) not in runs and moved[a] < moved[b]),
        notes=tuple(placed_marks),
    )


def runs_of(ranges: Iterable[Range]) -> list[Range]:
    """Touching ranges as one."""
    runs: list[Range] = []
    for start, end in sorted(ranges):
        if runs and start <= runs[-1][1]:
            runs[-1] = runs[-1][0], max(end, runs[-1][1])
        else:
            runs.append((start, end))
    return runs


def _marks(text: str) -> list[str]:
    return re.findall(r"\d{1,3}|[*∗†‡§¶]", text)


def _is_mark(text: str, marks: frozenset[str]) -> bool:
    mark_texts = _marks(text)
    return bool(mark_texts) and set(mark_texts) <= marks and not re.sub(r"\d{1,3}|[*∗†‡§¶,\s]", "", text)


def joined(parts: Sequence[Line]) -> Line:
    """One line out of pieces of one row, left to right; a gap becomes a space, and `gaps` counts the wide ones."""
    first = parts[0]
    for part in parts[1:]:
        first = _pair(first, part)
    return first


def _pair(line: Line, two: Line) -> Line:
    gap = two.box[0] - line.box[2]
    apart = gap > 0.12 * min(line.size, two.size) and not line.text.endswith(" ") and not two.text.startswith(" ")
    text = line.text + (" " if apart else "") + two.text
    by = len(text) - len(two.text)
    major = line if len(line.text) >= len(two.text) else two
    lifted: tuple[Range, ...] = ()
    if two.size < 0.85 * line.size and two.base < line.base - 0.15 * line.size:
        lifted = ((by, len(text)),)
    elif line.size < 0.85 * two.size and line.base < two.base - 0.15 * two.size and not line.raised:
        lifted = ((0, len(line.text)),)
    return replace(
        major,
        box=union((line.box, two.box)),
        text=text,
        xs=line.xs + ((line.box[2],) if apart else ()) + two.xs,
        italic=line.italic + shifted(two.italic, by),
        raised=line.raised + shifted(two.raised, by) + lifted,
        bolds=line.bolds + shifted(two.bolds, by),
        bold=line.bold and two.bold,
        math=(line.math * len(line.text) + two.math * len(two.text)) / max(1, len(line.text) + len(two.text)),
        gaps=line.gaps + two.gaps + (gap > 1.2 * major.size),
    )
