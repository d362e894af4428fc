"""Nearest neighbours over stored vectors; one module a store."""

from __future__ import annotations

import numpy as np

from lineage.errors import EmbedderMismatch
from lineage.ports import Vectors


def checked_vectors(vectors: Vectors) -> Vectors:
    """The vectors as they are if they are (n, dim) float32 and finite; raises `ValueError`."""
    if vectors.ndim != 2 or vectors.dtype != np.float32:
        raise ValueError(f"an index is made of float32 (n, dim), not {vectors.dtype} {vectors.shape}")
    if not np.isfinite(vectors.sum(axis=1)).all():
        raise ValueError("an index cannot hold vectors that are not finite")
    return vectors


def checked_queries(queries: Vectors, dim: int) -> Vectors:
    """The queries as float32 (q, dim); raises `EmbedderMismatch` and `ValueError`."""
    if queries.ndim != 2 or queries.shape[1] != dim:
        words = f"questions of shape {queries.shape} cannot be asked of vectors of dimension {dim}"
        raise EmbedderMismatch(words, hint="use the embedder of the build")
    if not np.isfinite(queries).all():
        raise ValueError("a question's vector is not finite")
    return np.ascontiguousarray(queries, dtype=np.float32)
