"""Chunks of a paper: paragraphs of one section together; tables, captions, algorithms and footnotes on their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from indexer.chunking.pieces import ANY_LENGTH, MAX_CHARS, Piece, SourceText, cut, joined, table_parts
from lineage.records import Document, Span

LEAST_WORDS = 150
MOST_WORDS = 350
ALONE = {"table", "caption", "algorithm", "footnote", "abstract"}
ASIDE = 200
"""Characters below which a footnote is no chunk of its own but stays with the text around it."""

_FRAMES = {"table", "algorithm"}


def pieces(document: Document, text: SourceText) -> Iterator[Piece]:
    """Every word of the paper in at least one piece, in the order of the text."""
    leaves = _united(text, list(_filled(text, _leaves(document), document)))
    for alone, group in groupby(leaves, key=lambda piece: not piece.loose):
        for section in _by_section(list(group)):
            for piece in section if alone else _paragraphs(text, section):
                yield from table_parts(text, piece) if alone else cut(text, piece, ANY_LENGTH)


def _leaves(document: Document) -> list[Piece]:
    """Paragraphs and their like in order; what stands alone inside one is taken as well."""
    leaf_spans: list[Piece] = []
    reached, frame = 0, 0
    for span in document.spans:
        if span.role in {"section", "heading"} or span.end <= span.start:
            continue
        alone = span.role in ALONE
        if alone and span.end > frame:
            aside = span.role == "footnote" and span.end - span.start < ASIDE
            if aside and span.end <= reached:
                continue
            leaf_spans.append(Piece(span.start, span.end, (span,), loose=aside))
            frame = span.end if span.role in _FRAMES else frame
            reached = max(reached, span.end)
        elif not alone and span.end > reached:
            leaf_spans.append(Piece(max(span.start, reached), span.end, (span,), loose=True))
            reached = span.end
    return leaf_spans


def _filled(text: SourceText, leaves: list[Piece], document: Document) -> Iterator[Piece]:
    """The leaves with the headings before them; text that no span covers as pieces of its own."""
    at, sections = 0, _Sections(document)
    for piece in leaves:
        if piece.start > at and not text.blank(at, piece.start):
            gap = text.trimmed(Piece(at, piece.start, sections.around(at, piece.start), loose=True))
            if gap.end - gap.start < 200 and (piece.loose or gap.spans):
                piece = replace(piece, start=gap.start)
            else:
                yield gap
        at = max(at, piece.end)
        yield piece
    if not text.blank(at, len(text.text)):
        yield text.trimmed(Piece(at, len(text.text), sections.around(at, len(text.text)), loose=True))


def _united(text: SourceText, leaves: list[Piece]) -> list[Piece]:
    """A table or algorithm with the caption beside it, and footnotes or captions that follow one another, as one where that fits."""
    done: list[Piece] = []
    for piece in leaves:
        last = done[-1] if done else None
        if last and not piece.loose and _belong(last, piece) and text.blank(last.end, piece.start) and piece.end - last.start <= MAX_CHARS:
            done[-1] = joined([last, piece])
        else:
            done.append(piece)
    return done


def _belong(piece: Piece, other: Piece) -> bool:
    roles = {span.role for span in piece.spans}
    coming = {span.role for span in other.spans}
    if roles | coming in ({"table", "caption"}, {"algorithm", "caption"}) and not roles & coming:
        unsaid = "table" in roles | coming and not (_labels(piece) and _labels(other))
        return unsaid or (bool(_labels(piece)) and _labels(piece) == _labels(other))
    return roles == coming and roles <= {"footnote", "caption"}


def _labels(piece: Piece) -> set[str]:
    """What is printed above or below: a caption belongs to the table that has its number."""
    return {span.label for span in piece.spans if span.label}


class _Sections:
    """The sections and headings of a document, asked in the order of its text: a paper may have thousands."""

    def __init__(self, document: Document) -> None:
        self._coming = deque(span for span in document.spans if span.role in {"section", "heading"})
        self._open: list[Span] = []

    def around(self, start: int, end: int) -> tuple[Span, ...]:
        """The last one that begins before `end` and reaches past `start`."""
        while self._coming and self._coming[0].start < end:
            self._open.append(self._coming.popleft())
        while self._open and self._open[-1].end <= start:
            self._open.pop()
        return (self._open[-1],) if self._open else ()


def _by_section(group: list[Piece]) -> Iterator[list[Piece]]:
    for _, section in groupby(group, key=lambda piece: piece.spans[0].path if piece.spans else ()):
        yield list(section)


def _paragraphs(text: SourceText, section: list[Piece]) -> Iterator[Piece]:
    """Paragraphs joined until there are enough words, never beyond what a hit may show; a formula stays in its sentence."""
    waiting: list[Piece] = []
    for group in _sentences(text, section):
        if waiting and (_words(text, waiting) >= LEAST_WORDS or _too_much(text, [*waiting, *group])):
            yield joined(waiting)
            waiting = []
        for piece in group:
            if waiting and piece.end - waiting[0].start > MAX_CHARS:
                yield joined(waiting)
                waiting = []
            waiting.append(piece)
    if waiting:
        yield joined(waiting)


def _sentences(text: SourceText, section: list[Piece]) -> Iterator[list[Piece]]:
    """What is one sentence: a formula with the words before it, and with those after it that go on ("where x is")."""
    group: list[Piece] = []
    for piece in section:
        goes_on = bool(group) and _is_formula(group[-1]) and text.text[piece.start : piece.start + 1].islower()
        if group and not (goes_on or _is_formula(piece)):
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _is_formula(piece: Piece) -> bool:
    return bool(piece.spans) and piece.spans[-1].role == "equation"


def _words(text: SourceText, group: list[Piece]) -> int:
    return len(text.text[group[0].start : group[-1].end].split())


def _too_much(text: SourceText, group: list[Piece]) -> bool:
    return group[-1].end - group[0].start > MAX_CHARS or _words(text, group) > MOST_WORDS
