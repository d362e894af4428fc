"""Decisions that code takes and papers leave out: one row a mechanism, with the places in cited repositories that settle it. Pure but for reading.

The statements are facts of the catalogue (`indexer.extraction.mechanisms`); here they are chosen for a target: kinds that do not apply
to it are left out, one offer is what one repository does, and the ancestor of the part comes first.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby

from lineage.citation import pinpoint
from lineage.file_roles import ASIDE, named_roles
from lineage.hyperparameters.mechanisms import OTHER, PREFIX, MechanismKind, kinds
from lineage.records import Fact, Focus, Hit, Tier, WorkId
from lineage.results import Detail, FactOccurrence, Gap, GapReason, Grade, Specification, Suggestion
from lineage.text.phrases import Phrases, words
from lineage.text.tokens import parts
from retrieval.decisions import target_text as text
from retrieval.decisions.fact_index import since
from retrieval.decisions.precedence import role, role_name
from retrieval.decisions.provenance import evidence
from retrieval.decisions.target_text import OWN, TargetSentence, TargetText
from retrieval.gaps.offers import ANCESTOR, UNKNOWN, Context, chain
from retrieval.search.engine import Engine

PLACES, OFFERS = 5, 5
"""Places that are shown of one repository, and repositories of one row."""
_NAMED, _INHERITED = 3, 2
"""Sentences of the target that must use a phrase for a kind to apply; fewer where it is found in the ancestor of the part."""
_SURE = 2
"""The band of precedence from which on a work is beyond doubt the ancestor of a part."""
_HOW = {
    "call": 3.0,
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
_OTHER = MechanismKind(OTHER.removeprefix(PREFIX), "Further calls", "optimizer", 0.1)
_OTHERS, _OTHERS_LEAST = 8, 4.5
"""Calls that no kind names: how many make a row, and how much one must say: it stands in a file in which training goes on."""
_ASIDE, _NEAR = 3.0, 12
_FILES: Mapping[str, frozenset[str]] = {
    "training": frozenset(
        ("train", "trainer", "training", "main", "engine", "pretrain", "finetune", "optim", "optimizer", "losses", "loss", "sched", "run", "lib")
    ),
    "model": frozenset(("model", "models", "module", "modules", "modeling", "net", "network", "transformer", "layers", "nets", "vit", "arch", "vae")),
    "data": frozenset(
        (
            "data",
            "dataset",
            "datasets",
            "transforms",
            "transform",
            "preprocess",
            "preprocessing",
            "loader",
            "dataloader",
            "crop",
            "augment",
            "train",
            "main",
        )
    ),
    "evaluation": frozenset(
        ("eval", "evaluate", "evaluation", "test", "metrics", "metric", "sample", "sampler", "generate", "fid", "engine", "main", "evaluator", "ddp")
    ),
    "sampling": frozenset(("sample", "sampler", "samplers", "sampling", "generate", "diffusion", "model", "models", "engine", "inference")),
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
_TRAINED = {"training": 0.6, "data": 0.3}
"""What a file in which training goes on says more of the mechanisms of these rooms than others."""
_STRAY = frozenset(
    (
        "demo",
        "demos",
        "notebooks",
        "legacy",
        "benchmark",
        "benchmarks",
        "scratch",
        "old",
        "deprecated",
        "visualization",
        "vis",
        "plot",
        "plots",
        "analysis",
    )
)
_TRAINS = "training"
_ALWAYS = frozenset(("seeds", "evaluation", "data", "prompting", "decoding"))
_HELD_OUT = re.compile(r"\b(val|eval|test)_\w+|_(val|eval|test)\b")
_LOGS = re.compile(r"Meter\b|Logger\b|SmoothedValue|Visuali[sz]|Writer\b|^(plot|log|print|show|draw)_")
_DOES = re.compile(r"train|step|main|loop|loss|init|forward|optim|sampl|eval", re.IGNORECASE)


@dataclass(frozen=True)
class _HeldPlace:
    """One statement with its evidence and how much it says."""

    occurrence: FactOccurrence
    score: float

    @property
    def where(self) -> tuple[str, int]:
        """File and line."""
        return self.occurrence.evidence.chunk.path, self.occurrence.fact.line


class Mechanisms:
    """The mechanisms of a lineage, chosen for its target."""

    def __init__(self, engine: Engine, target_text: TargetText, context: Context, domains: Iterable[str]) -> None:
        self.engine = engine
        self.target_text = target_text
        self.context = context
        self.domains = frozenset(domains)
        self.facts: dict[str, list[Fact]] = defaultdict(list)
        self._chunk = cache(engine.generation.catalog.chunk)
        for fact in engine.generation.catalog.mechanisms():
            self.facts[fact.name.removeprefix(PREFIX)].append(fact)

    def rows(self, gaps: Sequence[Gap]) -> list[Gap]:
        """The report with a row for every mechanism that applies and that somebody settles; what a row of the list asks for already goes to it."""
        known = {gap.detail.name: gap for gap in gaps}
        added = []
        for kind in filter(self._applies, kinds()):
            offers = self._offers(kind)
            covered = [known[name] for name in kind.covers if name in known]
            if not offers or any(gap.state is Specification.SPECIFIED for gap in covered if kind.settled):
                continue
            if row := next((gap for gap in covered if gap.state is not Specification.SPECIFIED), None):
                detail = replace(row.detail, weight=max(row.detail.weight, kind.weight))
                known[detail.name] = replace(row, detail=detail, suggestions=_merged(row.suggestions, offers))
            else:
                added.append(self._row(kind, offers, [hit for gap in covered for hit in gap.stated[:1]]))
        return [*known.values(), *added, *self._others()]

    # -- what applies

    def _applies(self, kind: MechanismKind) -> bool:
        if kind.name not in self.facts or not (kind.topic in _ALWAYS or self.domains & {_TRAINS} or kind.applies):
            return False
        return not kind.applies or self._spoken(kind) >= _INHERITED

    def _spoken(self, kind: MechanismKind) -> int:
        """The sentences of the target that use the phrase by which a kind applies that it uses most."""
        return max((self._phrases[phrase] for phrase in kind.applies), default=0)

    @cached_property
    def _phrases(self) -> Counter[tuple[str, ...]]:
        """How many sentences of the target use each phrase, those of title and abstract more than once."""
        phrases = {phrase: phrase for kind in kinds() for phrase in (*kind.applies, *kind.states)}
        table = Phrases(phrases)
        counts: Counter[tuple[str, ...]] = Counter()
        for sentence in self.target_text.sentences:
            if sentence.weight >= OWN and not sentence.table:
                counts.update(set(table.found(sentence.words)))
        for phrase in table.found(words(f"{self.target_text.work.title} {self.target_text.work.abstract}")):
            counts[phrase] += _NAMED
        return counts

    def _stating(self, kind: MechanismKind) -> TargetSentence | None:
        """The sentence by which the target speaks of a mechanism, of what was done first."""
        if not any(self._phrases[phrase] for phrase in kind.states):
            return None
        table = Phrases(dict.fromkeys(kind.states, kind.name))
        speaking = [sentence for sentence in self.target_text.sentences if sentence.weight >= OWN and not sentence.caption and sentence.has(table)]
        return max(speaking, key=lambda sentence: sentence.weight, default=None)

    # -- what is offered

    def _offers(self, kind: MechanismKind) -> list[Suggestion]:
        """What each repository does, the ancestor of the part first."""
        held = sorted(self.facts[kind.name], key=lambda fact: fact.work)
        offers = [
            (work, some) for work, facts in groupby(held, key=lambda fact: fact.work) if (some := self._places(kind, WorkId(work), list(facts)))
        ]
        if not offers:
            return []
        ranked = sorted(offers, key=lambda offer: -self._rank(kind, offer[1]))
        band = max(self._band(kind, some[0].occurrence.evidence) for _, some in ranked)
        if (not band and len(ranked) < 2) or (band < _SURE and kind.applies and self._spoken(kind) < _NAMED):
            return []
        return [self._suggestion(some, len(ranked)) for _, some in ranked[:OFFERS]]

    def _band(self, kind: MechanismKind, hit: Hit) -> int:
        return _SURE if hit.from_target else self.context.precedence.band(hit, kind.topic)

    def _rank(self, kind: MechanismKind, places: Sequence[_HeldPlace]) -> float:
        hit = places[0].occurrence.evidence
        return 10.0 * hit.from_target + self.context.precedence.weight(hit, kind.topic) + min(places[0].score, 4.0) / 8

    def _places(self, kind: MechanismKind, work: WorkId, facts: Sequence[Fact]) -> list[_HeldPlace]:
        """The statements of one repository that say most, one a stretch of code; none where only names by the way are found."""
        relation = self.engine.kinship.of(work)
        if relation.work.kind != "code" or (relation.tier is Tier.MENTIONED and relation.paper is not None):
            return []
        often = Counter(fact.written for fact in facts)
        defined = {fact.written for fact in facts if fact.said == "definition"}
        placed = (self._place(kind, fact, often[fact.written], fact.said == "call" and fact.written in defined) for fact in facts)
        places = sorted(filter(None, placed), key=lambda place: -place.score)
        chosen: list[_HeldPlace] = []
        for place in places:
            path, line = place.where
            if all(path != other or abs(line - at) > _NEAR for other, at in (some.where for some in chosen)):
                chosen.append(place)
            if len(chosen) == PLACES:
                break
        return chosen if chosen and chosen[0].score >= _LEAST else []

    def _place(self, kind: MechanismKind, fact: Fact, often: int, defined: bool) -> _HeldPlace | None:
        """A statement with its evidence; where the repository defines what it calls, the definition says more."""
        chunk = self._chunk(fact.chunk)
        if chunk is None:
            return None
        hit = evidence(chunk if chunk.work == fact.work else replace(chunk, work=fact.work), self.engine.kinship, fact.line)
        hit = replace(hit, focus=Focus(fact.line, max(fact.line, fact.end_line)))
        occurrence = FactOccurrence(replace(fact, name=kind.name), hit, since(hit.work))
        return _HeldPlace(occurrence, _HOW.get(fact.said, 1.0) + self._fits(kind, occurrence) - 0.25 * math.log(often) - defined)

    @cached_property
    def _training(self) -> frozenset[tuple[WorkId, str]]:
        """The files in which a loss is propagated or an optimizer makes a step."""
        steps = [fact for fact in self.facts["optimizer_step"] if fact.said == "call"]
        chunks = ((fact.work, self._chunk(fact.chunk)) for fact in steps)
        return frozenset((work, chunk.path) for work, chunk in chunks if chunk)

    def _fits(self, kind: MechanismKind, occurrence: FactOccurrence) -> float:
        """How well a file and a function are those where a mechanism is decided."""
        hit, fact = occurrence.evidence, occurrence.fact
        *folders, file = hit.chunk.path.lower().split("/")
        file_words = {word for part in (*folders, file.rpartition(".")[0]) for word in parts(part)}
        rooms = _ROOMS.get(kind.topic, ("training",))
        score = max((1.0 for room in rooms if file_words & _FILES[room]), default=0.0) - 0.15 * len(folders)
        score += _TRAINED.get(rooms[0], 0.0) * ((hit.work.id, hit.chunk.path) in self._training)
        mine = hit.work.id.lower().rpartition("/")[2].replace("-", "_")
        score += 0.3 * (mine in (folder.replace("-", "_") for folder in folders)) - 0.6 * bool(_HELD_OUT.search(fact.value) and "training" in rooms)
        known = ASIDE.isdisjoint({*hit.roles, *named_roles(hit.chunk.path)}) and _STRAY.isdisjoint(file_words)
        aside = not known or not self.context.foreign.isdisjoint(file_words) or _LOGS.search(fact.scope) is not None
        return score - _ASIDE * aside + 0.4 * bool(_DOES.search(fact.scope))

    def _suggestion(self, places: Sequence[_HeldPlace], everyone: int) -> Suggestion:
        first = places[0].occurrence
        grade, reason = _graded(first.evidence, everyone)
        links = chain(first.evidence, self.context, (), f"does so at {pinpoint(first.evidence)}")
        return Suggestion(first.fact.value, "", grade, reason, tuple(place.occurrence for place in places), chain=links)

    def _others(self) -> list[Gap]:
        """Rows of what no kind names: calls of a framework where ancestors train, by the function that is called."""
        calls: dict[str, list[_HeldPlace]] = defaultdict(list)
        for fact in self.facts[_OTHER.name]:
            place = self._place(_OTHER, fact, 1, False)
            if place and place.score >= _OTHERS_LEAST and self._band(_OTHER, place.occurrence.evidence) >= _SURE:
                calls[fact.written].append(place)
        ranked = sorted(calls.items(), key=lambda called: -max(place.score for place in called[1]))[:_OTHERS]
        return [self._other(called, sorted(places, key=lambda place: -place.score)) for called, places in ranked]

    def _other(self, called: str, places: Sequence[_HeldPlace]) -> Gap:
        works = list(dict.fromkeys(place.occurrence.fact.work for place in places))
        offers = [self._suggestion([place for place in places if place.occurrence.fact.work == work][:PLACES], len(works)) for work in works[:OFFERS]]
        detail = Detail(f"{PREFIX}{called}", f"What {called} does in training", _OTHER.topic, f"What does {called} do?", weight=_OTHER.weight)
        return Gap(detail, Specification.UNSPECIFIED, suggestions=tuple(offers), reason=GapReason.ANCESTOR_CALLS)

    def _row(self, kind: MechanismKind, offers: Sequence[Suggestion], stated: Sequence[Hit]) -> Gap:
        """A row of its own; where the target speaks of the mechanism (`stated`, or a sentence with its phrases) it is open in part."""
        detail = Detail(PREFIX + kind.name, kind.title, kind.topic, f"{kind.title}?", weight=kind.weight)
        sentence = self._stating(kind)
        shown = tuple(stated[:1]) or ((text.hit(sentence, self.target_text.work, sentence.weight),) if sentence else ())
        if not shown:
            return Gap(detail, Specification.UNSPECIFIED, suggestions=tuple(offers), reason=GapReason.NOT_NAMED)
        return Gap(detail, Specification.PARTIALLY_SPECIFIED, shown, suggestions=tuple(offers), reason=GapReason.CODE_SAYS_HOW)


def _graded(hit: Hit, everyone: int) -> tuple[Grade, str]:
    """How well a statement of one repository speaks for the target, and why: by whose it is, for statements do not agree as values do."""
    if hit.from_target:
        return "strong", "the target's own code does so"
    others = f"; {everyone} works decide it" if everyone > 1 else "; nobody else decides it"
    if role(hit) >= ANCESTOR:
        return "fair", f"an ancestor of the target ({role_name(hit)}) does so{others}"
    return "weak", f"a work that the target cites ({role_name(hit) or UNKNOWN}) does so{others}"


def _merged(values: Sequence[Suggestion], offers: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Offers of values and of statements of one detail, by repository: a value with the statements of its own, the values in their order."""
    rest, joined = list(values), []
    for offer in offers:
        if not (rest and rest[0].held and rest[0].held[0].fact.work == offer.held[0].fact.work):
            joined.append(offer)
            continue
        first, *others = rest[0].held
        joined.append(replace(rest.pop(0), held=(first, *offer.held, *others)))
    return (*joined, *rest)
