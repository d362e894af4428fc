"""Sentences of an answer taken from the evidence as it stands: the pieces that are likeliest to answer, at most a few, or none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any

from lineage.hyperparameters.ontology import Ontology
from lineage.reasons import words
from lineage.records import Answer, ChunkKind, Hit, Query, WorkId
from lineage.results import FactOccurrence, Sentence
from lineage.text.tokens import terms
from retrieval.answers.answer_type import answer_type
from retrieval.answers.pieces import Piece, Words, fact, likelihood, pieces_of, shares_of, signs_of, stated, told
from retrieval.search.engine import Engine
from retrieval.search.question_subject import is_heard, subject_of

MOST = 3
PARTS = 6
FACTS = 3
HITS = 8
LOOKED_AT = 12
"""Hits of each search whose pieces are looked at, and (`CLOSELY`) pieces whose signs are read; of
those, the ones (`AGAIN`) that the embedder looks at."""
CLOSELY, AGAIN = 48, 14
_COVERS = 0.4
"""The share of a question's words that a piece of evidence must speak of, for it to support an answer."""
_FADES, _BESIDE = 0.85, 0.9
"""What a place among the hits costs, and what it counts in a search of prose alone or of the target alone."""
_PROSE: frozenset[ChunkKind] = frozenset({"paper", "docs"})
_AND = re.compile(r"\s+and\s+(?=(?:which|what|how|where|when|with|why)\b)|[;?]\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A piece with the likelihood that it answers, and the signs that say so."""

    piece: Piece
    signs: Mapping[str, float]
    likelihood: float


def questions(text: str) -> list[str]:
    """The question, and its first `PARTS` parts where it asks for several things."""
    parts = [part for part in dict.fromkeys(part.strip(" ?.") for part in _AND.split(text)) if terms(part)]
    return [text, *parts[:PARTS]] if len(parts) > 1 else [text]


def supported(answer: Answer) -> bool:
    """Whether any hit speaks of enough of the question."""
    return answer.supported and any(covered(answer.query.text, whole(hit)) >= _COVERS for hit in answer.hits[:HITS])


def heard(answer: Answer, known: Ontology) -> bool:
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
    return query, replace(query, kinds=_PROSE), replace(query, kinds=frozenset({"paper"}), work=target)


def candidates(engine: Engine, answers: Sequence[Answer], occurrences: Sequence[FactOccurrence] = ()) -> list[Candidate]:
    """The pieces of what was found for one question, likeliest first; `held` are facts of the details that it names."""
    question, known = answers[0].query.text, engine.ontology
    words, asked, about = Words(question, engine.worth(question)), answer_type(question), subject_of(question, known)
    placed = [(piece, place) for hit, place in _placed(answers) for piece in pieces_of(hit)]
    placed += [(fact(occurrence, known), 1.0) for occurrence in occurrences[:FACTS]]
    shares = shares_of([piece for piece, _ in placed], words)
    worth = [share + 0.5 * place + 0.5 * stated(piece, asked, question) for share, (piece, place) in zip(shares, placed, strict=True)]
    first = [placed[at] for at in sorted(range(len(placed)), key=lambda at: -worth[at])[:CLOSELY]]
    similar = engine.similarities(question, [piece.text for piece, _ in first])
    likest = max(similar, default=0.0)
    weights = fitted()["weights"]
    found = [(piece, signs_of(piece, words, asked, about, place, near, likest)) for (piece, place), near in zip(first, similar, strict=True)]
    ranked = sorted((Candidate(piece, signs, likelihood(signs, weights)) for piece, signs in found), key=lambda candidate: -candidate.likelihood)
    return _looked_at_again(engine, question, ranked[:AGAIN])


def _looked_at_again(engine: Engine, question: str, ranked: Sequence[Candidate]) -> list[Candidate]:
    """The same by how near each is to the question for the embedder of the generation, too, where it has one."""
    similar = engine.similarities(question, [one.piece.text for one in ranked], fast=False)
    if not any(similar):
        return list(ranked)
    likest, again = max(similar), list[Candidate]()
    for candidate, near in zip(ranked, similar, strict=True):
        signs = {"first": math.log(candidate.likelihood / (1 - candidate.likelihood)), "dense": near, "densest": near - likest}
        again.append(replace(candidate, likelihood=likelihood(signs, fitted()["second"])))
    return sorted(again, key=lambda one: -one.likelihood)


def _placed(answers: Sequence[Answer]) -> list[tuple[Hit, float]]:
    """Every hit once, with how high it stands in the best of the searches."""
    hits: dict[str, tuple[Hit, float]] = {}
    for answer, counts in zip(answers, (1.0, _BESIDE, _BESIDE), strict=False):
        for place, hit in enumerate(answer.hits):
            value = counts * _FADES**place
            if value > hits.get(hit.chunk.id, (hit, 0.0))[1]:
                hits[hit.chunk.id] = (hits.get(hit.chunk.id, (hit, 0.0))[0], value)
    return list(hits.values())


@cache
def fitted() -> Mapping[str, Any]:
    """What each sign weighs, and the likelihood under which nothing is said."""
    found: Mapping[str, Any] = json.loads(files("retrieval").joinpath("data/answers.json").read_text("utf-8"))
    return found


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
    table = fitted()
    if not ranked or ranked[0].likelihood < table["least"]:
        return []
    return [candidate for candidate in ranked if candidate.likelihood >= table["near"] * ranked[0].likelihood]


def _new(piece: Piece, other: Piece) -> bool:
    """Whether less than most of its words were said already."""
    words, said = set(terms(piece.text)), set(terms(other.text))
    return len(words & said) < 0.6 * max(1, min(len(words), len(said)))
