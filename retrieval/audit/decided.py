"""What was decided, held against a generated repository: a decision is what is expected of its detail. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lineage.decisions import Decision
from lineage.hyperparameters.terms import fold
from lineage.results import AuditFinding, FactOccurrence, Verdict
from retrieval.audit.findings import finding_of
from retrieval.audit.inputs import Paper, Repository

_SEVERITY = 0.8


def with_decisions(findings: Iterable[AuditFinding], decisions: Sequence[Decision], paper: Paper, repository: Repository) -> list[AuditFinding]:
    """The findings, those on decided details replaced by what was decided on them."""
    names = {decision.name for decision in decisions}
    return [*(finding for finding in findings if finding.name not in names), *_decided(decisions, paper, repository)]


def _decided(decisions: Sequence[Decision], paper: Paper, repository: Repository) -> Iterator[AuditFinding]:
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


def _of_detail(decision: Decision, paper: Paper, repository: Repository) -> tuple[Verdict, _Set]:
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


def _of_setting(decision: Decision, paper: Paper, repository: Repository) -> tuple[Verdict, _Set]:
    """A detail that no list knows, by the settings of its name; a mechanism in words cannot be judged."""
    name = fold(decision.name.rpartition(":")[2])
    values = [(setting.value, f"{setting.path}#L{setting.line}") for setting in repository.settings if fold(setting.name.rpartition(".")[2]) == name]
    if not values:
        return "cannot judge", []
    agreeing = [pair for pair in values if paper.ontology.same(decision.name, pair[0], decision.value)]
    return ("match", agreeing) if agreeing else ("deviation", values)
