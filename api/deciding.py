"""Decisions recorded, taken back, and read with the generation that they are held against; texts lose invisible characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from api.bootstrap import Parts, holders_of
from api.wire.encode import view
from lineage.decisions import LONGEST, Decision, DecisionLog, Decisions
from lineage.errors import LineageError, NotFound, UnsupportedDecision
from lineage.results import Gaps

if TYPE_CHECKING:
    from retrieval.decisions.fact_index import FactIndex
    from retrieval.search.engine import Engine


def decide(parts: Parts, lineage: str, decision: Decision, force: bool) -> Decision:
    """Check a decision against the current generation and append it to the log; gives the entry. Its detail may be named as `gaps` lists it."""
    from indexer.store import decision_log
    from retrieval.decisions import decision_check

    with parts.engine(lineage) as engine:
        asked = replace(decision, name=_detail(parts, decision.name), by=_by(decision.by))
        facts = holders_of(engine)
        try:
            checked = decision_check.checked(engine, facts, asked, force=False)
        except UnsupportedDecision:
            known, _ = decision_check.named(engine, asked.name)
            checked = decision_check.checked(engine, _with_offers(parts, engine, facts, [known]), asked, force)
        entry = replace(checked, at=_now(), generation=engine.generation.manifest.id)
    return view(decision_log.append(parts.settings.home, lineage, lambda log: [entry])[0], Decision)


def withdraw(parts: Parts, lineage: str, name: str, by: str) -> Decision:
    """Append the end of the decision on a detail; raises `NotFound` if none is in force."""
    from indexer.store import decision_log
    from lineage.hyperparameters.ontology import ontology

    names = {name, _detail(parts, name), ontology(parts.settings.ontology).name_of(name)}

    def entries(log: DecisionLog) -> Sequence[Decision]:
        decision = next((decision for decision in log.in_force if decision.name in names), None)
        if decision is None:
            there = ", ".join(decision.name for decision in log.in_force)
            raise NotFound(f"nothing is decided on {name[:80]!r}", hint=f"decided: {there}" if there else "`lineage decide NAME VALUE` does")
        return [replace(decision, withdrawn=True, by=_by(by), at=_now())]

    return view(decision_log.append(parts.settings.home, lineage, entries)[0], Decision)


def is_decided(parts: Parts, lineage: str) -> bool:
    """Whether the decision log of a lineage has entries."""
    from indexer.store import decision_log

    log = decision_log.read(parts.settings.home, lineage)
    return bool(log.in_force or log.problems)


def in_force(parts: Parts, engine: Engine) -> Decisions:
    """The decisions as an engine's generation supports them; those that rest on code which the engine leaves out are not there."""
    from indexer.store import decision_log
    from retrieval.decisions import decision_check

    manifest = engine.generation.manifest
    log = decision_log.read(parts.settings.home, manifest.lineage)
    seen = [decision for decision in log.in_force if not (engine.excluded and decision.from_target_code)]
    facts = holders_of(engine) if seen else None
    decisions = tuple(decision_check.rechecked(engine, facts, seen)) if facts else ()
    if facts and (doubted := [decision.name for decision in decisions if decision.support == "unsupported" and decision.generation != manifest.id]):
        decisions = tuple(decision_check.rechecked(engine, _with_offers(parts, engine, facts, doubted), seen))
    return view(Decisions(manifest.lineage, manifest.id, decisions, log.problems), Decisions)


def _with_offers(parts: Parts, engine: Engine, facts: FactIndex, names: Sequence[str]) -> FactIndex:
    """The facts with what the report of gaps offers for details; as they are where no report can be made."""
    from retrieval.gaps.rows import with_offers

    try:
        return with_offers(facts, parts.gaps(engine), names)
    except LineageError:
        return facts


def decided(parts: Parts, engine: Engine, report: Gaps) -> Gaps:
    """The report of gaps with what was decided on its rows."""
    from lineage.hyperparameters.ontology import ontology
    from retrieval.gaps.rows import with_decisions

    decisions = in_force(parts, engine)
    return with_decisions(report, decisions, ontology(parts.settings.ontology)) if decisions.decisions or decisions.notes else report


def _detail(parts: Parts, name: str) -> str:
    """The name of the detail whose title a reader gives; any other name as it is."""
    from lineage.hyperparameters.checklist import checklist
    from lineage.hyperparameters.terms import fold

    return next((need.detail.name for need in checklist(parts.settings.details).needs if fold(need.detail.title) == fold(name)), name)


def _by(name: str) -> str:
    return " ".join(name.encode("utf-8", "replace").decode().split())[: LONGEST // 10] or "somebody"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
