"""Glyph lines of a page to rows in reading order: one or two columns, running heads and page numbers taken out.

The content stream of most papers is nearly in reading order, but figures, tables and headings break it, and word
processors and scanners do not keep it at all; so the order is made from the geometry alone. MuPDF's layout model
was measured (0.4 s a page, 465 MB) and is not used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from indexer.parsers.pdf.page import Line, Page, joined

_NUMBER = re.compile(r"(page\s*)?[-–—|\s]*(\d{1,5}|[ivxlc]{1,6})[-–—|\s]*((of|/)\s*\d{1,5})?\Z", re.IGNORECASE)
_HEAD_NUMBER = re.compile(r"\s*(\d{1,4})(?:\s+\D{3,100}\Z|\s*\Z)|\D{3,100}\s(\d{1,4})\s*\Z")
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_LINE_NUMBER = re.compile(r"\d{1,4}\Z")
_STAMP = re.compile(r"arXiv:\S{4,20}v\d+\s+\[|arXiv:\S{4,20}\s+\[[a-z-]+\.")


@dataclass(frozen=True)
class Sheet:
    """The rows of a page in reading order, without running heads and numbers."""

    height: float
    rows: tuple[Line, ...]


def sheets(pages: Sequence[Page]) -> tuple[Sheet, ...]:
    """Every page in reading order."""
    repeated = _repeated(pages) | _numbered_heads(pages)
    gutters = sorted(gutter / page.width for page in pages if (gutter := find_gutter(page.lines, page.width)))
    usual = gutters[len(gutters) // 2] if len(gutters) >= 2 else None
    return tuple(_sheet(page, repeated, usual) for page in pages)


def _sheet(page: Page, repeated: frozenset[tuple[str, int]], usual: float | None) -> Sheet:
    margin = _margin_numbers(page)
    out = {id(line) for line in page.lines if _key(line) in repeated or id(line) in margin or _STAMP.match(line.text)}
    body_lines = [line for line in page.lines if id(line) not in out]
    numbers = {id(line) for line in _page_numbers(body_lines, page.height)}
    rows = tuple(in_order([line for line in body_lines if id(line) not in numbers], page.width, usual))
    return Sheet(page.height, rows)


def _key(line: Line) -> tuple[str, int]:
    return _DIGITS.sub("#", line.text.strip().lower()), round(line.base / 4)


def _repeated(pages: Sequence[Page]) -> frozenset[tuple[str, int]]:
    """Texts that stand at the same height in the head or foot of several pages."""
    seen: Counter[tuple[str, int]] = Counter()
    for page in pages:
        edge = [line for line in page.lines if line.base < 0.11 * page.height or line.base > 0.9 * page.height]
        seen.update({_key(line) for line in edge})
    need = 2 if len(pages) <= 4 else 3
    return frozenset(key for key, count in seen.items() if count >= need)


def _numbered_heads(pages: Sequence[Page]) -> frozenset[tuple[str, int]]:
    """Texts beside a page number in the head of a page ("2 ANN AUTHOR"): numbers that count along with the pages."""
    seen: list[tuple[int, Page, Line]] = []
    for page in pages:
        for line in page.lines:
            number = _HEAD_NUMBER.match(line.text) if line.base < 0.14 * page.height else None
            if number:
                seen.append((int(number[1] or number[2]) - page.number, page, line))
    counts = Counter(offset for offset, page in {(offset, page.number) for offset, page, _ in seen})
    steady = {offset for offset, count in counts.items() if count >= 2}
    heads: set[tuple[str, int]] = set()
    for offset, page, line in seen:
        row = [other for other in page.lines if abs(other.base - line.base) < 3]
        below = min((other.base - line.base for other in page.lines if other.base - line.base >= 3), default=0.0)
        if offset in steady and below > 1.5 * line.size and not any(other.base < line.base - 3 for other in page.lines):
            heads.update(_key(other) for other in row)
    return frozenset(heads)


def _page_numbers(lines: Sequence[Line], height: float) -> Iterator[Line]:
    """Numbers that stand alone in the outermost row of a page, near its edge or well apart from the text."""
    if not lines:
        return
    for edge in (min(line.base for line in lines), max(line.base for line in lines)):
        row = [line for line in lines if abs(line.base - edge) < 3]
        others = [abs(line.base - edge) for line in lines if abs(line.base - edge) >= 3]
        apart = min(others, default=0.0) > 1.8 * row[0].size
        near = 0.12 if not apart else 0.2
        outer = edge < near * height or edge > (1 - near) * height
        if outer and all(_NUMBER.match(line.text.strip()) for line in row):
            yield from row


def _margin_numbers(page: Page) -> set[int]:
    """The line numbers of a review copy: many bare numbers in one narrow strip at the side of the text."""
    bare = [line for line in page.lines if _LINE_NUMBER.match(line.text.strip())]
    strips: dict[int, list[Line]] = {}
    for line in bare:
        strips.setdefault(round(line.box[2] / 6), []).append(line)
    margin_rows: set[int] = set()
    for strip in strips.values():
        outside = all(line.box[2] < 0.14 * page.width or line.box[0] > 0.86 * page.width for line in strip)
        if len(strip) >= 20 and outside:
            margin_rows.update(id(line) for line in strip)
    return margin_rows


def in_order(lines: Sequence[Line], width: float, usual: float | None = None) -> Iterator[Line]:
    """Rows in reading order: bands between lines that cross the gutter, and in each band the left column first.

    `usual` is where the document's other pages have their gutter, as a share of the width: a figure with columns of
    its own must not move it.
    """
    gutter = find_gutter(lines, width)
    if gutter is not None and usual is not None and abs(gutter - usual * width) > 0.03 * width and _parts(lines, usual * width, width):
        gutter = usual * width
    if gutter is None and usual is not None and not any(_crosses(line, usual * width) for line in lines):
        gutter = usual * width  # a last page with little in its second column
    if gutter is None:
        yield from rows(lines)
        return
    for band in _bands(lines, gutter):
        left = [line for line in band if (line.box[0] + line.box[2]) / 2 < gutter]
        right = [line for line in band if (line.box[0] + line.box[2]) / 2 >= gutter]
        if _crosses(band[0], gutter) or not _is_prose(left, right, gutter, lines):
            yield from (replace(row, column=-1) for row in rows(band))
        else:
            yield from rows(left)
            yield from (replace(row, column=1) for row in rows(right))


def find_gutter(lines: Sequence[Line], width: float) -> float | None:
    """Where two columns of prose part, or None: the middle of the emptiest strip with rows of text on both its sides."""
    if len(lines) < 8:
        return None
    wide = [line for line in lines if line.box[2] - line.box[0] > 0.12 * width]
    best: tuple[float, int] | None = None
    for step in range(60):
        x = width * (0.38 + 0.24 * step / 60)
        crossing = sum(line.box[0] < x - 1 and line.box[2] > x + 1 for line in wide)
        if best is None or crossing < best[1]:
            best = (x, crossing)
    assert best is not None  # noqa: S101 - sixty steps were made
    near = [x for x, crossing in _profile(wide, width) if crossing <= best[1]]
    gutter = _clearest(_run(near, best[0]), lines)
    return gutter if _parts(lines, gutter, width) else None


def _parts(lines: Sequence[Line], gutter: float, width: float) -> bool:
    """Whether rows of text end before a gutter and begin after it, side by side, and not too many cross it."""
    wide = [line for line in lines if line.box[2] - line.box[0] > 0.12 * width]
    crossing = sum(line.box[0] < gutter - 1 and line.box[2] > gutter + 1 for line in wide)
    left = [line for line in wide if line.box[2] <= gutter + 2 and line.box[2] > gutter - 0.25 * width]
    right = [line for line in wide if line.box[0] >= gutter - 2 and line.box[0] < gutter + 0.12 * width]
    return min(len(left), len(right)) >= 4 and crossing <= 1.2 * (len(left) + len(right)) and _pairs(left, right) >= 4


def _profile(lines: Sequence[Line], width: float) -> list[tuple[float, int]]:
    steps = [width * (0.38 + 0.24 * step / 120) for step in range(121)]
    return [(x, sum(line.box[0] < x - 1 and line.box[2] > x + 1 for line in lines)) for x in steps]


def _run(near: Sequence[float], start: float) -> list[float]:
    """The run of neighboring positions that holds `start`, in order."""
    run = [start]
    for x in near:
        if min(abs(x - run_x) for run_x in run) < 4:
            run.append(x)
    return sorted(run)


def _clearest(run: Sequence[float], lines: Sequence[Line]) -> float:
    """The middle of the first stretch that fewest lines cover: the labels of a list hang at the left edge of its column."""
    short = [line for line in lines if line.box[2] > run[0] and line.box[0] < run[-1]]
    covered = [sum(line.box[0] < x < line.box[2] for line in short) for x in run]
    most = min(covered) + len(lines) // 60  # a figure may lie anywhere
    stretches = [list(group) for free, group in groupby(range(len(run)), key=lambda n: covered[n] <= most) if free]
    widths = [run[stretch[-1]] - run[stretch[0]] for stretch in stretches]
    first = next(stretch for stretch, width in zip(stretches, widths, strict=True) if width >= min(4.0, max(widths)))
    return (run[first[0]] + run[first[-1]]) / 2


def _pairs(left: Sequence[Line], right: Sequence[Line]) -> int:
    """How many lines on the left have a neighbour on the right at about the same height."""
    bases = sorted(line.base for line in right)
    return sum(any(abs(line.base - base) < line.size for base in bases) for line in left)


def _crosses(line: Line, gutter: float) -> bool:
    return line.box[0] < gutter - 8 and line.box[2] > gutter + 8


def _bands(lines: Sequence[Line], gutter: float) -> Iterator[list[Line]]:
    """Runs of lines from top to bottom, parted where lines that cross the gutter begin or end."""
    band: list[Line] = []
    across = False
    floor = 0.0
    for line in sorted(lines, key=lambda line: line.base):
        crosses = _crosses(line, gutter)
        same_row = across and line.base - floor < 0.4 * line.size
        if band and crosses != across and not (same_row and not crosses):
            yield band
            band = []
        if crosses or not band:
            across = crosses
        if crosses:
            floor = line.base
        band.append(line)
    if band:
        yield band


def _is_prose(left: Sequence[Line], right: Sequence[Line], gutter: float, lines: Sequence[Line]) -> bool:
    """Whether a band without crossing lines is two columns, rather than the rows of a table across the page."""
    if not left or not right:
        return True
    start = min(line.box[0] for line in lines)
    end = max(line.box[2] for line in lines)
    full = sum(line.box[2] - line.box[0] > 0.6 * (gutter - start) for line in rows(left))
    full += sum(line.box[2] - line.box[0] > 0.6 * (end - gutter) for line in rows(right))
    return full >= 0.3 * (len(list(rows(left))) + len(list(rows(right)))) or full >= 8


def rows(lines: Iterable[Line]) -> Iterator[Line]:
    """Pieces on one baseline joined from left to right, rows from top to bottom."""
    open_rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.base, line.box[0])):
        home = next((row for row in reversed(open_rows[-4:]) if _one_row(row, line)), None)
        if home is None:
            open_rows.append([line])
        else:
            home.append(line)
    merged = [joined(sorted(row, key=lambda line: line.box[0])) for row in open_rows]
    yield from sorted(merged, key=lambda line: line.base)


def _one_row(row: Sequence[Line], line: Line) -> bool:
    """Whether `line` continues a row: its band overlaps by half, and it lies beside every piece."""
    main = max(row, key=lambda piece: piece.size)
    top, bottom = max(main.box[1], line.box[1]), min(main.box[3], line.box[3])
    if bottom - top < 0.5 * min(main.box[3] - main.box[1], line.box[3] - line.box[1]):
        return False
    if abs(main.base - line.base) > 0.55 * max(main.size, line.size):
        return False
    slack = 1.5 * line.size  # a hat or a limit over the next letter
    return all(line.box[0] >= piece.box[2] - slack or line.box[2] <= piece.box[0] + slack for piece in row)


def body_size(pages: Sequence[Sheet]) -> float:
    """The type size of most characters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for row in page.rows:
            sizes[round(row.size * 2) / 2] += len(row.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def leading(pages: Sequence[Sheet], size: float) -> float:
    """The usual distance of two baselines of body text."""
    steps: Counter[float] = Counter()
    for page in pages:
        for line, two in pairwise(page.rows):
            step = two.base - line.base
            if abs(line.size - size) < 0.6 and abs(two.size - size) < 0.6 and 0.8 * size < step < 2.5 * size:
                steps[round(step * 2) / 2] += 1
    return steps.most_common(1)[0][0] if steps else 1.2 * size
