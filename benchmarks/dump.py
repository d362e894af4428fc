"""Questions with what both retrievers put forward for them, kept in memory, so that other weights cost milliseconds.

A question's lists do not depend on the weights that fuse them. They are asked for once; ranking them anew uses the same
functions as `retrieval.search.engine`, over chunks that have all been read, and gives the engine's own ranks (the graph and
names of works apart, which no set has). `benchmarks/fit.py` climbs over them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks import evidence
from benchmarks.evidence import Corpus, Question
from lineage.catalog.reader import Outline
from lineage.catalog.records import same_text
from lineage.ports import Vectors
from lineage.records import Chunk
from retrieval.evaluation import first_rank
from retrieval.search import candidates, fusion
from retrieval.search.candidates import DEPTH, Scope
from retrieval.search.concepts import Signs, signs
from retrieval.search.engine import READ
from retrieval.search.fusion import Ranked, Scored
from retrieval.search.passages import extent, joined
from retrieval.search.priors import FusionWeights, KnownNames, stages_asked, with_priors, with_siblings
from retrieval.search.query import plain, vocabulary


@dataclass(frozen=True)
class Pool:
    """A set with its chunks read: the key that equal texts share and the work of each, and its vectors."""

    corpus: Corpus
    chunks: Sequence[Chunk]
    same: Sequence[str]
    works: NDArray[np.str_]
    vectors: Vectors


@dataclass(frozen=True)
class Dumped:
    """A question with its kind, its plain text, both of its lists, and the signs it leaves with and without the work that holds its gold."""

    pool: Pool
    question: Question
    kind: str
    lexical: Ranked
    dense: Ranked
    held: Signs
    missing: Signs | None
    text: str = ""

    @property
    def family(self) -> str:
        """The set it is of."""
        return self.pool.corpus.one.name


def pool_of(corpus: Corpus) -> Pool:
    """A set's chunks and vectors, read."""
    chunks, vectors = corpus.chunks, corpus.generation.vectors
    if vectors is None:
        raise SystemExit("an embedder is needed")
    return Pool(corpus, chunks, [same_text(chunk.text) for chunk in chunks], np.array([chunk.work for chunk in chunks]), np.asarray(vectors))


def dumped(pool: Pool, every: int = 1) -> list[Dumped]:
    """Every question of a set, or every Nth."""
    found = []
    questions = pool.corpus.questions[::every]
    for field in pool.corpus.one.fields:
        answers = asked(pool, [evidence.asked(one, field) for one in questions], DEPTH * 3)
        for question, (terms, lexical, near) in zip(questions, answers, strict=True):
            kind = evidence.called(pool.corpus.one, question.get("kind", "all"), field)
            lists = _lists(lexical, near)
            found.append(
                Dumped(
                    pool,
                    question,
                    kind,
                    *lists,
                    signs(terms, *lists),
                    _missing(pool, question, terms, lexical, near),
                    plain(evidence.asked(question, field)),
                )
            )
    return found


def asked(pool: Pool, questions: Sequence[str], depth: int = DEPTH) -> list[tuple[int, Ranked, Vectors]]:
    """For each question how many terms it has, the first `depth` by words, and every chunk's similarity."""
    texts = [plain(question) for question in questions]
    embedder, catalog = pool.corpus.embedder, pool.corpus.generation.catalog
    vectors = embedder.queries(texts) if embedder and texts else np.zeros((0, pool.vectors.shape[1]), np.float32)
    words = [candidates.words_of(catalog, text, len(pool.chunks), vocabulary()) for text in texts]
    rows = zip(words, vectors, strict=True)
    return [(len(one.terms), candidates.lexical(catalog, one, Scope(), depth), pool.vectors @ vector) for one, vector in rows]


def foreign(pool: Pool, questions: Sequence[str]) -> list[Signs]:
    """The signs of questions that no set's gold answers."""
    return [signs(terms, *_lists(lexical, near)) for terms, lexical, near in asked(pool, questions)]


def _lists(lexical: Ranked, near: Vectors, out: NDArray[np.bool_] | None = None) -> tuple[Ranked, Ranked]:
    """Both lists as the engine gets them, without the rows that are `out`."""
    if out is not None:
        lexical, near = [(row, score) for row, score in lexical if not out[row]], np.where(out, -2.0, near)
    lexical = lexical[:DEPTH]
    first = np.argsort(-near, kind="stable")[: min(DEPTH, len(near) if out is None else int((~out).sum()))].tolist()
    rows = [*first, *sorted({row for row, _ in lexical} - set(first))]
    return lexical, [(row, float(near[row])) for row in rows]


def _missing(pool: Pool, question: Question, terms: int, lexical: Ranked, near: Vectors) -> Signs | None:
    """The signs without the works that hold the gold; None where they are not works of their own (packages share questions)."""
    one = pool.corpus.one
    if one.name == "packages":
        return None
    golds = [f"arxiv:{question['arxiv']}"] if one.passages else sorted({evidence.work_of(gold["path"]) for gold in pool.corpus.score.golds(question)})
    return signs(terms, *_lists(lexical, near, np.isin(pool.works, golds)))


def rank(one: Dumped, weights: FusionWeights) -> int | None:
    """Where the first hit that shows the gold stands among the first twenty."""
    pool = one.pool
    combined = fusion.fuse(one.lexical, one.dense, weights.dense, weights.pool)
    first = combined.first(READ)
    outlines = {row: Outline(pool.chunks[row], pool.same[row]) for row in first}
    scored = with_siblings(with_priors(first, outlines, KnownNames(weights, stages=stages_asked(one.text))), weights.siblings)
    worth = combined.by_row | {found.row: found.score for found in scored}
    shown = fusion.apart(fusion.folded(scored), partial(_grow, pool, worth))
    hits = fusion.capped(shown, evidence.K, weights.share)
    return first_rank([_finds(one, hit) for hit in hits])


def _grow(pool: Pool, worth: dict[int, float], one: Scored, shown: Sequence[Chunk]) -> Scored:
    if one.chunk.kind not in {"code", "config"}:
        return one

    def at(row: int) -> Chunk | None:
        return pool.chunks[row] if 0 <= row < len(pool.chunks) else None

    rows = extent(one.row, at, lambda row: worth.get(row, -math.inf), shown)
    return replace(one, chunk=joined(one.chunk, [pool.chunks[row] for row in rows]))


def _finds(one: Dumped, hit: Scored) -> bool:
    if evidence.of_passages(one.question):
        return hit.chunk.path in one.question["gold"]
    return any(one.pool.corpus.score.finds(chunk.path, chunk.start_line, chunk.end_line, one.question) for chunk in (hit.chunk, *hit.copies))
