"""What a reproduction needs to know, by kind of paper: the list against which a target is held. Pure.

The list is data (`data/details.json`, with its provenance); a user's own file of the same form adds to it or replaces
rows by name. A domain is recognized by its terms, and the terms that spoke are told, so that a wrong list can be seen
for what it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lineage.hyperparameters.ontology import ontology
from lineage.hyperparameters.terms import american
from lineage.results import Detail
from lineage.tables import own, packaged
from lineage.text.phrases import Phrase, Phrases, phrase, words

ALWAYS = "any"
"""The domain of details that every paper needs."""
_TRAINS = "training"
_TITLE, _ABSTRACT, _SAID = 4.0, 2.0, 4.0
_SHARE = 0.25
_MOST_DOMAINS = 5
_TOLD = 5
_NUMBER, _COUNT, _WORDS = "number", "count", "words"
_COUNTED = frozenset(("num", "n", "number"))
_LEANING = frozenset(("of", "for", "with", "by", "to"))
"""Last words of names that need a number behind them, and say nothing without."""


@dataclass(frozen=True)
class Domain:
    """A kind of paper: its terms with their weight, and the score that is `needed` for a paper to be of it.

    A `basic` one (papers that train something) is kept beside domains that score far higher; others bring what they imply.
    """

    name: str
    title: str
    needed: float
    terms: Mapping[Phrase, float]
    basic: bool = False
    implies: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChecklistItem:
    """A detail, the domains that need it, and how prose states it.

    `mentions` are phrases by which it is named. A mention states it if a number stands beside it (`number`), if one of
    the phrases `choices` stands in the sentence, or (`words`) of itself; `whole`: only a whole number does.
    """

    detail: Detail
    domains: frozenset[str]
    mentions: tuple[Phrase, ...]
    number: bool = False
    whole: bool = False
    choices: tuple[Phrase, ...] = ()
    words: bool = False

    @property
    def of_a_domain(self) -> bool:
        """Whether only some kinds of paper need it, other than all that train something."""
        return self.domains.isdisjoint((ALWAYS, _TRAINS))


@dataclass(frozen=True)
class DetectedDomain:
    """A domain that a paper is taken for, with its score and the terms that speak for it, loudest first."""

    name: str
    title: str
    score: float
    terms: tuple[str, ...]


@dataclass(frozen=True)
class Checklist:
    """All domains and needs."""

    domains: tuple[Domain, ...]
    needs: tuple[ChecklistItem, ...]

    def of(self, domains: Iterable[str]) -> tuple[ChecklistItem, ...]:
        """What papers of these domains need, in the list's order."""
        wanted = {ALWAYS, *domains}
        return tuple(need for need in self.needs if need.domains & wanted)

    def recognized(self, title: str, abstract: str, text: str) -> tuple[DetectedDomain, ...]:
        """The domains of a paper, likeliest first; one that has far less to show for it than the first is left out.

        A term counts by its weight: four times in the title, twice in the abstract, and up to four times in the text.
        """
        terms = Phrases({term: term for domain in self.domains for term in domain.terms})
        places = [(Counter(terms.found(words(part))), weight) for part, weight in ((title, _TITLE), (abstract, _ABSTRACT))]
        term_counts = Counter(terms.found(words(text)))
        scored = [_scored(domain, places, term_counts) for domain in self.domains]
        best = max((recognized.score for recognized in scored), default=0.0)
        detected_domains = (recognized for recognized, domain in zip(scored, self.domains, strict=True) if _holds(recognized, domain, best))
        detected = sorted(detected_domains, key=lambda recognized: -recognized.score)[:_MOST_DOMAINS]
        return (*detected, *self._implied(detected))

    def _implied(self, detected: Sequence[DetectedDomain]) -> Iterator[DetectedDomain]:
        named = {domain.name: domain for domain in self.domains}
        missing = {name: domain for domain in reversed(detected) for name in named[domain.name].implies if name in named}
        for name, recognized in missing.items():
            if name not in {other.name for other in detected}:
                yield DetectedDomain(name, named[name].title, 0.0, (f"implied by {recognized.title}",))


def _holds(recognized: DetectedDomain, domain: Domain, best: float) -> bool:
    """One term alone names no domain, however often it stands there."""
    return recognized.score >= domain.needed and len(recognized.terms) > 1 and (domain.basic or recognized.score >= _SHARE * best)


def _scored(domain: Domain, places: Sequence[tuple[Counter[Phrase], float]], counts: Counter[Phrase]) -> DetectedDomain:
    spoke: dict[Phrase, float] = {}
    for term, weight in domain.terms.items():
        worth = sum(times for counted, times in places if counted[term])
        worth += min(_SAID, math.log2(1 + counts[term]) / 2)
        if worth:
            spoke[term] = weight * worth
    loudest = sorted(spoke, key=lambda term: -spoke[term])[:_TOLD]
    return DetectedDomain(domain.name, domain.title, round(sum(spoke.values()), 2), tuple(" ".join(term) for term in loudest))


def checklist(more: Path | None = None) -> Checklist:
    """The packaged list, with a user's own; raises `SettingsError` where that is not of the form."""
    shipped = _packaged()
    if not more:
        return shipped
    added = own("details", more, checklist_of, '{"domains": {NAME: {"terms": {...}}}, "details": [{"name", "question", "mentions", ...}]}')
    domains = {domain.name: domain for domain in (*shipped.domains, *added.domains)}
    needs = {need.detail.name: need for need in (*shipped.needs, *added.needs)}
    return Checklist(tuple(domains.values()), tuple(needs.values()))


@cache
def _packaged() -> Checklist:
    return checklist_of(packaged("details"))


def checklist_of(table: Mapping[str, Any]) -> Checklist:
    """The list of `{"domains": {NAME: {...}}, "details": [{...}]}`; raises ValueError for another form."""
    try:
        domains = tuple(_domain(name, row) for name, row in table.get("domains", {}).items())
        return Checklist(domains, tuple(_need(row) for row in table.get("details", ())))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a list of details: {error!r}") from error


def _domain(name: str, row: Mapping[str, Any]) -> Domain:
    terms = {phrase(term): float(weight) for term, weight in row["terms"].items()}
    weighted_terms = {term: weight for term, weight in terms.items() if term}
    return Domain(
        str(name),
        str(row.get("title") or name),
        float(row.get("needed", 9)),
        weighted_terms,
        bool(row.get("basic", False)),
        _listed(row.get("implies", ())),
    )


def _listed(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"a list is wanted, not {value!r}")
    return tuple(map(str, value))


def _need(row: Mapping[str, Any]) -> ChecklistItem:
    values = row.get("values", _WORDS)
    named = () if isinstance(values, str) else tuple(map(str, values))
    if isinstance(values, str) and values not in (_NUMBER, _COUNT, _WORDS):
        raise TypeError(f"`values` of {row['name']} is {values!r}, not a list, 'number', 'count' or 'words'")
    detail = Detail(
        name=str(row["name"]),
        title=american(str(row.get("title") or row["name"])),
        topic=american(str(row.get("topic", "other"))),
        question=str(row["question"]),
        facts=_listed(row.get("facts", ())),
        weight=float(row.get("weight", 0.5)),
    )
    choices = tuple(phrase(name) for name in named if name != _NUMBER)
    mentions = [mention_phrase for mention_phrase in map(phrase, _listed(row["mentions"])) if mention_phrase]
    if values != _WORDS:  # a word of code in prose says nothing of what was done, a value beside it does
        mentions += [mention_phrase for mention_phrase in _spoken(detail.facts) if mention_phrase not in mentions]
    return ChecklistItem(
        detail,
        frozenset(_listed(row.get("domains", (ALWAYS,)))),
        tuple(mentions),
        number=values in (_NUMBER, _COUNT) or _NUMBER in named,
        whole=values == _COUNT,
        choices=choices,
        words=values == _WORDS,
    )


def _spoken(facts: Iterable[str]) -> Iterator[Phrase]:
    """The names of facts in the ontology's prose and code that are more than one word, those of a number in the singular too."""
    terms = ontology().terms
    for term in (terms[name] for name in facts if name in terms):
        for name in (term.title, *term.prose, *term.identifiers):
            name_parts = tuple(part for word in phrase(name) for part in word.split("_") if part)
            if len(name_parts) > 1 and name_parts[-1] not in _LEANING:
                yield name_parts
            if len(name_parts) > 1 and name_parts[0] in _COUNTED and name_parts[-1].endswith("s"):
                yield (*name_parts[:-1], name_parts[-1].removesuffix("s"))
