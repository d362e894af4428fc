"""Decisions in the report of gaps (pure): the row of each detail says what was decided on it; a detail without a row gets one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineage.decisions import Decision, Decisions, titles
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.results import Detail, Gap, Gaps, Specification

_DOUBTED = "decided, but its citation does not bear it out: "


def with_decisions(report: Gaps, found: Decisions, known: Ontology) -> Gaps:
    """The report with the decisions on its rows, those without a row behind them, and notes on those that the lineage does not support."""
    rows = list(report.gaps)
    for decision in found.decisions:
        at = _row(rows, decision)
        if at is None:
            detail = Detail(decision.name, decision.title or decision.name, known.topic(decision.name) or "decided", "", (decision.name,))
            rows.append(Gap(detail, Specification.UNSPECIFIED, decision=decision))
        else:
            rows[at] = replace(rows[at], decision=decision)
    doubted = [decision for decision in found.decisions if decision.support != "stated"]
    notes = (*report.notes, *found.notes, *((_DOUBTED + titles(doubted),) if doubted else ()))
    return replace(report, gaps=tuple(rows), notes=notes)


def _row(rows: Sequence[Gap], decision: Decision) -> int | None:
    """The row of the detail that a decision names: by its name, its title, or the fact that it is mainly about."""
    names = {fold(decision.name), fold(decision.title)}
    for at, gap in enumerate(rows):
        if gap.detail.name == decision.name or fold(gap.detail.title) in names:
            return at
    return next((at for at, gap in enumerate(rows) if gap.detail.facts[:1] == (decision.name,)), None)
