"""First stage: what the lexical and the dense retriever each put forward, over one generation.

Both lists are long (`DEPTH`), because what one retriever ranks low the other may rank high; whatever one of
them found is scored by the other too, so that fusion never has to guess at an absent score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineage.catalog import Catalog
from lineage.model import ChunkKind, WorkId
from lineage.ports import VectorIndex, Vectors
from lineage.tokens import fts_any, fts_query, variants

DEPTH = 200
VARIANTS = 0.5
COMMON = 0.3
Ranked = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Scope:
    """Which chunks may be found: `kinds` (none: every kind) of works other than `without`; `rows` are theirs, None for all."""

    kinds: frozenset[ChunkKind] = frozenset()
    without: frozenset[WorkId] = frozenset()
    rows: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Candidates:
    """(row, score) by retriever, best first; `dense` is None where the generation has no vectors."""

    lexical: Ranked
    dense: Ranked | None = None


def scope_of(catalog: Catalog, kinds: frozenset[ChunkKind], without: frozenset[WorkId]) -> Scope:
    """The scope, with its rows where it is less than everything."""
    return Scope(kinds, without, catalog.rows(kinds, without) if kinds or without else None)


def lexical(catalog: Catalog, question: str, scope: Scope, depth: int = DEPTH) -> Ranked:
    """The best chunks by BM25 over symbol, path, header and body, for the question's words and, at half weight, their variants."""
    asked = [(fts_query(question), 1.0), (fts_any(known_variants(catalog, question)), VARIANTS)]
    return catalog.lexical(asked, depth, kinds=scope.kinds, without=scope.without)


def known_variants(catalog: Catalog, question: str) -> list[str]:
    """Cut and joined forms of the question's words that the index holds and that tell chunks apart."""
    most = COMMON * catalog.counts()["chunks"]
    return [form for form, count in catalog.frequencies(variants(question)).items() if 0 < count <= most]


def dense(index: VectorIndex, vector: Vectors, scope: Scope, also: Sequence[int] = (), depth: int = DEPTH) -> Ranked:
    """The best chunks by inner product with the question's vector (1, dim), and the rows `also`, wherever they rank."""
    found = _pairs(index, vector, depth, scope.rows)
    rest = np.setdiff1d(np.array(also, np.int64), np.array([row for row, _ in found], np.int64))
    return [*found, *_pairs(index, vector, len(rest), rest)] if rest.size else found


def _pairs(index: VectorIndex, vector: Vectors, k: int, allowed: NDArray[np.int64] | None) -> list[tuple[int, float]]:
    rows, scores = index.search(vector, k, allowed)
    return [(int(row), float(score)) for row, score in zip(rows[0], scores[0], strict=True) if row >= 0]
