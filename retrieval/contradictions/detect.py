"""Sources that disagree about one detail: a paper and its code or the code it follows, its tables and its text, code and what it was taken from.

A value that differs somewhere is no conflict yet: experiments differ. What counts is that no value of one side is held by
the other, under this name or a sister's, and how likely it is that both speak of the same thing: experiments, scopes, the
number of values on either side, and what kind of source says it decide the severity, and every reason is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lineage.hyperparameters.ontology import Same
from lineage.records import FileRole, WorkId
from lineage.results import Conflict, FactOccurrence
from retrieval.contradictions.alignment import FAMILIES, Alignment, Disagreement
from retrieval.contradictions.claims import Reading
from retrieval.contradictions.declared_baselines import Followed, files_of, stated, theirs
from retrieval.contradictions.runs import runs
from retrieval.decisions.batch_sizes import whole
from retrieval.decisions.experiments import Experiments, Section, chosen, compatible, settings_of
from retrieval.decisions.provenance import measured
from retrieval.decisions.target_text import DONE, OWN, section_weight
from retrieval.decisions.wording import wording

LEAST = 0.3
"""Severity under which a difference is not worth a line."""
MOST = 40
_SIDES = 3
_KIND = Literal["paper-code", "table-text"]
_FEW, _MANY = 2, 4
"""Details that are one to many authors: `steps = 8000` counts the epochs of which the text speaks, `emb_dim` is the width of a transformer."""
_MACHINES = frozenset({"gpus", "gpu_type", "training_time", "num_workers"})
"""What a command says of the machine it runs on, which the paper's need not be."""
_QUOTE = 160
_GRADES = {"sure": 0.85, "likely": 0.7, "possible": 0.5}
"""Severity of a stated value that its own run has otherwise, by how surely both are of one experiment."""
_SOURCE = {"command": 0.15, "config": 0.1, "call": 0.05, "default": -0.1, "table": 0.0, "prose": 0.0}
_WORDS = {"command": "a command sets it", "config": "a configuration sets it", "default": "a default, which a run may override"}
_Pair = tuple[Sequence[FactOccurrence], Sequence[FactOccurrence]]


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
    comparing = _Comparing(terms, Experiments.of(occurrences_by_key, target))
    sides = {name: _Sides.of(some, target) for name, some in occurrences_by_key.items()}
    found = list(_of_runs(sides, comparing))
    seen = {(conflict.name, conflict.sides[0].fact) for conflict in found}
    found += [
        conflict
        for name in sides
        if False and name not in _MACHINES
        for conflict in _of_detail(name, sides, comparing)
        if not any((name, side.fact) in seen for side in conflict.sides)
    ]
    if reading:
        found += reading.conflicts({name: some.done for name, some in sides.items()}, terms.title, terms.same)
    found += _deviations(occurrences_by_key, target, follows, terms)
    kept = sorted(
        (conflict for conflict in found if conflict.severity >= LEAST), key=lambda conflict: (-conflict.severity, conflict.name, conflict.kind)
    )
    return tuple(kept[:MOST])


@dataclass(frozen=True)
class _Sides:
    """Who speaks about one detail of the target: its paper (what was done; its tables, its text) and its own code."""

    done: Sequence[FactOccurrence]
    table: Sequence[FactOccurrence]
    text: Sequence[FactOccurrence]
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
        table, text = ([occurrence for occurrence in paper if occurrence.fact.kind == kind] for kind in ("table", "prose"))
        return cls(done, table, text, chosen(code))


@dataclass(frozen=True)
class _Comparing:
    """How the sides of one detail are compared: its terms, and which values may be of one experiment."""

    terms: DetailTerms
    experiments: Experiments

    def between(self, name: str, kind: _KIND, sides: _Pair, sisters: Sequence[_Pair]) -> Iterator[Conflict]:
        """A conflict if no value of either side is held by the other, within what may speak of the same thing."""
        occurrences, other = sides
        if not occurrences or not other or _at_peace(name, [*sides[0], *(a for pair in sisters for a in pair[0])], other, self.terms):
            return
        if _at_peace(name, occurrences, [b for pair in sisters for b in pair[1]], self.terms):
            return
        # what a library takes if nobody says otherwise is not what the paper's experiments were run with
        pairs = [(a, b) for a in occurrences for b in settings_of(other) if self.experiments.together(a, b)]
        if pairs:
            yield replace(_conflict(name, kind, [a for a, _ in pairs], [b for _, b in pairs], self.terms), rule=kind)


def _of_detail(name: str, sides: Mapping[str, _Sides], comparing: _Comparing) -> Iterator[Conflict]:
    """Everything in which the target's paper and its own code disagree about one detail."""
    mine = sides[name]
    sisters = [sides[other] for family in FAMILIES if name in family for other in sorted(family - {name}) if other in sides]
    alike = [(other.done, other.code) for other in sisters]
    yield from comparing.between(name, "paper-code", (mine.done, mine.code), [*alike, ((), _whole(name, sides))])
    yield from comparing.between(name, "table-text", (mine.table, mine.text), [(other.table, other.text) for other in sisters])


def _of_runs(sides: Mapping[str, _Sides], comparing: _Comparing) -> Iterator[Conflict]:
    """Stated values that the run they are about has otherwise, even if another run has them."""
    code = {name: some.code for name, some in sides.items()}
    beside = Alignment(runs(one for some in code.values() for one in some), comparing.terms.same, comparing.experiments, code)
    for one in beside.disagreements({name: some.done for name, some in sides.items()}):
        yield _of_run(one, comparing.terms)


def _of_run(disagreement: Disagreement, terms: DetailTerms) -> Conflict:
    name = disagreement.stated.fact.name
    severity = round(_GRADES[disagreement.grade] + 0.1 * terms.weight(name), 2)
    sides = (disagreement.stated, *disagreement.settings[:_SIDES])
    return Conflict(name, terms.title(name), "paper-code", sides, severity, f"{disagreement.grade}: {disagreement.why}", "paper-code-run")


def _whole(name: str, sides: Mapping[str, _Sides]) -> list[FactOccurrence]:
    """What the own batches come to over the devices and passes that the paper or the own code gives."""
    if name != "batch_size":
        return []
    devices, passes = ([*sides[one].done, *sides[one].code] if one in sides else [] for one in ("gpus", "gradient_accumulation"))
    return whole(sides[name].code, devices, passes)


def _at_peace(name: str, occurrences: Iterable[FactOccurrence], other: Sequence[FactOccurrence], terms: DetailTerms) -> bool:
    """Whether any value of one side is held by the other."""
    return any(terms.same(name, a.fact.value, b.fact.value) for a in occurrences for b in other)


def _conflict(name: str, kind: _KIND, occurrences: Iterable[FactOccurrence], other: Iterable[FactOccurrence], terms: DetailTerms) -> Conflict:
    left, right = _distinct(name, occurrences, terms), _distinct(name, other, terms)
    severity, why = _graded(name, left, right, terms)
    return Conflict(name, terms.title(name), kind, (*left[:_SIDES], *right[:_SIDES]), severity, why)


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


def _graded(name: str, left: Sequence[FactOccurrence], right: Sequence[FactOccurrence], terms: DetailTerms) -> tuple[float, str]:
    weight = terms.weight(name)
    severity, why = 0.25 + 0.25 * weight, [f"no value of one side is held by the other (weight of the detail {weight:.1f})"]
    if len(left) == len(right) == 1:
        severity, why = severity + 0.15, [*why, "each side has one value only"]
    if all(occurrence.fact.kind == "prose" for occurrence in left):
        severity, why = severity - 0.1, [*why, "prose alone says it"]
    if apart(left, right):
        severity, why = severity - 0.25, [*why, "they stand in sections of their own"]
    most = max(len(left), len(right))
    if most == _FEW:
        severity -= 0.1
    if many := most >= _MANY - 1:
        severity, why = severity - 0.1 * min(most, _MANY + 1), [*why, "many values: these may be different experiments"]
    if name in wording().many:
        severity, why = severity - 0.2, [*why, "one system has several of them"]
    strongest = max(_SOURCE[occurrence.fact.kind] for occurrence in right)
    severity += strongest
    why += sorted(
        {_WORDS[occurrence.fact.kind] for occurrence in right if occurrence.fact.kind in _WORDS and _SOURCE[occurrence.fact.kind] == strongest}
    )
    if not many and all(occurrence.fact.scope for occurrence in (*left, *right)):
        severity, why = severity + 0.1, [*why, "both speak of the same part"]
    elif any(occurrence.fact.scope for occurrence in (*left, *right)):
        severity, why = severity - 0.1, [*why, "one side speaks of a part only"]
    return round(max(0.0, min(1.0, severity)), 2), "; ".join(why)


def apart(left: Sequence[FactOccurrence], right: Sequence[FactOccurrence]) -> bool:
    """Whether both sides are a paper's, under top sections of their own: these tell of different experiments."""
    tops = [{(occurrence.evidence.chunk.section or ("",))[0] for occurrence in side} for side in (left, right)]
    return all(occurrence.evidence.work.kind == "paper" for occurrence in (*left, *right)) and not tops[0] & tops[1]
