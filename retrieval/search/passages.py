"""Texts of chunks, each read once, and the growth of a hit over its neighbors.

Small chunks are found best, and larger ones answer best: a class's first lines match what it is about, and its methods say how it
is done. A hit therefore grows by whole neighboring chunks of its file, always the one of the two that the question ranks higher, up
to what a hit may show. `Hit.focus` still points to the lines that answer. Candidates are ranked by their outlines, and the texts of
those alone are read that a list may show.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lineage.catalog.reader import Catalog
from lineage.records import UNKNOWN, Chunk, Focus, Hit, Provenance
from retrieval.search.fusion import Scored
from retrieval.search.work_relations import WorkRelation

MAX_LINES = 60
MAX_CHARACTERS = 2_400
"""What a hit may show (CONTRACTS: a hit)."""
MOST = 4_096
"""Chunks that are kept, about 4 MB of text."""
_BATCH, _REACH = 12, 2
"""Candidates read at once, and how many chunks on either side of each are looked at together with them."""
_GROWN = frozenset(("code", "config"))


class Passages:
    """Chunks by row; safe to share between threads."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._chunks: dict[int, Chunk] = {}

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """Chunks of the given rows, in that order; raises `StoreDamaged`."""
        with self._lock:
            known = {row: self._chunks[row] for row in rows if row in self._chunks}
        missing = [row for row in dict.fromkeys(rows) if row not in known]
        known.update(zip(missing, self._catalog.chunks(missing), strict=True))
        with self._lock:
            if len(self._chunks) + len(missing) > MOST:
                self._chunks.clear()
            self._chunks.update({row: known[row] for row in missing})
        return [known[row] for row in rows]


class PassageReader:
    """The texts of one question's candidates. Chunks of code and configuration grow over their neighbors if `grows`."""

    def __init__(self, catalog: Catalog, passages: Passages, worth: Mapping[int, float], scored: Sequence[Scored], *, grows: bool) -> None:
        self._catalog, self._passages = catalog, passages
        self._worth = {**worth, **{candidate.row: candidate.score for candidate in scored}}
        self._grows = grows
        self._around: dict[int, Chunk | None] = {}

    def read(self, scored: Sequence[Scored]) -> Iterator[Scored]:
        """The same with their texts, read as far as they are asked for."""
        for start in range(0, len(scored), _BATCH):
            batch = scored[start : start + _BATCH]
            if self._grows:
                self._look([row for candidate in batch for row in range(candidate.row - _REACH, candidate.row + _REACH + 1)])
            for candidate, chunk in zip(batch, self._passages.chunks([candidate.row for candidate in batch]), strict=True):
                yield replace(candidate, chunk=chunk)

    def _look(self, rows: Sequence[int]) -> None:
        new = [row for row in dict.fromkeys(rows) if row >= 0 and row not in self._around]
        outlines = self._catalog.outlines(new)
        self._around.update((row, outlines[row].chunk if row in outlines else None) for row in new)

    def _at(self, row: int) -> Chunk | None:
        if row not in self._around:
            self._look([row])
        return self._around.get(row)

    def grow(self, candidate: Scored, shown: Sequence[Chunk]) -> Scored:
        """A candidate with the lines that are shown of it, beside what better ones show of its file."""
        passage = candidate.chunk
        if not self._grows or passage.kind not in _GROWN:
            return replace(candidate, found=passage)
        rows = extent(candidate.row, self._at, lambda row: self._worth.get(row, -math.inf), shown)
        return replace(candidate, chunk=joined(passage, self._passages.chunks(rows)), found=passage)


def extent(row: int, at: Callable[[int], Chunk | None], worth: Callable[[int], float], shown: Sequence[Chunk] = ()) -> range:
    """The rows to show for the chunk of a row: it and as many of its neighbors as fit.

    `at` gives the chunk of any row (its text is not looked at), None where there is none; rows of one document follow one another
    in reading order. `worth` gives a row's score; what is `shown` already is not taken in again.
    """
    passage = at(row)
    chunks = [passage] if passage else []
    first = last = row
    while chunks:
        before, after = at(first - 1), at(last + 1)
        beside = [(worth(first - 1), 0, [before, *chunks])] if before and _fits([before, *chunks], before, shown) else []
        beside += [(worth(last + 1), 1, [*chunks, after])] if after and _fits([*chunks, after], after, shown) else []
        if not beside:
            break
        _, side, chunks = max(beside, key=lambda option: option[:2])
        first, last = (first, last + 1) if side else (first - 1, last)
    return range(first, last + 1)


def _fits(chunks: Sequence[Chunk], new: Chunk, shown: Sequence[Chunk]) -> bool:
    one_file = len({(chunk.work, chunk.path) for chunk in chunks}) == 1
    ordered = all(previous.end <= other.start and previous.end_line < other.start_line for previous, other in pairwise(chunks))
    small = chunks[-1].end_line - chunks[0].start_line < MAX_LINES and chunks[-1].end - chunks[0].start <= MAX_CHARACTERS
    return one_file and ordered and small and not any(new.start < other.end and other.start < new.end for other in shown)


def joined(chunk: Chunk, chunks: Sequence[Chunk]) -> Chunk:
    """A chunk with the text and lines of all chunks that are shown for it; identifier, header and symbol stay its own.

    Between two chunks nothing but blank lines lies.
    """
    if len(chunks) == 1:
        return chunk
    text = chunks[0].text + "".join("\n" * (other.start_line - previous.end_line) + other.text for previous, other in pairwise(chunks))
    return replace(chunk, text=text, start=chunks[0].start, end=chunks[-1].end, start_line=chunks[0].start_line, end_line=chunks[-1].end_line)


# -- a chunk with what stands around it


WINDOW_LINES = 400
WINDOW_CHARACTERS = 24_000


@dataclass(frozen=True)
class EvidenceWindow:
    """A chunk, widened. The hit's chunk has the text and lines of the window, its `focus` those of the chunk itself.

    `before` and `after` are the lines of the document that the window leaves out on either side; `previous` and `next`
    are the neighbouring chunks, empty at the ends.
    """

    lineage: str
    generation: str
    hit: Hit
    before: int
    after: int
    previous: str = ""
    next: str = ""
    provenance: Provenance = UNKNOWN


def widened(catalog: Catalog, chunk: Chunk, relation: WorkRelation, before: int, after: int) -> tuple[Hit, int, int]:
    """The hit of the window, and how many lines there are before and after it.

    The window grows line by line on both sides, at most by `before` and `after` lines, while it holds no more than
    400 lines and 24,000 characters.
    """
    text = catalog.document_text(chunk.work, chunk.path)
    if text and chunk.start_line > text.count("\n") + 1:  # a document that is shorter than its chunk says is none
        text = ""
    lines = text.split("\n") if text else chunk.text.split("\n")
    first, last = (chunk.start_line, min(chunk.end_line, len(lines))) if text else (1, len(lines))
    top, bottom = _window(lines, first, last, before, after)
    shift = 0 if text else chunk.start_line - 1
    shown = chunk if (top, bottom) == (first, last) else replace(chunk, text="\n".join(lines[top - 1 : bottom]), start_line=top, end_line=bottom)
    hit = relation.hit(shown, Focus(first + shift, last + shift))
    return hit, top - 1, len(lines) - bottom


def _window(lines: list[str], first: int, last: int, before: int, after: int) -> tuple[int, int]:
    """The lines (from 1, both included) to show around [first, last]."""
    top, bottom = first, last
    room = WINDOW_CHARACTERS - sum(len(line) + 1 for line in lines[first - 1 : last])
    lowest, highest = max(1, first - before), min(len(lines), last + after)
    while (top > lowest or bottom < highest) and bottom - top + 1 < WINDOW_LINES:
        up = top > lowest and (first - top <= bottom - last or bottom >= highest)
        room -= len(lines[top - 2 if up else bottom]) + 1
        if room < 0:
            break
        top, bottom = (top - 1, bottom) if up else (top, bottom + 1)
    return top, bottom


def neighbours(catalog: Catalog, chunk: Chunk) -> tuple[str, str]:
    """Identifiers of the chunks before and after in the same document, empty at the ends."""
    around = [neighbor.id for neighbor in catalog.chunks(catalog.neighbours(chunk.work, chunk.path))]
    at = around.index(chunk.id)
    return around[at - 1] if at else "", around[at + 1] if at + 1 < len(around) else ""
