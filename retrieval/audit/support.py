"""Which experiment of a paper a repository reproduces, told by how many details of each experiment agree. Pure.

An experiment is a scope (a column of a table, a model) and a section. What other experiments state may agree by chance, so an
experiment with far fewer agreeing details than the best cannot be deviated from. Configurations whose names differ in the size alone
(`tokenizer_l.yaml`, `tokenizer_xl.yaml`) are one family; where there are as many families as experiments, and one assignment has more
agreeing details than any other, a value of a family is compared with its experiment alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from lineage.results import FactOccurrence
from retrieval.audit.expectations import NOT_IN_CODE, Expectation, agree
from retrieval.audit.inputs import Paper, Repository

LEAST = 3
"""Agreeing details from which on an experiment is taken for the one that a repository reproduces."""
_HALF = 0.5
_FAMILIES = 4
"""The most families of configurations that are assigned."""
_SIZE = re.compile(r"(?:[_.-](?:tiny|small|base|large|huge|xs|s|b|m|l|xl|xxl|h|g|\d{1,4}[kmb]?))+\Z", re.IGNORECASE)
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
    def of(cls, paper: Paper, repository: Repository) -> AuditSupport:
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

    def best(self, expectations: Iterable[Expectation], name: str) -> list[Expectation]:
        """The expectations of the one experiment that clearly more details agree with than with any other; none if there is no such one."""
        counts = [(self._count(expectation.value, name), expectation) for expectation in expectations]
        most = max((count for count, _ in counts), default=0)
        others = [count for count, _ in counts if count < most]
        if most < LEAST or not others or max(others) > _HALF * most:
            return []
        return [expectation for count, expectation in counts if count == most]

    def excludes(self, expectation: Expectation, name: str, every: Iterable[Expectation]) -> bool:
        """Whether the experiment of an expectation has far fewer agreeing details than another that states the detail."""
        most = max((self._count(other.value, name) for other in every), default=0)
        return most >= LEAST and self._count(expectation.value, name) <= _HALF * most

    def is_foreign(self, expectation: Expectation, name: str) -> bool:
        """Whether nothing else of an expectation's section agrees, while many details of another section do."""
        section = expectation.value.evidence.chunk.section
        by_section: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for (_, other), names in self.details.items():
            by_section[other] |= names - {name}
        return not by_section.get(section) and max(map(len, by_section.values()), default=0) >= LEAST

    def is_outvoted(self, expectation: Expectation, name: str) -> bool:
        """Whether the experiment of an expectation has far fewer agreeing details than the best of all."""
        most = max((len(names - {name}) for names in self.details.values()), default=0)
        return most >= LEAST and self._count(expectation.value, name) <= _HALF * most


@dataclass(frozen=True)
class Roles:
    """The section that each family of configurations belongs to; none where it cannot be told."""

    sections: Mapping[str, Section] = field(default_factory=dict)

    @classmethod
    def of(cls, paper: Paper, repository: Repository) -> Roles:
        """The one assignment of families to sections with the most agreeing details."""
        stated, found = _by_section(paper), _by_family(repository)
        if len(stated) != len(found) or not 1 < len(found) <= _FAMILIES:
            return cls()
        agreeing = {
            (family, section): sum(_is_met(expectations, found[family], paper) for expectations in stated[section].values())
            for family in found
            for section in stated
        }
        ordered = sorted(((sum(agreeing[pair] for pair in zip(found, order, strict=True)), order) for order in permutations(stated)), reverse=True)
        (most, best), (second, _) = ordered[:2]
        return cls(dict(zip(found, best, strict=True))) if most > second else cls()

    def _section(self, set_: FactOccurrence) -> Section | None:
        return self.sections.get(_family(set_.evidence.chunk.path)) if set_.evidence.chunk.kind == "config" else None

    def is_sure(self, stated: FactOccurrence, set_: FactOccurrence) -> bool:
        """Whether a value of the repository belongs to the section of a stated one."""
        return self._section(set_) == stated.evidence.chunk.section

    def differ(self, stated: FactOccurrence, set_: FactOccurrence) -> bool:
        """Whether a value of the repository belongs to another of the sections."""
        section = stated.evidence.chunk.section
        return self._section(set_) not in (None, section) and section in self.sections.values()


def _family(path: str) -> str:
    """The path without the size at the end of its name."""
    return _SIZE.sub("", path.rpartition(".")[0])


def _by_section(paper: Paper) -> dict[Section, dict[str, list[Expectation]]]:
    """What the paper states, by section and detail, of the sections that state several."""
    sections: dict[Section, dict[str, list[Expectation]]] = defaultdict(lambda: defaultdict(list))
    for name in sorted(set(paper.held) - NOT_IN_CODE):
        for expectation in paper.stated(name):
            sections[expectation.value.evidence.chunk.section][name].append(expectation)
    return {section: details for section, details in sections.items() if len(details) >= LEAST}


def _by_family(repository: Repository) -> dict[str, list[FactOccurrence]]:
    """What configurations set, by family, of those that set several details."""
    families: dict[str, list[FactOccurrence]] = defaultdict(list)
    for name in sorted(repository.held):
        for occurrence in repository.set_values(name):
            if occurrence.evidence.chunk.kind == "config":
                families[_family(occurrence.evidence.chunk.path)].append(occurrence)
    return {family: some for family, some in families.items() if len({occurrence.fact.name for occurrence in some}) >= LEAST}


def _is_met(expectations: Sequence[Expectation], set_: Sequence[FactOccurrence], paper: Paper) -> bool:
    return any(agree(expectation.value, value, paper.same) for expectation in expectations for value in set_)
