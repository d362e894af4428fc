"""Decisions in the report of gaps (pure): the row of each detail says what was decided on it; a detail without a row gets one."""

from __future__ import annotations

from dataclasses import replace

from lineage.decisions import Decisions, titles
from lineage.hyperparameters.ontology import Ontology
from lineage.results import Detail, Gap, Gaps, Specification
from retrieval.gaps.rows import row_of

_DOUBTED = "decided, but its citation does not bear it out: "


def with_decisions(report: Gaps, found: Decisions, known: Ontology) -> Gaps:
    """The report with the decisions on its rows, those without a row behind them, and notes on those that the lineage does not support."""
    rows = list(report.gaps)
    for decision in found.decisions:
        at = row_of(rows, decision.name, decision.title)
        if at is None:
            detail = Detail(decision.name, decision.title or decision.name, known.topic(decision.name) or "decided", "", (decision.name,))
            rows.append(Gap(detail, Specification.UNSPECIFIED, decision=decision))
        else:
            rows[at] = replace(rows[at], decision=decision)
    doubted = [decision for decision in found.decisions if decision.support != "stated"]
    notes = (*report.notes, *found.notes, *((_DOUBTED + titles(doubted),) if doubted else ()))
    return replace(report, gaps=tuple(rows), notes=notes)
