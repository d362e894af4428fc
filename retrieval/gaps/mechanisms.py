"""Decisions that code takes and papers leave out: one row a mechanism, with the places in cited repositories that settle it. Pure but for reading.

The statements are facts of the catalogue (`indexer.extraction.mechanisms`); here they are chosen for a target: kinds that do not apply
to it are left out, one offer is what one repository does, and the ancestor of the part comes first.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from lineage.citation import pinpoint
from lineage.hyperparameters.mechanisms import MechanismKind, kinds
from lineage.hyperparameters.terms import fold
from lineage.hyperparameters.values import number
from lineage.records import MECHANISM, Fact, Hit
from lineage.results import Detail, Gap, GapReason, Grade, Specification, Suggestion
from lineage.text.phrases import Phrases, words
from retrieval.decisions import target_text as text
from retrieval.decisions.mechanism_places import HeldPlace, MechanismPlaces
from retrieval.decisions.precedence import role, role_name
from retrieval.decisions.target_text import OWN, TargetSentence, TargetText
from retrieval.gaps.offers import ANCESTOR, UNKNOWN, Context, chain
from retrieval.search.engine import Engine

OFFERS = 5
"""Repositories of one row."""
_NAMED, _INHERITED = 3, 2
"""Sentences of the target that must use a phrase for a kind to apply; fewer where it is found in the ancestor of the part."""
_SURE = 2
"""The band of precedence from which on a work is beyond doubt the ancestor of a part."""
_LEADING, _CONSENSUS = 3, 0.15
"""Foremost statements of a repository that others may agree with, and what twice as many works that do count."""
_TRAINS = "training"
_ALWAYS = frozenset(("seeds", "evaluation", "data", "prompting", "decoding"))


class Mechanisms:
    """The mechanisms of a lineage, chosen for its target."""

    def __init__(
        self, engine: Engine, target_text: TargetText, context: Context, domains: Iterable[str], places: MechanismPlaces | None = None
    ) -> None:
        self.engine = engine
        self.target_text = target_text
        self.context = context
        self.domains = frozenset(domains)
        self.places = places or MechanismPlaces(engine.generation.catalog, engine.relations, context.precedence)

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
        return [*known.values(), *added]

    # -- what applies

    def _applies(self, kind: MechanismKind) -> bool:
        if not self.places.facts(kind.name) or not (kind.topic in _ALWAYS or self.domains & {_TRAINS} or kind.applies):
            return False
        return not kind.applies or self._spoken(kind) >= _INHERITED

    def _spoken(self, kind: MechanismKind) -> int:
        """The sentences of the target that use the phrase by which a kind applies that it uses most."""
        return max((self._phrases[phrase] for phrase in kind.wanted), default=0)

    @cached_property
    def _phrases(self) -> Counter[tuple[str, ...]]:
        """How many sentences of the target use each phrase, those of title and abstract more than once."""
        phrases = {phrase: phrase for kind in kinds() for phrase in (*kind.wanted, *kind.states)}
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
        """What each repository does, the ancestor of the part first; none where neither an ancestor nor two works decide it."""
        offers = self.places.of(kind)
        band = max((self._band(kind, some[0].occurrence.evidence) for some in offers), default=0)
        if (not band and len(offers) < 2) or (band < _SURE and kind.applies and self._spoken(kind) < _NAMED):
            return []
        groups = sorted(_agreeing(offers), key=lambda some: -self._rank(kind, some))
        return [self._suggestion(some, len(offers)) for some in groups[:OFFERS]]

    def _rank(self, kind: MechanismKind, places: Sequence[HeldPlace]) -> float:
        """How much the repositories of an offer speak for the target: the first by whose it is, and how many agree with it."""
        return self.places.rank(kind, places) + _CONSENSUS * math.log2(_works(places))

    def _band(self, kind: MechanismKind, hit: Hit) -> int:
        return _SURE if hit.from_target else self.context.precedence.band(hit, kind.topic)

    def _suggestion(self, places: Sequence[HeldPlace], everyone: int) -> Suggestion:
        first = places[0].occurrence
        grade, reason = _graded(first.evidence, _works(places), everyone)
        links = chain(first.evidence, self.context, (), f"does so at {pinpoint(first.evidence)}")
        return Suggestion(first.fact.value, "", grade, reason, tuple(place.occurrence for place in places), chain=links)

    def _row(self, kind: MechanismKind, offers: Sequence[Suggestion], stated: Sequence[Hit]) -> Gap:
        """A row of its own; where the target speaks of the mechanism (`stated`, or a sentence with its phrases) it is open in part."""
        detail = Detail(MECHANISM + kind.name, kind.title, kind.topic, f"{kind.title}?", weight=kind.weight)
        sentence = self._stating(kind)
        shown = tuple(stated[:1]) or ((text.hit(sentence, self.target_text.work, sentence.weight),) if sentence else ())
        if not shown:
            return Gap(detail, Specification.UNSPECIFIED, suggestions=tuple(offers), reason=GapReason.NOT_NAMED)
        return Gap(detail, Specification.PARTIALLY_SPECIFIED, shown, suggestions=tuple(offers), reason=GapReason.CODE_SAYS_HOW)


def _agreeing(offers: Sequence[Sequence[HeldPlace]]) -> list[list[HeldPlace]]:
    """The statements of each repository, best first; what others do that is the same as a foremost statement goes behind it."""
    groups: list[list[HeldPlace]] = []
    leads: list[Sequence[HeldPlace]] = []
    for places in offers:
        rest = list(places)
        for group, lead in zip(groups, leads, strict=True):
            if same := next((place for place in rest if any(agree(place.occurrence.fact, other.occurrence.fact) for other in lead)), None):
                group.append(same)
                rest = [place for place in rest if place is not same]
        if rest:
            groups.append(rest)
            leads.append(rest[:_LEADING])
    return groups


def _works(places: Iterable[HeldPlace]) -> int:
    return len({place.occurrence.fact.work for place in places})


def _graded(hit: Hit, agreeing: int, everyone: int) -> tuple[Grade, str]:
    """How well a statement speaks for the target, and why: by whose it is, and how many do the same."""
    if hit.from_target:
        return "strong", "the target's own code does so"
    others = (
        f"; {agreeing} of {everyone} works do the same"
        if agreeing > 1
        else f"; {everyone} works decide it"
        if everyone > 1
        else "; nobody else decides it"
    )
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


_VALUED = frozenset(("option", "keyword", "assignment", "config", "parameter"))
"""How statements are recognized that give one name a value."""
_CALLED = re.compile(r"([A-Za-z_]\w{0,60})\s*\(")
_LITERAL = re.compile(r"(?<![\w.])(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w)|\b(?:True|False|None|true|false)\b|[\"'][^\"']{0,40}[\"']")
_GIVEN = r"\b{}\W{{0,3}}?\s*[=:]\s*([^,)]{{1,60}})"
_DEFAULT = re.compile(r"\bdefault\s*=\s*([^,)]{1,60})")
_ALIKE = 0.5
"""Share of called functions from which on two statements do the same."""


@dataclass(frozen=True)
class Essence:
    """What a statement comes down to: the names that it calls or sets, and its literals; `is_named`: it gives one name a value."""

    names: frozenset[str]
    literals: frozenset[str]
    is_named: bool

    def agrees(self, other: Essence) -> bool:
        """Whether both decide the same; a name that is set to no literal decides nothing."""
        if self.is_named != other.is_named or self.literals != other.literals or not (self.names and other.names):
            return False
        if self.is_named:
            return bool(self.literals) and self.names == other.names
        return len(self.names & other.names) >= _ALIKE * len(self.names | other.names)


def agree(fact: Fact, other: Fact) -> bool:
    """Whether two statements of one kind decide the same."""
    return essence(fact).agrees(essence(other))


@lru_cache(maxsize=1 << 14)
def essence(fact: Fact) -> Essence:
    """What a statement comes down to."""
    written = fact.written.rpartition(".")[2]
    if fact.said in _VALUED:
        given = _DEFAULT.search(fact.value) if fact.said == "option" else re.search(_GIVEN.format(re.escape(written)), fact.value)
        return Essence(frozenset({fold(written)}), frozenset(_literals(given[1] if given else "")), True)
    if fact.said == "definition":
        return Essence(frozenset({fold(written)}), frozenset(), False)
    return Essence(frozenset(map(fold, _CALLED.findall(fact.value))), frozenset(_literals(fact.value)), False)


def _literals(text: str) -> Iterator[str]:
    """The literals of a statement, numbers by their value."""
    for literal in _LITERAL.findall(text):
        value = number(literal)
        yield literal.strip("\"'").lower() if value is None else str(float(value))
