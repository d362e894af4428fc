"""Exact nearest neighbours with numpy alone: the reference for every other index, and enough for small lineages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.vectors import checked_queries, checked_vectors
from lineage.ports import Vectors

_BATCH = 64


class Flat:
    """Inner products over all rows, in blocks of queries."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = checked_vectors(vectors)

    def search(self, queries: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], Vectors]:
        """As `VectorIndex.search`; equal scores in the order of rows."""
        queries = checked_queries(queries, self._vectors.shape[1])
        rows = np.full((len(queries), k), -1, np.int64)
        scores = np.full((len(queries), k), -np.inf, np.float32)
        pool = self._vectors if allowed is None else self._vectors[allowed]
        for start in range(0, len(queries), _BATCH):
            similarities = queries[start : start + _BATCH] @ pool.T
            best = np.argsort(-similarities, axis=1, kind="stable")[:, :k]
            width = best.shape[1]
            rows[start : start + _BATCH, :width] = best if allowed is None else allowed[best]
            scores[start : start + _BATCH, :width] = np.take_along_axis(similarities, best, axis=1)
        return rows, scores


def create(vectors: Vectors) -> Flat:
    """An index over vectors (n, dim), float32."""
    return Flat(vectors)
