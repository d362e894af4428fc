"""Exact inner product by FAISS over the stored float32 vectors.

The index is made in this process from `vectors.npy`, which has a hash; FAISS index files are never read or
written (a flipped bit in one gives wrong neighbours without an error). After a search, a forked child's
search hangs (faiss issue 5206): start workers by spawn or forkserver.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.vector_checks import checked_queries, checked_vectors
from lineage.ports import Vectors


class Faiss:
    """`IndexFlatIP` with row numbers as identifiers."""

    def __init__(self, vectors: Vectors) -> None:
        import faiss

        vectors = checked_vectors(vectors)
        self._faiss: Any = faiss
        self._dim = int(vectors.shape[1])
        self._index: Any = faiss.IndexFlatIP(self._dim)
        self._index.add(np.ascontiguousarray(vectors))

    def search(self, queries: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], Vectors]:
        """As `VectorIndex.search`."""
        queries = checked_queries(queries, self._dim)
        if not len(queries):
            return np.empty((0, k), np.int64), np.empty((0, k), np.float32)
        chosen = None
        if allowed is not None:
            chosen = self._faiss.SearchParameters(sel=self._faiss.IDSelectorBatch(np.ascontiguousarray(allowed, np.int64)))
        scores, rows = self._index.search(queries, k, params=chosen)
        return rows.astype(np.int64), np.where(rows < 0, -np.inf, scores).astype(np.float32)


def create(vectors: Vectors) -> Faiss:
    """An index over vectors (n, dim), float32."""
    return Faiss(vectors)
