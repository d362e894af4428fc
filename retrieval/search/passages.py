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
from dataclasses import replace
from itertools import pairwise

from lineage.catalog.reader import Catalog
from lineage.records import Chunk
from retrieval.search.fusion import Scored

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
