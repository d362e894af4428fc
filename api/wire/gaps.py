"""Gaps and conflicts to JSON. Evidence is the object of CONTRACTS' hit, with the lines that answer in place of the whole chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.wire import hits
from api.wire.facts import held_to_json, lines_to_json
from lineage.results import Conflict, FactOccurrence, Gap, Gaps, Suggestion
from lineage.text.hidden_text import visible


def gaps_to_json(found: Gaps) -> dict[str, Any]:
    """The whole report."""
    return {
        "lineage": found.lineage,
        "generation": found.generation,
        "target": hits.to_json(found.target),
        "domains": list(found.domains),
        "gaps": [gap_to_json(gap) for gap in found.gaps],
        "conflicts": [conflict_to_json(conflict) for conflict in found.conflicts],
        "notes": [visible(note)[0] for note in found.notes],
    }


def gap_to_json(gap: Gap) -> dict[str, Any]:
    """One detail: its state, where it is stated, and what the lineage offers for what is missing."""
    return {
        "detail": hits.to_json(gap.detail),
        "state": gap.state.value,
        "why": visible(gap.why)[0],
        "stated": [lines_to_json(hit) for hit in gap.stated],
        "facts": [held_to_json(held) for held in gap.facts],
        "suggestions": [suggestion_to_json(one) for one in gap.suggestions],
    }


def suggestion_to_json(one: Suggestion) -> dict[str, Any]:
    """A value (or passages only), its grade with the reason, who holds it, and the chain that leads to it."""
    rest = [] if one.held else [lines_to_json(hit) for hit in one.evidence]
    return {
        "value": visible(one.value)[0],
        "unit": visible(one.unit)[0],
        "grade": one.grade,
        "reason": visible(one.reason)[0],
        "held": [held_to_json(held) for held in one.held],
        "evidence": rest,
        "chain": [visible(link)[0] for link in one.chain],
    }


def conflict_to_json(one: Conflict) -> dict[str, Any]:
    """The sides of a conflict, graded, with the reasons of the grade."""
    sides = _held(one.sides)
    return {
        "name": one.name,
        "title": one.title,
        "kind": one.kind,
        "severity": one.severity,
        "why": visible(one.why)[0],
        "rule": one.rule,
        "sides": sides,
    }


def _held(some: Sequence[FactOccurrence]) -> list[dict[str, Any]]:
    return [held_to_json(held) for held in some]
