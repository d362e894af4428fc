"""Sources that disagree about one detail: a paper and its own code, the code it follows, or itself.

A value that differs somewhere is no conflict yet: experiments differ. What counts is that the run which a statement is about, or
every run that it can be about, has another value, and how surely both are of one experiment; every reason is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from lineage.hyperparameters.ontology import Same
from lineage.records import FileRole, WorkId
from lineage.results import Conflict, FactOccurrence
from retrieval.contradictions.alignment import FAMILIES, Alignment, Disagreement
from retrieval.contradictions.claims import Reading
from retrieval.contradictions.declared_baselines import Followed, files_of, stated, theirs
from retrieval.contradictions.runs import runs
from retrieval.decisions.experiments import Experiments, Section, chosen, compatible
from retrieval.decisions.provenance import measured
from retrieval.decisions.target_text import DONE, OWN, section_weight
from retrieval.decisions.wording import wording

LEAST = 0.3
"""Severity under which a difference is not worth a line."""
MOST = 40
_SIDES = 3
_QUOTE = 160
_GRADES = {"sure": 0.85, "likely": 0.7, "possible": 0.5}
"""Severity of a stated value that its own run has otherwise, by how surely both are of one experiment."""
_SOURCE = {"command": 0.15, "config": 0.1, "call": 0.05, "default": -0.1, "table": 0.0, "prose": 0.0}


@dataclass(frozen=True)
class DetailTerms:
    """How a detail is called, how much a reproduction depends on it (0..1), and when two of its values are one."""

    title: Callable[[str], str]
    weight: Callable[[str], float]
    same: Same


def conflicts(
    occurrences_by_key: Mapping[str, Sequence[FactOccurrence]],
    target: WorkId,
    terms: DetailTerms,
    follows: Sequence[Followed] = (),
    reading: Reading | None = None,
) -> tuple[Conflict, ...]:
    """Everything in which sources about the target disagree, gravest first.

    `follows` is what the target says it follows; with a `reading` of its text and code, techniques are compared too.
    """
    sides = {name: _Sides.of(some, target) for name, some in occurrences_by_key.items()}
    experiments = Experiments.of(occurrences_by_key, target)
    found = [*_of_runs(sides, terms, experiments), *_of_tables(sides, terms, experiments)]
    if reading:
        found += reading.conflicts({name: some.done for name, some in sides.items()}, terms.title, terms.same)
    found += _deviations(occurrences_by_key, target, follows, terms)
    kept = sorted(
        (conflict for conflict in found if conflict.severity >= LEAST), key=lambda conflict: (-conflict.severity, conflict.name, conflict.kind)
    )
    return tuple(kept[:MOST])


@dataclass(frozen=True)
class _Sides:
    """Who speaks about one detail of the target: its paper (all of it, and what was done) and its own code."""

    paper: Sequence[FactOccurrence]
    done: Sequence[FactOccurrence]
    code: Sequence[FactOccurrence]

    @classmethod
    def of(cls, occurrences: Sequence[FactOccurrence], target: WorkId) -> _Sides:
        literal = [occurrence for occurrence in occurrences if occurrence.fact.literal]
        paper = [
            occurrence
            for occurrence in literal
            if occurrence.fact.work == target and section_weight(occurrence.evidence.chunk) >= OWN and not measured(occurrence)
        ]
        done = [occurrence for occurrence in paper if occurrence.fact.kind == "table" or section_weight(occurrence.evidence.chunk) >= DONE]
        code = [occurrence for occurrence in literal if occurrence.evidence.from_target and occurrence.fact.work != target and not _aside(occurrence)]
        return cls(paper, done, chosen(code))


def _of_runs(sides: Mapping[str, _Sides], terms: DetailTerms, experiments: Experiments) -> Iterator[Conflict]:
    """Stated values that the run they are about has otherwise, even if another run has them."""
    code = {name: some.code for name, some in sides.items()}
    beside = Alignment(runs(one for some in code.values() for one in some), terms.same, experiments, code)
    for one in beside.disagreements({name: some.done for name, some in sides.items()}):
        yield _of_run(one, terms)


def _of_run(disagreement: Disagreement, terms: DetailTerms) -> Conflict:
    name = disagreement.stated.fact.name
    severity = round(_GRADES[disagreement.grade] + 0.1 * terms.weight(name), 2)
    sides = (disagreement.stated, *disagreement.settings[:_SIDES])
    return Conflict(name, terms.title(name), "paper-code", sides, severity, f"{disagreement.grade}: {disagreement.why}", "paper-code-run")


def _of_tables(sides: Mapping[str, _Sides], terms: DetailTerms, experiments: Experiments) -> Iterator[Conflict]:
    """The one value that the tables of the paper state of a detail, where its text states one other."""
    for name, some in sides.items():
        by_kind = {kind: [occurrence for occurrence in some.paper if occurrence.fact.kind == kind] for kind in ("table", "prose")}
        single = all(len({occurrence.fact.value for occurrence in mine}) == 1 for mine in by_kind.values())
        if single and name not in wording().many and not _at_peace(name, by_kind["table"], by_kind["prose"], terms):
            pairs = product(by_kind["table"], by_kind["prose"])
            if sides_ := next((pair for pair in pairs if experiments.together(*pair)), None):
                why = "likely: its tables have one value and its text another"
                yield Conflict(name, terms.title(name), "table-text", sides_, _GRADES["likely"], why, "table-text")


def _at_peace(name: str, occurrences: Iterable[FactOccurrence], other: Sequence[FactOccurrence], terms: DetailTerms) -> bool:
    """Whether any value of one side is held by the other."""
    return any(terms.same(name, a.fact.value, b.fact.value) for a in occurrences for b in other)


def _deviations(
    occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId, follows: Sequence[Followed], terms: DetailTerms
) -> Iterator[Conflict]:
    """Where the paper says that it follows some code and has another value than all that this code is run with."""
    files = files_of(occurrences_by_key.values()) if follows else {}
    seen: set[tuple[str, Section, frozenset[WorkId]]] = set()
    for followed, name in ((one, name) for one in follows for name in occurrences_by_key):
        mine, other = stated(name, occurrences_by_key[name], target, followed), theirs(occurrences_by_key[name], followed, files)
        pairs = [(a, b) for a in mine for b in other if followed.run or compatible(a.fact.scope, b.fact.scope)]
        sisters = [occurrences_by_key[some] for family in FAMILIES if name in family for some in family if some in occurrences_by_key]
        against = [*other, *(b for some in sisters for b in theirs(some, followed, files))]
        if pairs and (name, followed.section, followed.works) not in seen and not _at_peace(name, mine, against, terms):
            seen.add((name, followed.section, followed.works))
            yield _deviation(name, _distinct(name, [a for a, _ in pairs], terms), _distinct(name, [b for _, b in pairs], terms), followed, terms)


def _deviation(name: str, left: Sequence[FactOccurrence], right: Sequence[FactOccurrence], followed: Followed, terms: DetailTerms) -> Conflict:
    severity = 0.3 + 0.3 * terms.weight(name) - 0.1 * (len(left) + len(right) - 2) - (0.2 if name in wording().many and len(right) > 1 else 0.0)
    said = " ".join(followed.said.text.split())[:_QUOTE]
    why = f"the paper deviates from what it says it follows (“{said}”), which has no such value; it may be meant"
    return Conflict(
        name, terms.title(name), "paper-followed", (*left[:_SIDES], *right[:_SIDES]), round(max(0.0, min(1.0, severity)), 2), why, "paper-followed"
    )


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


def _distinct(name: str, occurrences: Iterable[FactOccurrence], terms: DetailTerms) -> list[FactOccurrence]:
    """One holder a value: the one whose kind counts most."""
    kept: list[FactOccurrence] = []
    for occurrence in sorted(occurrences, key=lambda occurrence: -_SOURCE[occurrence.fact.kind]):
        if not any(terms.same(name, occurrence.fact.value, other.fact.value) for other in kept):
            kept.append(occurrence)
    return kept
