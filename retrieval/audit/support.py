"""Which experiment of a paper a repository reproduces, judged by how many details of each agree. Pure.

An experiment is a scope (a column of a table, a model) and a section. What other experiments state may agree by chance, so an
experiment with far fewer agreeing details than the best cannot be deviated from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lineage.results import FactOccurrence
from retrieval.audit.expectations import NOT_IN_CODE, Expectation, agree
from retrieval.audit.inputs import Paper, Repository

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

    def excludes(self, expectation: Expectation, name: str, every: Iterable[Expectation]) -> bool:
        """Whether the experiment of an expectation has far fewer agreeing details than another that states the detail."""
        most = max((self._count(other.value, name) for other in every), default=0)
        return most >= LEAST and self._count(expectation.value, name) <= _HALF * most

    def is_outvoted(self, expectation: Expectation, name: str) -> bool:
        """Whether the experiment of an expectation has far fewer agreeing details than the best of all."""
        most = max((len(names - {name}) for names in self.details.values()), default=0)
        return most >= LEAST and self._count(expectation.value, name) <= _HALF * most
