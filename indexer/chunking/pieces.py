"""Intermediate pieces of a document: cut what is too long, and tables between their rows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from indexer.parsers.plain import is_rule
from lineage.records import Span

MAX_LINES = 60
MAX_CHARS = 2_400
"""What a hit may show (CONTRACTS: a hit)."""

_SENTENCE = re.compile(r"[.!?;]\s|\n")


@dataclass(frozen=True)
class Piece:
    """Characters [start, end) that stay together; `spans` are what they belong to, the outermost unit first."""

    start: int
    end: int
    spans: tuple[Span, ...] = ()
    loose: bool = False


class SourceText:
    """A document's text with its lines (from 0) found in logarithmic time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        for line in text.split("\n")[:-1]:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def line(self, offset: int) -> int:
        """The line that holds an offset."""
        return bisect_right(self.starts, offset) - 1

    def end(self, line: int) -> int:
        """Where a line ends, its newline left out."""
        return self.starts[line + 1] - 1 if line + 1 < len(self.starts) else len(self.text)

    def row(self, line: int) -> str:
        """A line as it stands."""
        return self.text[self.starts[line] : self.end(line)]

    def lines(self, piece: Piece) -> int:
        """How many lines a piece touches."""
        return self.line(max(piece.start, piece.end - 1)) - self.line(piece.start) + 1

    def blank(self, start: int, end: int) -> bool:
        """Whether nothing but white space lies in [start, end)."""
        return not self.text[start:end].strip()

    def trimmed(self, piece: Piece) -> Piece:
        """The piece without blank lines around it, the indentation of its first line kept."""
        start, end = piece.start, piece.end
        body = self.text[start:end]
        lead = len(body) - len(body.lstrip())
        first = body.rfind("\n", 0, lead) + 1
        return replace(piece, start=start + first, end=start + len(body.rstrip()))

    def fits(self, piece: Piece, lines: int = MAX_LINES, chars: int = MAX_CHARS) -> bool:
        """Whether a piece is small enough to be shown."""
        return piece.end - piece.start <= chars and self.lines(piece) <= lines


def cut(text: SourceText, piece: Piece, lines: int = MAX_LINES, chars: int = MAX_CHARS) -> Iterator[Piece]:
    """A piece in parts of at most `lines` and `chars`, of about one size, cut at blank or little indented lines."""
    if text.fits(piece, lines, chars):
        yield piece
        return
    first, last = text.line(piece.start), text.line(piece.end - 1)
    if first == last:
        yield from _cut_line(text, piece, chars)
        return
    border = _border(text, piece, first, last)
    yield from cut(text, replace(piece, end=text.end(border - 1)), lines, chars)
    yield from cut(text, replace(piece, start=text.starts[border]), lines, chars)


def _border(text: SourceText, piece: Piece, first: int, last: int) -> int:
    """The line in the middle third (by characters) before which to cut: after a blank line, else the least indented."""
    size = piece.end - piece.start
    low = max(first + 1, text.line(piece.start + size // 3))
    high = min(last, max(low, text.line(piece.start + 2 * size // 3)))
    middle = text.line(piece.start + size // 2)
    return min(range(low, high + 1), key=lambda line: (_roughness(text, line), abs(line - middle)))


def _roughness(text: SourceText, line: int) -> tuple[bool, int]:
    content = text.text[text.starts[line] : min(text.end(line), text.starts[line] + 200)]
    indent = len(content) - len(content.lstrip())
    closes = content.lstrip()[:1] in ")]}"
    return closes or not content.strip(), indent - (4 if text.blank(text.starts[line - 1], text.end(line - 1)) else 0)


def _cut_line(text: SourceText, piece: Piece, chars: int) -> Iterator[Piece]:
    """One overlong line, cut after a sentence or a space where there is one in the last third."""
    start = piece.start
    while piece.end - start > chars:
        window = text.text[start : start + chars]
        sentences = [match.end() for match in _SENTENCE.finditer(window, 2 * chars // 3)]
        end = start + (sentences[-1] if sentences else (window.rfind(" ", 2 * chars // 3) + 1 or chars))
        yield replace(piece, start=start, end=end)
        start = end
    if start < piece.end:
        yield replace(piece, start=start)


def packed(text: SourceText, pieces: Iterable[Piece], lines: int, chars: int) -> Iterator[Piece]:
    """Neighbouring pieces joined into parts of at most `lines` and `chars`, and of about one size."""
    waiting = [part for piece in pieces for part in cut(text, piece)]
    at = 0
    while at < len(waiting):
        whole = Piece(waiting[at].start, waiting[-1].end)
        parts = max(-(-text.lines(whole) // lines), -(-(whole.end - whole.start) // chars))
        goal = (whole.end - whole.start) / parts
        end = at + 1
        while end < len(waiting) and _better(text, waiting[at].start, waiting[end - 1].end, waiting[end].end, goal, lines, chars):
            end += 1
        yield joined(waiting[at:end])
        at = end


def _better(text: SourceText, start: int, now: int, then: int, goal: float, lines: int, chars: int) -> bool:
    """Whether a part from `start` comes nearer to its goal by ending at `then` rather than `now`."""
    return text.fits(Piece(start, then), lines, chars) and abs(then - start - goal) <= abs(now - start - goal)


def joined(pieces: list[Piece]) -> Piece:
    """One piece from the first to the last."""
    spans = {id(span): span for piece in pieces for span in piece.spans}
    return Piece(pieces[0].start, pieces[-1].end, tuple(spans.values()), pieces[0].loose)


MOST_CHARS = 700
"""Of a table's rows in one chunk: about what an embedder of 256 tokens reads beside title, caption and column heads."""

HEAD = 200
CAPTION = 160
FAR = 100
"""Rows above a part among which its group's name is looked for."""

ANY_LENGTH = 1_000_000
_NUMBER = re.compile(r"[$(~+-]*\d")


def table_parts(text: SourceText, piece: Piece) -> Iterator[Piece]:
    """A table by its rows in parts of about one size, its caption with the rows beside it; anything else is cut as prose."""
    table = next((span for span in piece.spans if span.role == "table"), None)
    if table is None or table.end - table.start <= MOST_CHARS:
        yield from cut(text, piece, ANY_LENGTH)
        return
    lines = range(text.line(table.start), text.line(table.end - 1) + 1)
    each = (Piece(max(table.start, text.starts[line]), min(table.end, text.end(line)), piece.spans) for line in lines)
    pieces = list(packed(text, (row for row in each if row.end > row.start), ANY_LENGTH, MOST_CHARS))
    pieces[0], pieces[-1] = replace(pieces[0], start=piece.start), replace(pieces[-1], end=piece.end)
    for part in pieces:
        yield from cut(text, part, ANY_LENGTH)


def table_head(text: SourceText, piece: Piece) -> str:
    """What a part of a table needs to be read: its caption, column heads and group of rows, those that stand in another part.

    In a repository the span's own header says what the table is, so that a caption is only what was marked as one.
    """
    table = next((span for span in piece.spans if span.role == "table"), None)
    if table is None:
        return ""
    own = [text.text[span.start : span.end] for span in piece.spans if span.role == "caption"]
    captions = dict.fromkeys([*own, table.header] if table.label else own)
    short_captions = [_short(caption, CAPTION) for caption in captions if caption not in text.text[piece.start : piece.end]]
    if table.start < piece.start:
        short_captions += [_short(row, HEAD) for row in _column_names(text, table.start, piece.start)]
        short_captions.append(_group(text, table.start, piece.start))
    return " · ".join(part for part in short_captions if part)


def _column_names(text: SourceText, start: int, end: int) -> Iterator[str]:
    """The first row of the table, and up to two more while heads go on: below an empty or shared cell, without a number."""
    at = text.line(start)
    rows = [text.row(line) for line in range(at, min(at + 3, text.line(end)))]
    yield from rows[:1]
    for above, row in pairwise(rows):
        if is_rule(row) or "" not in _cells(above) or any(_NUMBER.match(cell) for cell in _cells(row)):
            return
        yield row


def _group(text: SourceText, start: int, at: int) -> str:
    """The first cell above that is not empty, where the part begins with a row that has none of its own."""
    line, first = text.line(at), text.line(start)
    skip = 1 if first + 1 < len(text.starts) and is_rule(text.row(first + 1)) else 0  # rows of Markdown begin with a bar
    cells = (_cells(text.row(number))[skip : skip + 1] for number in range(line, max(first + skip, line - FAR), -1))
    group = next((row_cells for row_cells in cells if row_cells != [""]), [""])
    own = _cells(text.row(line))[skip : skip + 1]
    return "".join(group)[:80] if own == [""] else ""


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")]


def _short(words: str, most: int) -> str:
    return " ".join(words[:most].split())
