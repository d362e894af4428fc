"""Reads the texts of the candidates that a list may show, and no others: outlines rank, grow and fold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lineage.catalog.reader import Catalog
from lineage.records import Chunk
from retrieval.search.fusion import Scored
from retrieval.search.hit_expansion import extent, joined
from retrieval.search.passages import Passages

_BATCH, _REACH = 24, 8
"""Candidates read at once, and how many chunks on either side of each are looked at together with them."""
_GROWN = frozenset(("code", "config"))


class Reader:
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
        found = candidate.chunk
        if not self._grows or found.kind not in _GROWN:
            return replace(candidate, found=found)
        rows = extent(candidate.row, self._at, lambda row: self._worth.get(row, -math.inf), shown)
        return replace(candidate, chunk=joined(found, self._passages.chunks(rows)), found=found)
