"""Which decisions of code a question asks for, and where the lineage takes them: "is the gradient clipped?" is asked of `clip_grad_norm_`.

Questions name roles, code names mechanisms, and no word is common to both. The statements of code are known by kind since the lineage
was built (`retrieval.decisions.settled`); a question is matched to the kinds by words and by the packaged vectors of words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lineage.file_roles import ASIDE, named_roles
from lineage.hyperparameters.mechanisms import MechanismKind, kinds
from lineage.records import Chunk, FileRole, Focus, WorkId
from lineage.text.tokens import STOP, terms
from retrieval.decisions.precedence import Precedence
from retrieval.decisions.provenance import evidence

if TYPE_CHECKING:
    from lineage.catalog.reader import Catalog
    from lineage.ports import Vectors, WordEmbedder
    from lineage.records import Hit
    from retrieval.decisions.settled import SettledIndex, Shown, StatementPlace
    from retrieval.search.work_relations import WorkRelations

_TITLE, _NAME = 3, 2
"""How often the words of a kind's title and name count beside those of its phrases."""
_BM25_K, _BM25_B = 1.2, 0.75
_WORDS, _VECTORS = 1 / 6, 1 / 2
"""What a kind's BM25 score and its similarity, in deviations, count."""
_SURE, _SPREAD = 1.2, 0.5
"""The score of a kind at which it counts one half, and by how much less another scores that counts a third."""
_KINDS, _LEAST = 4, 0.2
_SHOWN, _MOST = 3, 20
"""Statements of a repository and kind that are shown, and all that are."""
_FULL = 5.0
_FURTHER = 0.5
_MANY, _RUN, _ASIDE = 0.6, 0.4, 1.0
"""What code is worth by the logarithm of how many kinds of decisions it takes, as part of a program that trains, and less as a test or the like."""
_LONG, _DEEP, _NEAR = 0.5, 0.25, 1.0
"""And by the logarithm of its lines, less for each folder that its file lies below, more the nearer its work stands in the lineage."""
_RUNS = frozenset({FileRole.TRAINING, FileRole.PROGRAM})


@dataclass(frozen=True)
class DecidedPlace:
    """A statement that settles what is asked: how surely, the title of its kind, and its lines where they are known."""

    strength: float
    title: str
    focus: Focus | None = None


@lru_cache(64)
def asked_kinds(question: str, table: WordEmbedder | None) -> Sequence[tuple[MechanismKind, float]]:
    """The kinds of decisions that a question asks for, each with how surely (0..1), surest first."""
    scores = _WORDS * _by_words(question)
    if table:
        near = _vectors(table) @ table.queries([question])[0]
        scores = scores + _VECTORS * (near - near.mean()) / (near.std() or 1.0)
    order = np.argsort(-scores, kind="stable")[:_KINDS]
    best = float(scores[order[0]])
    sure = 1 / (1 + math.exp(-4 * (best - _SURE)))
    shares = ((kinds()[at], sure * math.exp((float(scores[at]) - best) / _SPREAD)) for at in order)
    return tuple((kind, share) for kind, share in shares if share >= _LEAST)


def decided(asked: Sequence[tuple[MechanismKind, float]], index: SettledIndex, without: AbstractSet[str]) -> dict[int, DecidedPlace]:
    """By row the statement that best settles what is asked for (`asked_kinds`)."""
    places: dict[int, DecidedPlace] = {}
    for strength, _, kind, _, place in _stated(asked, index, without):
        before = places.get(place.row)
        if before is None or strength > before.strength:
            places[place.row] = DecidedPlace(strength + (_FURTHER * before.strength if before else 0.0), kind.title)
    return places


def statements(asked: Sequence[tuple[MechanismKind, float]], index: SettledIndex, without: AbstractSet[str], shown: Shown) -> Iterator[Hit]:
    """The statements that settle what is asked for, surest first, a few of each repository and kind; they have no rank."""
    ranked = sorted((row for row in _stated(asked, index, without) if row[1] < _SHOWN), key=lambda row: -row[0])
    return (replace(shown.hit(work, *place[:3]), rank=0) for _, _, _, work, place in ranked[:_MOST])


def _stated(
    asked: Sequence[tuple[MechanismKind, float]], held: SettledIndex, without: AbstractSet[str]
) -> Iterator[tuple[float, int, MechanismKind, WorkId, StatementPlace]]:
    """(how surely it settles the question, its number in its work, kind, work, statement) of each statement of the kinds that are asked for."""
    for kind, share in asked:
        works = (stating for stating in held.statements(kind) if stating.work not in without)
        for nth_work, (work, standing, places) in enumerate(works):
            for nth, place in enumerate(places):
                yield share * _worth(place.score, standing, nth_work, nth), nth, kind, work, place


def _worth(score: float, standing: float, nth_work: int, nth: int) -> float:
    """0..1: how much a statement says, by itself and among those of its repository, and how much its repository speaks for the target."""
    return (min(max(score, 0.0), _FULL) / _FULL + min(standing, 1.5) + 0.8 / (1 + nth_work) + 1.4 / (1 + nth)) / 4.7


class Deciders:
    """How much code speaks for a target whatever is asked: by how many kinds of decisions it takes, by whose it is, and by what its file is for."""

    def __init__(self, catalog: Catalog, relations: WorkRelations) -> None:
        self._catalog, self._relations = catalog, relations
        self._whose: dict[WorkId, float] = {}
        self._worth: dict[str, float] = {}

    def worth(self, chunk: Chunk) -> float:
        """What a passage of code is worth, in deviations of the fused score."""
        if chunk.id not in self._worth:
            self._worth[chunk.id] = self._of(chunk)
        return self._worth[chunk.id]

    def _of(self, chunk: Chunk) -> float:
        if chunk.work not in self._whose:
            edge = self._relations.of(chunk.work).reference
            near = _NEAR * edge.score / edge.distance if edge else 0.0
            self._whose[chunk.work] = self._precedence.weight(evidence(chunk, self._relations), "") + near
        of_place = _LONG * math.log1p(chunk.end_line - chunk.start_line) - _DEEP * chunk.path.count("/")
        profile = self._relations.file(chunk)
        roles = {*(profile.roles if profile else ()), *named_roles(chunk.path)}
        of_file = _RUN * (not _RUNS.isdisjoint(roles)) - _ASIDE * (not ASIDE.isdisjoint(roles))
        return _MANY * math.log1p(self._kinds.get(chunk.id, 0)) + self._whose[chunk.work] + of_file + of_place

    @cached_property
    def _kinds(self) -> Mapping[str, int]:
        return self._catalog.deciding()

    @cached_property
    def _precedence(self) -> Precedence:
        return Precedence.of_meta(self._catalog.meta())


def _by_words(question: str) -> np.ndarray:
    scores = _scores()
    return sum((scores[term] for term in set(terms(question)) if term in scores), np.zeros(len(kinds())))


@cache
def _scores() -> Mapping[str, np.ndarray]:
    """By word the BM25 score of each kind, (kinds,)."""
    documents = [Counter(_words(kind)) for kind in kinds()]
    lengths = np.array([document.total() for document in documents])
    norms = _BM25_K * (1 - _BM25_B + _BM25_B * lengths / lengths.mean())
    often = {term: np.array([document[term] for document in documents]) for term in {term for document in documents for term in document}}
    rarity = {term: math.log(1 + (len(documents) - count + 0.5) / (count + 0.5)) for term, count in ((t, (n > 0).sum()) for t, n in often.items())}
    return {term: rarity[term] * count * (_BM25_K + 1) / (count + norms) for term, count in often.items()}


def _words(kind: MechanismKind) -> list[str]:
    """The words of its title, its name and its phrases; those of calls say nothing that a question would."""
    texts = [kind.title] * _TITLE + [kind.name.replace("_", " ")] * _NAME + [" ".join(phrase) for phrase in (*kind.states, *kind.applies)]
    return [term for text in texts for term in terms(text) if term not in STOP]


def _vectors(table: WordEmbedder) -> Vectors:
    """The vector of each kind's title and name, made once for a table."""
    if table.id not in _KEPT:
        _KEPT[table.id] = table.passages([_described(kind) for kind in kinds()])
    return _KEPT[table.id]


_KEPT: dict[str, Vectors] = {}


def _described(kind: MechanismKind) -> str:
    return f"{kind.title}. {kind.name.replace('_', ' ')}."
