"""Nearest neighbours by FAISS over the stored float32 vectors: all of them, of many first by their bytes.

The index is made in this process from `vectors.npy`, which has a hash; FAISS index files are never read or
written (a flipped bit in one gives wrong neighbours without an error). From `MANY` rows on, one byte a number chooses `WIDER` times as
many rows as are wanted and never fewer than `_LEAST`, since bytes do not tell neighbours of one text from copies of another; their
float32 vectors give order and score. Where that misses neighbours of the rows, all are compared as they are; a build tells. After a search, a
forked child's search hangs (faiss issue 5206): start workers by spawn or forkserver.
"""

from __future__ import annotations

import threading
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.vectors import checked_queries, checked_vectors
from lineage.ports import Vectors

MANY = 10_000
WIDER, _LEAST = 2, 200
_SAMPLE, _FIRST, _RECALL = 32, 10, 0.98
_LARGEST, _BLOCK = 127, 1_000
_EXACT = 8
"""Questions that are compared with all vectors before an index of bytes is made: a command asks one, a server many."""
_SAME = 1e-5
"""How far apart similarities are that are the same."""


class Faiss:
    """`IndexFlatIP` with row numbers as identifiers; from `many` rows on `IndexScalarQuantizer` before it, made from the `_EXACT`th question on.

    `recall` is the share of the true first neighbours that it finds of a sample of its rows, measured where it is not given.
    """

    def __init__(self, vectors: Vectors, recall: float | None = None, many: int = MANY) -> None:
        self._vectors = np.ascontiguousarray(checked_vectors(vectors))
        self._dim = int(vectors.shape[1])
        self._bytes = len(vectors) >= many and (recall is None or recall >= _RECALL)
        self._left = _EXACT
        self.recall = 1.0 if recall is None or not self._bytes else recall
        if self._bytes and recall is None:
            self._index = self._made(exact=False)
            self.recall = self._measured()
            if self.recall < _RECALL:
                self._bytes, self._index = False, self._made(exact=True)

    @cached_property
    def _index(self) -> Any:
        return self._made(exact=not self._bytes)

    def _made(self, *, exact: bool) -> Any:
        faiss: Any = import_module("faiss")
        if exact:
            index = faiss.IndexFlatIP(self._dim)
            index.add(self._vectors)
            return index
        # Of questions too, so that bytes are multiplied with bytes.
        index = faiss.IndexScalarQuantizer(self._dim, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT)
        faiss.copy_array_to_vector(self._as_bytes().ravel(), index.codes)
        index.ntotal = len(self._vectors)
        return index

    def _as_bytes(self) -> NDArray[np.uint8]:
        """The vectors as the index keeps them: `add` would make the same of them in five times the time."""
        codes, most = np.empty(self._vectors.shape, np.uint8), _LARGEST / max(self._vectors.max(initial=1e-9), -self._vectors.min(initial=0.0))
        for start in range(0, len(codes), _BLOCK):
            codes[start : start + _BLOCK] = np.rint(self._vectors[start : start + _BLOCK] * most) + (_LARGEST + 1)
        return codes

    def _measured(self) -> float:
        """The recall; of equal texts any will do."""
        sample = self._vectors[:: max(1, len(self._vectors) // _SAMPLE)][:_SAMPLE]
        least = np.partition(sample @ self._vectors.T, -_FIRST, axis=1)[:, -_FIRST, None]
        _, similar = self.search(sample, _FIRST)
        return float(np.mean(similar >= least - _SAME))

    def search(self, queries: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], Vectors]:
        """As `VectorIndex.search`."""
        queries = checked_queries(queries, self._dim)
        if not len(queries):
            return np.empty((0, k), np.int64), np.empty((0, k), np.float32)
        many = max(_LEAST, WIDER * k) if self._bytes else k
        if self._bytes and "_index" not in self.__dict__:
            self._count(len(queries))
            rows = self._compared(queries, min(many, len(self._vectors)), allowed)
        else:
            scores, rows = self._found(queries, many, allowed)
        if self._bytes:
            scores = np.where(rows < 0, -np.inf, np.einsum("qd,qkd->qk", queries, self._vectors[rows]))
            order = np.lexsort((rows, -scores))[:, :k]
            scores, rows = np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)
        return rows.astype(np.int64), np.where(rows < 0, -np.inf, scores).astype(np.float32)

    def _count(self, queries: int) -> None:
        """Begin to make the index of bytes, beside the questions that go on, when there were enough of them."""
        before, self._left = self._left, self._left - queries
        if self._left <= 0 < before:
            threading.Thread(target=getattr, args=(self, "_index"), daemon=True).start()

    def _mask(self, allowed: NDArray[np.int64]) -> NDArray[np.bool_]:
        admitted = np.zeros(len(self._vectors), bool)
        admitted[allowed] = True
        return admitted

    def _compared(self, queries: Vectors, many: int, allowed: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """The nearest rows by all vectors as they are: of a few questions, sooner than an index is made."""
        similarities = queries @ self._vectors.T
        if allowed is not None:
            similarities[:, ~self._mask(allowed)] = -np.inf
        rows = np.argpartition(-similarities, many - 1, axis=1)[:, :many]
        return np.where(np.isneginf(np.take_along_axis(similarities, rows, 1)), -1, rows)

    def _found(self, queries: Vectors, many: int, allowed: NDArray[np.int64] | None) -> tuple[Vectors, NDArray[np.int64]]:
        """Scores and rows by the index."""
        faiss: Any = import_module("faiss")
        chosen = None
        if allowed is not None:
            chosen = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(np.packbits(self._mask(allowed), bitorder="little")))
        asked = np.rint(queries * (_LARGEST / np.abs(queries).max(axis=1, keepdims=True, initial=1e-9))) if self._bytes else queries
        faiss.omp_set_num_threads(1)  # of this thread: a second one would wait for a single question
        nearest: tuple[Vectors, NDArray[np.int64]] = self._index.search(asked, many, params=chosen)
        return nearest


def create(vectors: Vectors, recall: float | None = None) -> Faiss:
    """An index over vectors (n, dim), float32."""
    return Faiss(vectors, recall)
