"""Stated values against the run of a repository that the paper's words choose, by the alignment that contradictions are found with. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lineage.results import AuditFinding
from retrieval.audit.expectations import COLLECTED, NOT_IN_CODE, sisters
from retrieval.audit.findings import finding_of
from retrieval.audit.inputs import Paper, Repository
from retrieval.contradictions.alignment import Alignment
from retrieval.contradictions.runs import runs
from retrieval.decisions.experiments import Experiments


def of_runs(paper: Paper, repository: Repository, findings: Sequence[AuditFinding]) -> Iterator[AuditFinding]:
    """Stated values that the run which the paper's words and its other values choose has otherwise, where no detail by itself told so."""
    told = {(finding.name, finding.where.partition("#")[0]) for finding in findings if finding.verdict == "deviation"}
    code = [occurrence for name in sorted({*repository.held} - NOT_IN_CODE) for occurrence in repository.set_values(name)]
    stated = {name: [one.value for one in paper.stated(name)] for name in sorted({*paper.held} - NOT_IN_CODE - COLLECTED)}
    beside = Alignment(runs(code), paper.same, Experiments.of(paper.held, paper.target))
    for one in beside.disagreements({name: some for name, some in stated.items() if some}):
        fact, path = one.stated.fact, one.settings[0].evidence.chunk.path
        family = sisters(fact.name)
        if one.grade != "possible" and not any((name, path) in told for name in family):
            told.add((fact.name, path))
            yield finding_of(paper.ontology, fact.name, "deviation", [one.stated], one.settings[:1], one.why, paper.weight(fact.name), "stated")
