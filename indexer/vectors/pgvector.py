"""Inner product by pgvector, over vectors that stay in the database (`lineage.catalog.postgres`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.vectors import checked_queries
from lineage.catalog.postgres import StoredRows
from lineage.ports import Vectors


class Pgvector:
    """The index that the database has over its own rows."""

    def __init__(self, vectors: StoredRows) -> None:
        self._vectors = vectors

    def search(self, queries: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], Vectors]:
        """As `VectorIndex.search`; one statement a query."""
        queries = checked_queries(queries, self._vectors.shape[1])
        rows = np.full((len(queries), k), -1, np.int64)
        scores = np.full((len(queries), k), -np.inf, np.float32)
        for n, query in enumerate(queries):
            for rank, (row, score) in enumerate(self._vectors.nearest(query, k, allowed)):
                rows[n, rank], scores[n, rank] = row, score
        return rows, scores


def create(vectors: StoredRows) -> Pgvector:
    """The index over rows of a database."""
    return Pgvector(vectors)
