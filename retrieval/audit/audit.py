"""A generated repository against what a paper states: what agrees, deviates, is missing, and what cannot be judged. Pure.

Values are compared by the places that speak most of each other. A deviation is reported only where the paper states
the value and the repository sets it to something else. A detail is missing only where the repository has
other values of the same section and nothing by any of the detail's names. What only the target's own code or its lineage
has may agree, and never counts against. No code is run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lineage.decisions import Decision
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.hyperparameters.values import number, worded
from lineage.results import AuditFinding, FactOccurrence, Strength, Verdict
from retrieval.audit.expectations import (
    COLLECTED,
    NOT_IN_CODE,
    Expectation,
    agree,
    alike,
    amounts_in,
    is_schedule,
    one_measure,
    one_stage,
    sisters,
)
from retrieval.audit.inputs import AuditSupport, Paper, Subject, experiment_of, of_another_section, overlap, whole_of_run
from retrieval.decisions.provenance import is_own_code
from retrieval.decisions.wording import wording

_EVALUATED = frozenset({"evaluation", "decoding", "language model", "data", "reproducibility"})
"""Topics whose values belong to evaluation as much as to training."""
_SIBLINGS = 2
"""Judged details of a section, from which on a repository has that section's experiment."""
_LENGTHS = frozenset({"epochs", "steps"})
_SHOWN = 3
_RUN = {"command": 0, "call": 1, "config": 2, "default": 3}
_LITTLE = 0.3
"""Severity of what the paper does not state for its main method."""


def audited(paper: Paper, repository: Subject) -> list[AuditFinding]:
    """The findings on all details that the paper states or its lineage has, and the repository sets or lacks."""
    support = AuditSupport.of(paper, repository)
    compared = [_Detail.of(paper, repository, name, support) for name in sorted({*paper.held, *repository.held}) if name not in NOT_IN_CODE]
    findings = [finding for detail in compared for finding in detail.findings()]
    judged: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for detail in compared:
        for expectation in (*detail.agreeing, *detail.deviating):
            judged[expectation.value.evidence.chunk.section].add(detail.name)
    findings += [finding for detail in compared if (finding := detail.missing(judged))]
    return findings


def score(findings: Sequence[AuditFinding]) -> float:
    """The share (0..1) of what could be judged that agrees, each counted by how much it matters."""
    judged = [finding for finding in findings if finding.verdict != "cannot judge"]
    total = sum(finding.severity for finding in judged)
    return round(sum(finding.severity for finding in judged if finding.verdict == "match") / total, 4) if total else 1.0


@dataclass(frozen=True)
class _Detail:
    """One detail: what is expected of the repository, what it sets, and which of them agree."""

    paper: Paper
    repository: Subject
    name: str
    expected: Sequence[Expectation]
    set_: Sequence[FactOccurrence]
    support: AuditSupport

    @classmethod
    def of(cls, paper: Paper, repository: Subject, name: str, support: AuditSupport) -> _Detail:
        stated = paper.stated(name)
        if name in {"adam_beta1", "adam_beta2"} and paper.stated("adam_betas"):
            stated = []
        set_ = [value for value in repository.set_values(name) if is_schedule(paper.ontology, value)]
        if name == "batch_size":
            devices, passes = (
                [*(expectation.value for expectation in paper.stated(amount)), *repository.held.get(amount, ())]
                for amount in ("gpus", "gradient_accumulation")
            )
            set_ = [
                *set_,
                *whole_of_run(
                    set_,
                    [occurrence for occurrence in devices if occurrence.fact.literal],
                    [occurrence for occurrence in passes if occurrence.fact.literal],
                ),
            ]
        return cls(paper, repository, name, stated, set_, support)

    @cached_property
    def _nearest(self) -> list[tuple[Expectation, FactOccurrence, int]]:
        """The pairs of one stage, each of the values whose places speak most of the other."""
        evaluated = self.paper.ontology.topic(self.name) in _EVALUATED
        pairs = [
            (wanted, set_, overlap(wanted.value, set_, self.paper.common))
            for wanted in self.expected
            for set_ in self.set_
            if one_stage(wanted.value, set_, evaluated)
        ]
        best: dict[int, int] = defaultdict(int)
        for expectation, set_, shared in pairs:
            best[id(expectation)], best[id(set_)] = max(best[id(expectation)], shared), max(best[id(set_)], shared)
        return [(wanted, set_, shared) for wanted, set_, shared in pairs if shared == best[id(wanted)] and (shared == best[id(set_)] or not shared)]

    @cached_property
    def _agreeing(self) -> list[tuple[Expectation, FactOccurrence]]:
        return [
            (expectation, set_)
            for expectation, set_, _ in self._nearest
            if (agree(expectation.value, set_, self.paper.same) or self._is_adam(expectation.value, set_))
            and not self._is_half_met(expectation, set_)
        ]

    def _is_half_met(self, expected: Expectation, set_: FactOccurrence) -> bool:
        """Whether a value of several numbers agrees in one of them, and the same place sets another otherwise."""
        if set_.fact.name == expected.name:
            return False
        place = (set_.evidence.chunk.path, set_.fact.scope)
        beside = [other for other in self.set_ if (other.evidence.chunk.path, other.fact.scope) == place and other is not set_]
        return any(alike(expected.value, other) and not agree(expected.value, other, self.paper.same) for other in beside)

    def _is_adam(self, stated: FactOccurrence, set_: FactOccurrence) -> bool:
        """Whether both are Adam: AdamW without weight decay is."""
        decays = {occurrence.fact.value for occurrence in self.repository.set_values("weight_decay")}
        return (
            {stated.fact.value, set_.fact.value} == {"adam", "adamw"}
            and decays <= {"0"}
            and (bool(decays) or not self.repository.has("weight_decay"))
        )

    @property
    def agreeing(self) -> list[Expectation]:
        """The expectations that the repository meets."""
        return [expectation for expectation, _ in self._agreeing]

    @property
    def deviating(self) -> list[Expectation]:
        """The expectations that it contradicts."""
        return [expectation for expectation, _ in self._deviations]

    @cached_property
    def _deviations(self) -> list[tuple[Expectation, FactOccurrence]]:
        """The pairs of one role whose values differ, where neither value agrees with anything of that role."""
        met, placed = {id(one) for one, _ in self._agreeing}, {id(set_) for _, set_ in self._agreeing}
        roles = {experiment_of(one.value) for one, _ in self._agreeing}
        statements = {one.place for one, _ in self._agreeing}
        items = len({one.item for one in self.expected})
        distinct = len({set_.fact.value for set_ in self.set_})
        deviating = []
        for expectation, set_, shared in self._nearest:
            if id(expectation) in met or id(set_) in placed or not self._comparable(expectation, set_):
                continue
            if agree(expectation.value, set_, self.paper.same):
                continue  # one number of several, of which another differs
            beside = expectation.place in statements and expectation.item >= 0 and items == distinct
            if not self._agreeing or beside or (shared and experiment_of(expectation.value) not in roles):
                deviating.append((expectation, set_))
        return deviating if self._surely(deviating) else []

    def _comparable(self, expected: Expectation, set_: FactOccurrence) -> bool:
        """Whether two values that differ contradict each other: of one name, not of another section, length or experiment."""
        stated = expected.value
        names = {stated.fact.name, set_.fact.name}
        return not (
            self.name in COLLECTED
            or not (len(names) == 1 or ("adam_betas" in names and alike(stated, set_)))
            or not one_measure(stated, set_)
            or (self.name in _LENGTHS and self._has_both_lengths())  # epochs where steps end a run
            or of_another_section(stated, set_, self.paper.sections, self.paper.common)
            or self.support.excludes(expected, self.name, self.paper.stated(self.name))
        )

    def _has_both_lengths(self) -> bool:
        """Whether the repository counts its training in epochs and in steps."""
        return all(any(value.fact.literal for value in self.repository.held.get(name, ())) for name in _LENGTHS)

    def _surely(self, pairs: Sequence[tuple[Expectation, FactOccurrence]]) -> bool:
        """Whether pairs that differ are a deviation: one system has one such value, and the text does not give the other near by."""
        if self.name in wording().many and not all(overlap(expectation.value, set_, self.paper.common) for expectation, set_ in pairs):
            values = {expectation.value.fact.value for expectation in self.expected}
            if len(values) > _SHOWN or len({occurrence.fact.value for occurrence in self.set_}) > 1:
                return False
        if self.name in wording().many and any(
            number(set_.fact.value) is None and not overlap(expectation.value, set_, self.paper.common) for expectation, set_ in pairs
        ):
            return False  # another layer's activation or normalization
        near = self.paper.near([expectation.value for expectation, _ in pairs], self.name) if pairs else set()
        amounts = {amount for word in near for amount in amounts_in(word)}
        return not any((amount := number(set_.fact.value)) is not None and float(amount) in amounts for _, set_ in pairs)

    def findings(self) -> Iterator[AuditFinding]:
        """What agrees, by value; one deviation for each role; else what is known of others."""
        by_value: dict[str, list[tuple[Expectation, FactOccurrence]]] = defaultdict(list)
        for expectation, set_ in self._agreeing:
            by_value[set_.fact.value].append((expectation, set_))
        for pairs in by_value.values():
            yield self._finding("match", [wanted.value for wanted, _ in pairs], [pairs[0][1]], "the paper states it", self.paper.weight(self.name))
        by_place: dict[tuple[str, frozenset[int]], list[tuple[Expectation, FactOccurrence]]] = defaultdict(list)
        of_place: dict[tuple[str, int], set[int]] = defaultdict(set)
        for expectation, set_ in self._deviations:
            of_place[set_.evidence.chunk.path, id(set_)].add(id(expectation))
        for expectation, set_ in sorted(self._deviations, key=lambda pair: _RUN.get(pair[1].fact.kind, 9)):
            path = set_.evidence.chunk.path
            by_place[path, frozenset(of_place[path, id(set_)])].append((expectation, set_))
        for pairs in once(by_place.values()):
            yield self._finding(
                "deviation", [wanted.value for wanted, _ in pairs], [set_ for _, set_ in pairs], "the paper states it", self.paper.weight(self.name)
            )
        if (
            not by_value
            and not by_place
            and self.set_
            and (finding := self._unplaced([occurrence for occurrence in self.set_ if occurrence.fact.name == self.name]))
        ):
            yield finding

    def _unplaced(self, set_here: Sequence[FactOccurrence]) -> AuditFinding | None:
        """What is known where nothing stated can be compared: the paper's values of other roles, its code's, its lineage's."""
        if not set_here:
            return None
        if self.expected:
            why = (
                "the paper states it for another part or in other terms"
                if not self._nearest
                else "the paper gives several values or gives this one elsewhere"
            )
            return self._finding("cannot judge", [expectation.value for expectation in self.expected], set_here[:1], why, _LITTLE)
        own = [occurrence for occurrence in self.paper.held.get(self.name, ()) if is_own_code(occurrence) and occurrence.fact.literal]
        if not own or any(self.paper.stated(sister) for sister in sisters(self.name) - {self.name}):
            return None
        met = next(((occurrence, set_) for occurrence in own for set_ in set_here if agree(occurrence, set_, self.paper.same)), None)
        weight = self.paper.weight(self.name) * _LITTLE
        if met:
            return self._finding("match", [met[0]], [met[1]], "the paper leaves it open; its authors' code has it", weight, "code")
        why = "the paper leaves it open; its authors' code has another value"
        return self._finding("cannot judge", own, set_here[:1], why, weight, "code")

    def missing(self, judged: Mapping[tuple[str, ...], set[str]]) -> AuditFinding | None:
        """A value that the paper states and of which the repository has nothing, though it has others of the same section."""
        lacking = [
            expectation
            for expectation in self.expected
            if len(judged.get(expectation.value.evidence.chunk.section, set()) - {self.name}) >= _SIBLINGS
        ]
        if self.name in COLLECTED:
            lacking = [expectation for expectation in lacking if id(expectation) not in {id(met) for met in self.agreeing}]
        elif self.set_ or self.repository.has(self.name) or self.repository.speaks_of(self.name, self.paper.ontology):
            return None
        lacking = [
            expectation
            for expectation in lacking
            if not self.repository.speaks_of_value(self.name, expectation.value.fact.value, self.paper.ontology)
        ]
        if not lacking:
            return None
        why = "the paper states it beside other values that the repository has; nothing in the repository is called so"
        severity = self.paper.weight(self.name) * (1.0 if self.name not in wording().many else _LITTLE)
        return self._finding("missing", [expectation.value for expectation in lacking], (), why, severity)

    def _finding(
        self,
        verdict: Verdict,
        stated: Sequence[FactOccurrence],
        set_: Sequence[FactOccurrence],
        why: str,
        severity: float,
        strength: Strength = "stated",
    ) -> AuditFinding:
        return finding_of(self.paper.ontology, self.name, verdict, stated, set_, why, severity, strength)


# -- what a comparison finds


_METHOD_TOPICS = frozenset(
    {"architecture", "initialization", "loss", "regularization", "augmentation", "retrieval", "prompts", "procedure", "diffusion"}
)


def finding_of(
    ontology: Ontology,
    name: str,
    verdict: Verdict,
    stated: Sequence[FactOccurrence],
    set_: Sequence[FactOccurrence],
    why: str,
    severity: float,
    strength: Strength,
) -> AuditFinding:
    """The finding, with the first values of either side, the place of the first that is set, and the evidence of the first that are stated."""
    return AuditFinding(
        level="method" if ontology.topic(name) in _METHOD_TOPICS else "experiment",
        name=name,
        title=ontology.title(name),
        verdict=verdict,
        expected=_values(stated),
        found=_values(set_),
        where=_place(set_[0]) if set_ else "",
        evidence=tuple(occurrence.evidence for occurrence in stated[:2]),
        severity=round(severity, 3),
        why=why,
        strength=strength,
        scope=next((scope for occurrence in stated if (scope := _scope(occurrence))), ""),
    )


def _values(occurrences: Iterable[FactOccurrence]) -> str:
    return " or ".join(list(dict.fromkeys(map(_shown, occurrences)))[:_SHOWN])


def once(groups: Iterable[list[tuple[Expectation, FactOccurrence]]]) -> Iterator[list[tuple[Expectation, FactOccurrence]]]:
    """The groups of pairs, those of one value in several places of one file once."""
    seen: set[tuple[str, str]] = set()
    for pairs in groups:
        set_ = pairs[0][1]
        if (set_.fact.value, set_.evidence.chunk.path) not in seen and not (seen and any(value == set_.fact.value for value, _ in seen)):
            seen.add((set_.fact.value, set_.evidence.chunk.path))
            yield pairs


def _shown(occurrence: FactOccurrence) -> str:
    return worded(occurrence.fact.value, occurrence.fact.unit)


def _scope(occurrence: FactOccurrence) -> str:
    title = occurrence.evidence.chunk.section[-1] if occurrence.evidence.chunk.section else ""
    return ", ".join(filter(None, (occurrence.fact.scope, title)))


def _place(occurrence: FactOccurrence) -> str:
    """File and line in the repository."""
    line = occurrence.fact.line or occurrence.evidence.chunk.start_line
    return f"{occurrence.evidence.chunk.path}#L{line}"


_SEVERITY = 0.8


def with_decisions(findings: Iterable[AuditFinding], decisions: Sequence[Decision], paper: Paper, repository: Subject) -> list[AuditFinding]:
    """The findings, those on decided details replaced by what was decided on them."""
    names = {decision.name for decision in decisions}
    return [*(finding for finding in findings if finding.name not in names), *_decided(decisions, paper, repository)]


def _decided(decisions: Sequence[Decision], paper: Paper, repository: Subject) -> Iterator[AuditFinding]:
    for decision in decisions:
        known = decision.name in paper.ontology.terms
        verdict, set_ = _of_detail(decision, paper, repository) if known else _of_setting(decision, paper, repository)
        yield AuditFinding(
            level=finding_of(paper.ontology, decision.name, verdict, (), (), "", 0, "decided").level,
            name=decision.name,
            title=decision.title or paper.ontology.title(decision.name),
            verdict=verdict,
            expected=decision.value,
            found=" or ".join(dict.fromkeys(value for value, _ in set_[:3])),
            where=set_[0][1] if set_ else "",
            severity=_SEVERITY,
            why=f"decided by {decision.who}, because of {decision.citation}",
            strength="decided",
        )


_Set = list[tuple[str, str]]
"""Values of a repository, each with its file and line."""


def _of_detail(decision: Decision, paper: Paper, repository: Subject) -> tuple[Verdict, _Set]:
    occurrences = repository.set_values(decision.name)
    agreeing = [occurrence for occurrence in occurrences if paper.ontology.same(decision.name, occurrence.fact.value, decision.value)]
    if agreeing:
        return "match", list(map(_placed, agreeing))
    if occurrences:
        return "deviation", list(map(_placed, occurrences))
    computed = repository.has(decision.name) or repository.speaks_of(decision.name, paper.ontology)
    return ("cannot judge" if computed else "missing"), []


def _placed(occurrence: FactOccurrence) -> tuple[str, str]:
    line = occurrence.fact.line or occurrence.evidence.chunk.start_line
    return occurrence.fact.value, f"{occurrence.evidence.chunk.path}#L{line}"


def _of_setting(decision: Decision, paper: Paper, repository: Subject) -> tuple[Verdict, _Set]:
    """A detail outside the checklist, judged by the settings of its name; a described mechanism cannot be judged."""
    name = fold(decision.name.rpartition(":")[2])
    values = [(setting.value, f"{setting.path}#L{setting.line}") for setting in repository.settings if fold(setting.name.rpartition(".")[2]) == name]
    if not values:
        return "cannot judge", []
    agreeing = [pair for pair in values if paper.ontology.same(decision.name, pair[0], decision.value)]
    return ("match", agreeing) if agreeing else ("deviation", values)
