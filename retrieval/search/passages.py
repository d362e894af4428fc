"""Chunks of one generation as questions read them: each is read, checked and cut into words once while it is kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from lineage.catalog.reader import Catalog
from lineage.records import Chunk
from lineage.text.tokens import tokens

MOST = 4_096
"""Chunks that are kept, about 4 MB of text and 20 MB of words."""


class Passages:
    """Chunks by row, and their words; safe to share between threads."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._chunks: dict[int, Chunk] = {}
        self._bags: dict[int, frozenset[str]] = {}

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """Chunks of the given rows, in that order; raises `StoreDamaged`."""
        with self._lock:
            known = {row: self._chunks[row] for row in rows if row in self._chunks}
        missing = [row for row in dict.fromkeys(rows) if row not in known]
        known.update(zip(missing, self._catalog.chunks(missing), strict=True))
        with self._lock:
            if len(self._chunks) + len(missing) > MOST:
                self._chunks.clear()
                self._bags.clear()
            self._chunks.update({row: known[row] for row in missing})
        return [known[row] for row in rows]

    def bag(self, row: int) -> frozenset[str]:
        """The distinct words of a chunk's text, header, path and symbol."""
        bag = self._bags.get(row)
        if bag is None:
            (chunk,) = self.chunks([row])
            bag = frozenset(token for text in (chunk.text, chunk.header, chunk.path, chunk.symbol) for token in tokens(text))
            self._bags[row] = bag
        return bag
