"""The two sides of an audit: what a paper states, and what a repository sets. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from lineage.hyperparameters.checklist import ChecklistItem
from lineage.hyperparameters.ontology import Ontology, Same
from lineage.hyperparameters.values import number
from lineage.records import Chunk, Setting, WorkId
from lineage.results import FactOccurrence
from lineage.text.tokens import parts
from retrieval.audit.expectations import NOT_IN_CODE, Expectation, agree, expectations, in_example, is_aside, is_end, sisters
from retrieval.decisions.provenance import sentences_of, telling
from retrieval.decisions.target_text import DONE, TargetText

_COMMON_WORDS = "a of the per rate size number learning weight label model data layer layers gradient training input output image"
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words of the titles of details that stand in every repository."""
_NEAR = 1
_BEFORE, _BEHIND = 4, 10
"""Words between a detail and a number that may be of it."""


def weights(needs: Iterable[ChecklistItem]) -> Mapping[str, float]:
    """How much a reproduction depends on each fact (0..1), by the details that it states."""
    rows: dict[str, float] = defaultdict(lambda: 0.3)
    for need in needs:
        for name in need.detail.facts:
            rows[name] = max(rows[name], need.detail.weight)
    return rows


def loosely(same: Same) -> Same:
    """The same, and `[224, 224]` for 224, or one of several values for the one: neither contradicts the other."""

    def agree(name: str, value: str, other: str) -> bool:
        return same(name, value, other) or any(same(name, a, b) for a in _items(value) for b in _items(other))

    return agree


def _items(value: str) -> list[str]:
    try:
        read = json.loads(value) if value[:1] == "[" else None
    except ValueError:
        read = None
    return [item if isinstance(item, str) else json.dumps(item) for item in read] if isinstance(read, list) else [value]


@dataclass(frozen=True)
class Paper:
    """What an audit expects: the values of the lineage by detail, the target's sentences, and the terms they are compared by."""

    target: WorkId
    held: Mapping[str, Sequence[FactOccurrence]]
    text: TargetText
    ontology: Ontology
    same: Same
    weight: Callable[[str], float]

    @cached_property
    def sections(self) -> frozenset[tuple[str, ...]]:
        """The sections of its text."""
        return frozenset(sentence.chunk.section for sentence in self.text.sentences)

    @cached_property
    def common(self) -> frozenset[str]:
        """The words of its title, which tell no part of it from another."""
        return telling(self.text.work.title)

    def stated(self, name: str) -> list[Expectation]:
        """What the target states of a detail."""
        takes_list = name in self.ontology.terms and self.ontology.terms[name].type == "list"
        return expectations(self.held.get(name, ()), self.target, takes_list)

    def near(self, stated: Iterable[FactOccurrence], name: str) -> set[str]:
        """Words beside each mention of a detail where it is stated, and anywhere in the text: what the reader of facts may have missed."""
        spoken, words = self._spoken(name), set[str]()
        for value in stated:
            sentences, at = sentences_of(value)
            if value.fact.kind == "prose":
                around = sentences[max(0, at - _NEAR) : at + _NEAR + 1] if at >= 0 else [value.evidence.chunk.text]
                words |= {word for sentence in around for word in beside(sentence, spoken)} | set(sentences[at].split() if at >= 0 else ())
        for sentence in self.text.sentences if spoken else ():
            if sentence.weight >= DONE and not sentence.table:
                words |= set(beside(sentence.text, spoken))
        return words

    def _spoken(self, name: str) -> list[list[str]]:
        term = self.ontology.terms.get(name)
        return [words for phrase in (term.title, *term.prose) if (words := parts(phrase))] if term else []


def beside(sentence: str, phrases: Sequence[Sequence[str]]) -> Iterator[str]:
    """The words of a sentence that stand a few words before or behind one of the phrases."""
    words = sentence.split()
    flat = [(piece, at) for at, word in enumerate(words) for piece in parts(word)]
    pieces = [piece for piece, _ in flat]
    for phrase in phrases:
        for at in range(len(pieces) - len(phrase) + 1):
            if pieces[at : at + len(phrase)] == list(phrase):
                first, last = flat[at][1], flat[at + len(phrase) - 1][1]
                yield from words[max(0, first - _BEFORE) : last + 1 + _BEHIND]


@dataclass(frozen=True)
class Subject:
    """The repository that is audited: its values by detail, its passages and its settings as written."""

    held: Mapping[str, Sequence[FactOccurrence]]
    chunks: Sequence[Chunk]
    settings: Sequence[Setting] = ()

    @cached_property
    def _parts(self) -> str:
        return " ".join(" ".join(parts(chunk.text)) for chunk in self.chunks) + " "

    def has(self, name: str) -> bool:
        """Whether it has any value of a detail, computed ones included."""
        return any(self.held.get(sister) for sister in sisters(name))

    def speaks_of(self, name: str, ontology: Ontology) -> bool:
        """Whether any name of a detail stands in it."""
        term = ontology.terms.get(name)
        known = (term.title, *term.prose, *(identifier.strip("=*") for identifier in term.identifiers), *term.flags) if term else ()
        telling_words = [word for word in parts(term.title) if word not in _COMMON] if term else []
        if telling_words and all(f" {word} " in self._parts for word in telling_words):
            return True
        return any(f" {' '.join(words)} " in self._parts for words in map(parts, known) if words)

    def speaks_of_value(self, name: str, value: str, ontology: Ontology) -> bool:
        """Whether any spelling of a choice stands in it."""
        spellings = (value, *ontology.terms[name].values.get(value, ())) if name in ontology.terms else (value,)
        return number(value) is None and any(f" {' '.join(words)} " in self._parts for words in map(parts, spellings) if words)

    def set_values(self, name: str) -> list[FactOccurrence]:
        """The values that a run of it has of one detail: what functions take by default only where nothing, or not every configuration, sets it."""
        every = [
            occurrence
            for sister in sorted(sisters(name))
            for occurrence in self.held.get(sister, ())
            if occurrence.fact.kind not in {"prose", "table"} and not is_end(occurrence)
        ]
        literal = [occurrence for occurrence in every if occurrence.fact.literal and not in_example(occurrence)]
        given = [occurrence for occurrence in literal if not is_aside(occurrence)]
        if given and not self._some_leave_out(given):
            return given
        values = {(occurrence.fact.name, occurrence.fact.value) for occurrence in literal}
        return literal if given or len(values) == len({name for name, _ in values}) else []

    def _some_leave_out(self, given: Sequence[FactOccurrence]) -> bool:
        """Whether only some of its configurations set a detail."""
        paths = {occurrence.evidence.chunk.path for occurrence in given}
        return all(path in self._configurations for path in paths) and len(self._configurations) > len(paths)

    @cached_property
    def _configurations(self) -> frozenset[str]:
        """The configuration files with values of any detail."""
        return frozenset(
            occurrence.evidence.chunk.path for some in self.held.values() for occurrence in some if occurrence.evidence.chunk.kind == "config"
        )


LEAST = 3
"""Agreeing details from which on an experiment is taken for the one that a repository reproduces."""
_HALF = 0.5
Section = tuple[str, ...]
Experiment = tuple[str, Section]


def experiment_of(value: FactOccurrence) -> Experiment:
    """The scope and section that a value is stated for."""
    return value.fact.scope, value.evidence.chunk.section


@dataclass(frozen=True)
class AuditSupport:
    """The details that agree, by experiment and by section."""

    details: Mapping[Experiment, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, paper: Paper, repository: Subject) -> AuditSupport:
        """The details of each experiment of which the repository sets a stated value somewhere."""
        agreeing: dict[Experiment, set[str]] = defaultdict(set)
        for name in sorted({*paper.held, *repository.held} - NOT_IN_CODE):
            set_values = repository.set_values(name)
            for expectation in paper.stated(name) if set_values else ():
                if any(agree(expectation.value, set_, paper.same) for set_ in set_values):
                    agreeing[experiment_of(expectation.value)].add(name)
        return cls({experiment: frozenset(names) for experiment, names in agreeing.items()})

    def _count(self, value: FactOccurrence, name: str) -> int:
        """How many other details agree with the experiment of a value; the open part of its section counts with it."""
        scope, section = experiment_of(value)
        names = self.details.get((scope, section), frozenset()) | self.details.get(("", section), frozenset())
        return len(names - {name})

    def excludes(self, expectation: Expectation, name: str, every: Iterable[Expectation]) -> bool:
        """Whether the experiment of an expectation has far fewer agreeing details than another that states the detail."""
        most = max((self._count(other.value, name) for other in every), default=0)
        return most >= LEAST and self._count(expectation.value, name) <= _HALF * most


def whole(batches: Sequence[FactOccurrence], devices: Iterable[FactOccurrence], passes: Iterable[FactOccurrence]) -> list[FactOccurrence]:
    """The batches times every number of devices, of accumulated passes, and of both, that anybody gives."""
    times = {a * b for a, b in product(_counts(devices), _counts(passes))} - {1}
    sizes = ((occurrence, number(occurrence.fact.value)) for occurrence in batches)
    return [
        replace(occurrence, fact=replace(occurrence.fact, value=str(size * factor))) for occurrence, size in sizes if size for factor in sorted(times)
    ]


def whole_of_run(batches: Sequence[FactOccurrence], devices: Iterable[FactOccurrence], passes: Iterable[FactOccurrence]) -> list[FactOccurrence]:
    """The same with the passes of a batch's own file, where it gives any: another run's accumulation is none of it."""
    devices, passes = list(devices), list(passes)
    wholes = []
    for batch in batches:
        path = batch.evidence.chunk.path
        beside = [occurrence for occurrence in passes if occurrence.evidence.chunk.path == path]
        wholes += whole([batch], devices, beside or passes)
    return wholes


def _counts(some: Iterable[FactOccurrence]) -> set[int]:
    """The whole numbers above 1 that are given, and 1."""
    numbers = (number(occurrence.fact.value) for occurrence in some)
    return {1, *(int(count) for count in numbers if count and count > 1 and count == int(count))}


def overlap(stated: FactOccurrence, set_: FactOccurrence, common: frozenset[str]) -> int:
    """How much the place of a value in code speaks of what the paper states it for; the scope counts twice, `common` words for nothing."""
    chunk, section = set_.evidence.chunk, stated.evidence.chunk.section
    words = telling(f"{chunk.path} {set_.fact.scope} {set_.fact.written} {chunk.symbol}") - common
    return 2 * len(telling(stated.fact.scope) & words) + len(telling(section[-1] if section else "") & words)


def of_another_section(stated: FactOccurrence, set_: FactOccurrence, sections: Iterable[Section], common: frozenset[str]) -> bool:
    """Whether the folder of a value in code is named as a section that the stated value does not stand in ("algoperf/", "covid/")."""
    folders = telling(set_.evidence.chunk.path.rpartition("/")[0]) - common
    mine = telling(f"{' '.join(stated.evidence.chunk.section)} {stated.fact.scope} {stated.fact.said}")
    return any((folders - mine) & telling(section[-1]) for section in sections if section)
