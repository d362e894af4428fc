"""Where a paper and its own code disagree.

A value that differs somewhere is no conflict yet: experiments differ. What counts is that the run which a statement is about, or
every run that it can be about, has another value, and how surely both are of one experiment; every reason is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lineage.hyperparameters.ontology import Same
from lineage.records import FileRole, WorkId
from lineage.results import Conflict, FactOccurrence
from retrieval.contradictions.alignment import Alignment, Disagreement
from retrieval.contradictions.runs import runs
from retrieval.contradictions.techniques import Reading
from retrieval.decisions.experiments import Experiments, chosen
from retrieval.decisions.provenance import measured
from retrieval.decisions.target_text import DONE, OWN, section_weight

MOST = 40
_SIDES = 3
_GRADES = {"sure": 0.85, "likely": 0.7, "possible": 0.5}
"""Severity of a stated value that its own run has otherwise, by how surely both are of one experiment."""


@dataclass(frozen=True)
class DetailTerms:
    """How a detail is called, how much a reproduction depends on it (0..1), and when two of its values are one."""

    title: Callable[[str], str]
    weight: Callable[[str], float]
    same: Same


def conflicts(
    occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId, terms: DetailTerms, reading: Reading | None = None
) -> tuple[Conflict, ...]:
    """Everything in which the target's code disagrees with its paper, gravest first; with a `reading` of both, techniques are compared too."""
    found = [*_of_runs(occurrences_by_key, target, terms), *(reading.conflicts() if reading else ())]
    return tuple(sorted(found, key=lambda conflict: (-conflict.severity, conflict.name))[:MOST])


def _done(occurrences: Sequence[FactOccurrence], target: WorkId) -> list[FactOccurrence]:
    """What the paper states of its own work: all that tables have, and sentences on what was done."""
    paper = [one for one in occurrences if one.fact.literal and one.fact.work == target and not measured(one)]
    return [one for one in paper if section_weight(one.evidence.chunk) >= (OWN if one.fact.kind == "table" else DONE)]


def _code(occurrences: Sequence[FactOccurrence], target: WorkId) -> list[FactOccurrence]:
    """What its own code sets."""
    own = (one for one in occurrences if one.fact.literal and one.evidence.from_target and one.fact.work != target)
    return chosen([one for one in own if not _aside(one)])


def _of_runs(occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId, terms: DetailTerms) -> Iterator[Conflict]:
    """Stated values that the run they are about has otherwise, even if another run has them."""
    code = {name: _code(some, target) for name, some in occurrences_by_key.items()}
    experiments = Experiments.of(occurrences_by_key, target)
    beside = Alignment(runs(one for some in code.values() for one in some), terms.same, experiments, code)
    for one in beside.disagreements({name: _done(some, target) for name, some in occurrences_by_key.items()}):
        yield _of_run(one, terms)


def _of_run(disagreement: Disagreement, terms: DetailTerms) -> Conflict:
    name = disagreement.stated.fact.name
    severity = round(_GRADES[disagreement.grade] + 0.1 * terms.weight(name), 2)
    sides = (disagreement.stated, *disagreement.settings[:_SIDES])
    return Conflict(name, terms.title(name), "paper-code", sides, severity, f"{disagreement.grade}: {disagreement.why}", "paper-code-run")


def _aside(occurrence: FactOccurrence) -> bool:
    """Whether a fact stands in tests, in other people's code, or is what documentation tells beside the code."""
    if occurrence.fact.kind in {"prose", "table"}:
        return True
    return not {FileRole.VENDORED, FileRole.TEST}.isdisjoint(occurrence.evidence.roles)


def loosely(same: Same) -> Same:
    """The same, and `[224, 224]` for 224, or one of several values for the one: neither contradicts the other."""

    def agree(name: str, one: str, other: str) -> bool:
        return same(name, one, other) or any(same(name, a, b) for a in _items(one) for b in _items(other))

    return agree


def _items(value: str) -> list[str]:
    try:
        read = json.loads(value) if value[:1] == "[" else None
    except ValueError:
        read = None
    return [one if isinstance(one, str) else json.dumps(one) for one in read] if isinstance(read, list) else [value]


@dataclass(frozen=True)
class Rule:
    """A rule: its name in `Conflict.rule`, its purpose, on how many of `lineages` it fired, and on how many of these rightly."""

    name: str
    purpose: str
    fired: int
    right: int
    lineages: int = 14


RULES = (
    Rule("paper-code-run", "a value that the paper states and its run has otherwise, chosen by words and other values, or all runs", 7, 7),
    Rule("technique", "a technique that the paper claims and that its own code has no sign of, or another of its kind instead", 7, 6),
)
