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
            for at, near in enumerate(similarities, start):
                best = _first(near, k)
                rows[at, : len(best)] = best if allowed is None else allowed[best]
                scores[at, : len(best)] = near[best]
        return rows, scores


def _first(near: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The places of the `k` greatest, greatest first, equal ones in their order."""
    some = np.flatnonzero(near >= np.partition(near, len(near) - k)[len(near) - k]) if k < len(near) else np.arange(len(near))
    return some[np.argsort(-near[some], kind="stable")[:k]]


def create(vectors: Vectors) -> Flat:
    """An index over vectors (n, dim), float32."""
    return Flat(vectors)
