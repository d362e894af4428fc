"""Findings of an audit: what is stated or decided on a detail against what is set. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lineage.decisions import Decision
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.results import AuditFinding, FactOccurrence, Strength, Verdict
from retrieval.audit.expectations import Expectation
from retrieval.audit.inputs import Paper, Subject

_METHOD_TOPICS = frozenset(
    {"architecture", "initialization", "loss", "regularization", "augmentation", "retrieval", "prompts", "procedure", "diffusion"}
)
_SHOWN = 3


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
    return " ".join(filter(None, (occurrence.fact.value, occurrence.fact.unit)))


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
