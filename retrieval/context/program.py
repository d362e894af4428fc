"""What the target's own program sets for a detail (pure): out of those who hold it, by how surely the place is what was run.

A command says more than a configuration file, that more than the default of an option, that more than what one call is given, and
what a function would take if nobody said otherwise says least. The root's program is what a repository is about; a
folder with commands or a program of its own is an experiment beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from lineage.errors import NotFound
from lineage.hyperparameters.ontology import Ontology
from lineage.results import FactOccurrence
from retrieval.decisions.consensus import consensus
from retrieval.decisions.experiment_folders import Folders
from retrieval.decisions.experiments import is_parameter, is_set
from retrieval.decisions.fact_index import FactIndex, is_eval_script, is_low_evidence_path, is_vendored
from retrieval.decisions.provenance import by_value, is_own_code

_COMMAND, _CONFIG, _OPTION, _CALL, _PARAMETER = range(5)


@dataclass(frozen=True)
class ProgramSetting:
    """A value with its holder: `sure` if a command, a file or an option of a program sets it; `experiment` is "" for the root's."""

    held: FactOccurrence
    sure: bool
    experiment: str = ""


@dataclass(frozen=True)
class Programs:
    """The target's own programs: everything that is held, how values compare, and which folders are experiments."""

    holders: FactIndex
    ontology: Ontology
    folders: Folders

    def settings(self, name: str) -> list[ProgramSetting]:
        """The values that own code has for a detail, each once, what was run most surely first."""
        groups = by_value(name, sorted(self._own(name), key=self._place), self.ontology.same)
        return [ProgramSetting(first, self._rank(first) <= _OPTION, self.experiment(first)) for first, *_ in groups]

    def same(self, name: str, occurrence: FactOccurrence, other: FactOccurrence) -> bool:
        """Whether two hold one value of a detail."""
        return occurrence.fact.value == other.fact.value or self.ontology.same(name, occurrence.fact.value, other.fact.value)

    @cached_property
    def rooted(self) -> bool:
        """Whether something outside of the experiments sets anything."""
        return "" in self._running

    @cached_property
    def several(self) -> bool:
        """Whether there are experiments beside each other, of which a sentence may mean any."""
        return len(self._running) > 1

    @cached_property
    def _running(self) -> frozenset[str]:
        """The experiments of which a file or a program sets something."""
        own = (occurrence for some in self.holders.held.values() for occurrence in some if is_own_code(occurrence))
        return frozenset(
            self.experiment(occurrence) for occurrence in own if self._rank(occurrence) <= _OPTION and not is_low_evidence_path(occurrence)
        )

    def experiment(self, occurrence: FactOccurrence) -> str:
        """The experiment that a holder belongs to, "" for the root's."""
        return self.folders.of(occurrence)

    def _own(self, name: str) -> Iterable[FactOccurrence]:
        try:
            values = consensus(self.holders, name, self.ontology).values
        except NotFound:
            return []
        return [
            occurrence
            for value in values
            for occurrence in value.held
            if occurrence.fact.literal and is_own_code(occurrence) and not is_vendored(occurrence.evidence)
        ]

    def _place(self, occurrence: FactOccurrence) -> tuple[bool, bool, bool, int, int]:
        return (
            bool(self.experiment(occurrence)),
            is_low_evidence_path(occurrence),
            is_eval_script(occurrence),
            self._rank(occurrence),
            occurrence.fact.scope.count("."),
        )

    def _rank(self, occurrence: FactOccurrence) -> int:
        if is_set(occurrence):
            return _COMMAND if occurrence.fact.kind == "command" else _CONFIG
        if occurrence.fact.kind != "default":
            return _CALL
        # a model's class has sizes if nobody says otherwise, and whoever makes one does
        sized = occurrence.fact.scope[:1].isupper() and self.ontology.topic(occurrence.fact.name) == "architecture"
        if sized or is_parameter(occurrence):
            return _PARAMETER
        return _CALL if occurrence.evidence.chunk.role in {"function", "method"} else _OPTION
