"""Sentences of an answer taken from the evidence as it stands: the pieces that are likeliest to answer, at most a few, or none."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from lineage.hyperparameters.ontology import Ontology
from lineage.reasons import words
from lineage.records import Answer, ChunkKind, Hit, Query, WorkId
from lineage.results import FactOccurrence, Sentence
from lineage.tables import packaged
from lineage.text.tokens import terms
from retrieval.answers.answer_type import answer_type
from retrieval.answers.pieces import Piece, Words, fact, in_place, logistic, pieces_of, signs_of, told, weighed
from retrieval.search.engine import Engine
from retrieval.search.question_subject import is_heard, subject_of

_FITTED = packaged("answers", "retrieval")
"""What each sign weighs, and how sure one must be to say something."""
MOST = 3
PARTS = 6
FACTS = 3
HITS = 8
LOOKED_AT, OWN, CLOSELY = 12, 40, 32
"""Hits of each search whose pieces are looked at, of the target's own text, and pieces that the embedder of the generation reads."""
_CERTAIN = 0.85
"""The largest likelihood that counts: of few pieces, one always stands out; where the search found no support, one must be near as well."""
_COVERS = 0.4
"""The share of a question's words that a piece of evidence must speak of, for it to support an answer."""
_FIRST = 3.0
"""How much more similarity by words counts where it chooses what the embedder reads."""
_FADES, _BESIDE = 0.85, 0.9
"""What a place among the hits costs, and what it counts in a search of prose alone or of the target alone."""
_PROSE: frozenset[ChunkKind] = frozenset({"paper", "docs"})
_AND = re.compile(r"\s+and\s+(?=(?:which|what|how|where|when|with|why)\b)|[;?]\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A piece with the likelihood that it answers if any does, and the likelihood (`sure`) that one of the first does."""

    piece: Piece
    likelihood: float
    sure: float


def questions(text: str) -> list[str]:
    """The question, and its first `PARTS` parts where it asks for several things."""
    parts = [part for part in dict.fromkeys(part.strip(" ?.") for part in _AND.split(text)) if terms(part)]
    return [text, *parts[:PARTS]] if len(parts) > 1 else [text]


def is_supported(answer: Answer) -> bool:
    """Whether the search found what supports an answer, and a hit speaks of enough of the question."""
    return answer.supported and any(covered(answer.query.text, whole(hit)) >= _COVERS for hit in answer.hits[:HITS])


def is_heard_of(answer: Answer, known: Ontology) -> bool:
    """Whether any hit, or the work that it is of, has a name that the question asks of: one of BERT is not answered by what never says BERT."""
    return is_heard(subject_of(answer.query.text, known), ((whole(hit), (hit.work, hit.paper)) for hit in answer.hits[:HITS]))


def whole(hit: Hit) -> str:
    """What a hit speaks of: its text and where it stands."""
    return "\n".join((hit.chunk.text, hit.chunk.header, hit.chunk.symbol, " ".join(hit.chunk.section), *words(hit)))


def covered(question: str, text: str) -> float:
    """The share of a question's words that a text has, cut forms (`init`) included."""
    return Words(question, {}).share(text)


def searches(query: Query, target: WorkId) -> tuple[Query, ...]:
    """What is searched for the pieces of an answer: everything, prose alone, and the target's own text alone."""
    query = replace(query, k=max(query.k, LOOKED_AT))
    return query, replace(query, kinds=_PROSE), replace(query, k=max(query.k, OWN), kinds=frozenset({"paper"}), work=target)


def candidates(engine: Engine, answers: Sequence[Answer], occurrences: Sequence[FactOccurrence] = ()) -> list[Candidate]:
    """The pieces of what was found for one question, likeliest first; `occurrences` are facts of the details that it names."""
    question, weights = answers[0].query.text, _FITTED["weights"]
    words, asked = Words(question, engine.worth(question)), answer_type(question)
    placed = [(piece, place) for hit, place in _placed(answers) for piece in pieces_of(hit)]
    placed += [(fact(occurrence, engine.ontology), 1.0) for occurrence in occurrences[:FACTS]]
    similar = engine.similarities(question, [piece.text for piece, _ in placed])
    scored = [
        (piece, near, weighed(signs, weights))
        for (piece, place), near in zip(placed, similar, strict=True)
        if (signs := signs_of(piece, words, asked, place))["whole"] or near > 0.0
    ]
    first = sorted(scored, key=lambda row: -row[2] - _FIRST * row[1])[:CLOSELY]
    texts = [piece.text for piece, _, _ in first]
    dense = engine.similarities(question, texts, fast=False)
    read = engine.similarities(question, [in_place(piece) for piece, _, _ in first], fast=False)
    near = [{"static": row[1], "dense": at, "read": beside} for row, at, beside in zip(first, dense, read, strict=True)]
    scores = [row[2] + weighed(signs, weights) for row, signs in zip(first, near, strict=True)]
    return _likely([piece for piece, _, _ in first], scores, max(dense, default=0.0), is_supported(answers[0]))


def _likely(pieces: Sequence[Piece], scores: Sequence[float], densest: float, supported: bool) -> list[Candidate]:
    """The pieces in the order of their scores, with what these and the similarity of the nearest say of them."""
    ordered = sorted(zip(pieces, scores, strict=True), key=lambda pair: -pair[1])
    powers = [math.exp(score - ordered[0][1]) for _, score in ordered]
    likelihoods = [power / sum(powers) for power in powers]
    together = min(_CERTAIN, sum(likelihoods[:MOST]))
    named = bool(ordered) and ordered[0][0].shape == "fact"  # of a detail that is asked for by name
    odds = (
        {"bias": 1.0, "together": math.log(together / (1 - together)), "densest": densest, "supported": float(supported or named)} if powers else {}
    )
    sure = logistic(weighed(odds, _FITTED["sure"]))
    return [Candidate(piece, likelihood, sure) for (piece, _), likelihood in zip(ordered, likelihoods, strict=True)]


def _placed(answers: Sequence[Answer]) -> list[tuple[Hit, float]]:
    """Every hit once, with how high it stands in the best of the searches."""
    hits: dict[str, tuple[Hit, float]] = {}
    for answer, counts in zip(answers, (1.0, _BESIDE, _BESIDE), strict=False):
        for place, hit in enumerate(answer.hits):
            value = counts * _FADES**place
            if value > hits.get(hit.chunk.id, (hit, 0.0))[1]:
                hits[hit.chunk.id] = (hits.get(hit.chunk.id, (hit, 0.0))[0], value)
    return list(hits.values())


def extracted(ranked: Sequence[Sequence[Candidate]]) -> list[Sentence]:
    """At most `MOST` sentences, each with its one piece of evidence, in turn the best for each part of the question; none where none is
    likely enough."""
    chosen: list[Piece] = []
    for one in (one for row in zip_longest(*map(_said, ranked)) for one in row if one):
        if len(chosen) < MOST and all(_new(one.piece, other) for other in chosen):
            chosen.append(one.piece)
    return [Sentence(told(piece), (piece.hit,)) for piece in chosen]


def _said(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Those that come near the best, if that is likely enough."""
    near = _FITTED["near"]
    return [candidate for candidate in ranked if candidate.likelihood >= near * ranked[0].likelihood] if is_sure(ranked) else []


def is_sure(ranked: Sequence[Candidate]) -> bool:
    """Whether one of the first pieces is likely enough to answer for anything to be said."""
    return bool(ranked) and ranked[0].sure >= float(_FITTED["least"])


def _new(piece: Piece, other: Piece) -> bool:
    """Whether less than most of its words were said already."""
    words, said = set(terms(piece.text)), set(terms(other.text))
    return len(words & said) < 0.6 * max(1, min(len(words), len(said)))
