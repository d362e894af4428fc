"""Pieces of a document on their way to chunks, and the cutting of what is too long."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

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
