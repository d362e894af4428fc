"""Where code decides something of a known kind: the statements of each repository that say most, by how they were recognized and where they stand.

The statements are facts of the catalogue (`indexer.extraction.mechanisms`), read kind by kind. A build keeps what search wants of them
(`retrieval.decisions.settled`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from lineage.file_roles import ASIDE, named_roles
from lineage.records import Chunk, Fact, Focus, Hit, Tier, WorkId
from lineage.results import FactOccurrence
from lineage.text.tokens import parts
from retrieval.decisions.fact_index import since
from retrieval.decisions.provenance import evidence

if TYPE_CHECKING:
    from lineage.catalog.reader import Catalog
    from lineage.hyperparameters.mechanisms import MechanismKind
    from retrieval.decisions.precedence import Precedence
    from retrieval.search.work_relations import WorkRelations

PLACES = 5
"""Places of one repository."""
_HOW = {
    "call": 3.0,
    "branch": 3.0,
    "code": 2.7,
    "definition": 2.6,
    "option": 2.6,
    "keyword": 2.0,
    "assignment": 2.0,
    "config": 2.2,
    "parameter": 1.6,
    "computed": 0.3,
}
"""How much a statement says of a mechanism by how it was recognized."""
_LEAST = 1.5
_ASIDE, _NEAR = 3.0, 12
_FILES: Mapping[str, frozenset[str]] = {
    room: frozenset(words.split())
    for room, words in {
        "training": "train trainer training main engine pretrain finetune optim optimizer losses loss sched run lib",
        "model": "model models module modules modeling net network transformer layers nets vit arch vae",
        "data": "data dataset datasets transforms transform preprocess preprocessing loader dataloader crop augment train main",
        "evaluation": "eval evaluate evaluation test metrics metric sample sampler generate fid engine main evaluator ddp",
        "sampling": "sample sampler samplers sampling generate diffusion model models engine inference",
    }.items()
}
_ROOMS: Mapping[str, tuple[str, ...]] = {
    "architecture": ("model",),
    "diffusion": ("model", "sampling"),
    "initialization": ("model",),
    "loss": ("training", "model"),
    "data": ("data",),
    "preprocessing": ("data",),
    "evaluation": ("evaluation",),
    "sampling": ("sampling",),
    "decoding": ("sampling",),
}
_TRAINING_ROOM = ("training",)
_TRAINED = {"training": 0.6, "data": 0.3}
"""What a file in which training goes on says more of the mechanisms of these rooms than others."""
_STRAY = frozenset("demo demos notebooks legacy benchmark benchmarks scratch old deprecated visualization vis plot plots analysis".split())
_DOES = re.compile(r"train|step|main|loop|loss|init|forward|optim|sampl|eval", re.IGNORECASE)


@dataclass(frozen=True)
class HeldPlace:
    """One statement with its evidence and how much it says."""

    occurrence: FactOccurrence
    score: float


class RankedWork(NamedTuple):
    """A work with how much it speaks for the target, and its statements that say most, each with how much it says, best first."""

    work: WorkId
    standing: float
    facts: tuple[tuple[float, Fact], ...]


class _File(NamedTuple):
    """A file: how well it stands for its repository, the rooms that its name speaks of, whether training goes on in it, and whether it says
    little of what was run."""

    standing: float
    rooms: frozenset[str]
    trains: bool
    is_aside: bool


def _rank(standing: float, score: float) -> float:
    return standing + min(score, 4.0) / 8


class MechanismPlaces:
    """The statements of a generation by kind."""

    def __init__(self, catalog: Catalog, relations: WorkRelations, precedence: Precedence) -> None:
        self._catalog, self._relations, self._precedence = catalog, relations, precedence
        self._chunks: dict[str, Chunk] = {}
        self._files: dict[tuple[WorkId, str], _File] = {}
        self._facts: dict[str, tuple[Fact, ...]] = {}
        self._held: dict[str, list[list[HeldPlace]]] = {}

    def facts(self, kind: str) -> tuple[Fact, ...]:
        """The statements of one kind, in the order of the catalogue."""
        if kind not in self._facts:
            facts = self._catalog.mechanisms(kind)
            rows = self._catalog.rows_of(fact.chunk for fact in facts if fact.chunk not in self._chunks)
            self._chunks.update((outline.chunk.id, outline.chunk) for outline in self._catalog.outlines(rows).values())
            self._facts[kind] = facts
        return self._facts[kind]

    def of(self, kind: MechanismKind) -> list[list[HeldPlace]]:
        """The statements of each repository that say most, the ancestor of the part first."""
        if kind.name not in self._held:
            ranked = self.ranked(kind, PLACES)
            chunks = self._catalog.chunks_of(fact.chunk for of_work in ranked for _, fact in of_work.facts)
            self._held[kind.name] = [[self._held_place(kind, fact, chunks[fact.chunk], score) for score, fact in of_work.facts] for of_work in ranked]
        return self._held[kind.name]

    def ranked(self, kind: MechanismKind, most: int) -> list[RankedWork]:
        """The same without their texts, at most so many statements of each."""
        held = sorted(self.facts(kind.name), key=lambda fact: fact.work)
        by_work = (self._ranked(kind, WorkId(work), list(facts), most) for work, facts in groupby(held, key=lambda fact: fact.work))
        return sorted(filter(None, by_work), key=lambda ranked_work: -_rank(ranked_work.standing, ranked_work.facts[0][0]))

    def rank(self, kind: MechanismKind, places: Sequence[HeldPlace]) -> float:
        """How much a repository's statements speak for the target: by whose they are, then by the best of them."""
        return _rank(self._standing(kind, places[0].occurrence.evidence), places[0].score)

    def _standing(self, kind: MechanismKind, hit: Hit) -> float:
        """How much the work of a statement speaks for the target: what is the target's own above all, else 0..2."""
        return 10.0 * hit.from_target + self._precedence.weight(hit, kind.topic)

    def _ranked(self, kind: MechanismKind, work: WorkId, facts: Sequence[Fact], most: int) -> RankedWork | None:
        """The statements of one repository that say most, one a stretch of code; None where only names by the way are found."""
        relation = self._relations.of(work)
        if relation.work.kind != "code" or (relation.tier is Tier.MENTIONED and relation.paper is not None):
            return None
        often = Counter(fact.written for fact in facts)
        defined = {fact.written for fact in facts if fact.said == "definition"}
        scored = [(self._score(kind, fact, often[fact.written], fact.said == "call" and fact.written in defined), fact) for fact in facts]
        chosen: list[tuple[float, Fact]] = []
        for score, fact in sorted((row for row in scored if row[1].chunk in self._chunks), key=lambda row: -row[0]):
            path = self._chunks[fact.chunk].path
            if all(path != self._chunks[other.chunk].path or abs(fact.line - other.line) > _NEAR for _, other in chosen):
                chosen.append((score, fact))
            if len(chosen) == most:
                break
        if not chosen or chosen[0][0] < _LEAST:
            return None
        first = self._chunks[chosen[0][1].chunk]
        return RankedWork(work, self._standing(kind, evidence(replace(first, work=work), self._relations)), tuple(chosen))

    def _held_place(self, kind: MechanismKind, fact: Fact, chunk: Chunk, score: float) -> HeldPlace:
        hit = evidence(chunk if chunk.work == fact.work else replace(chunk, work=fact.work), self._relations, fact.line)
        hit = replace(hit, focus=Focus(fact.line, max(fact.line, fact.end_line)))
        return HeldPlace(FactOccurrence(replace(fact, name=kind.name), hit, since(hit.work)), score)

    def _score(self, kind: MechanismKind, fact: Fact, often: int, defined: bool) -> float:
        return _HOW.get(fact.said, 1.0) + self._fits(kind, fact) - 0.25 * math.log(often) - defined

    @cached_property
    def _training(self) -> frozenset[tuple[WorkId, str]]:
        """The files in which a loss is propagated or an optimizer makes a step."""
        steps = [fact for fact in self.facts("optimizer_step") if fact.said == "call"]
        chunks = ((fact.work, self._chunks.get(fact.chunk)) for fact in steps)
        return frozenset((work, chunk.path) for work, chunk in chunks if chunk)

    def _fits(self, kind: MechanismKind, fact: Fact) -> float:
        """How well a file and a function are those where a mechanism is decided."""
        chunk = self._chunks.get(fact.chunk)
        if chunk is None:
            return 0.0
        file, rooms = self._file(fact.work, chunk), _ROOMS.get(kind.topic, _TRAINING_ROOM)
        score = file.standing + (not file.rooms.isdisjoint(rooms)) + _TRAINED.get(rooms[0], 0.0) * file.trains
        return score - _ASIDE * file.is_aside + 0.4 * bool(_DOES.search(fact.scope))

    def _file(self, work: WorkId, chunk: Chunk) -> _File:
        """What the file of a chunk is, whatever is decided in it, found once."""
        key = (work, chunk.path)
        if key not in self._files:
            self._files[key] = self._file_of(work, chunk)
        return self._files[key]

    def _file_of(self, work: WorkId, chunk: Chunk) -> _File:
        *folders, file = chunk.path.lower().split("/")
        file_words = {word for part in (*folders, file.rpartition(".")[0]) for word in parts(part)}
        mine = work.lower().rpartition("/")[2].replace("-", "_")
        standing = 0.3 * (mine in (folder.replace("-", "_") for folder in folders)) - 0.15 * len(folders)
        rooms = frozenset(room for room, names in _FILES.items() if file_words & names)
        profile = self._relations.file(chunk if chunk.work == work else replace(chunk, work=work))
        roles = {*(profile.roles if profile else ()), *named_roles(chunk.path)}
        known = ASIDE.isdisjoint(roles) and _STRAY.isdisjoint(file_words)
        return _File(standing, rooms, (work, chunk.path) in self._training, not known)
