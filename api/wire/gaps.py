"""Gaps and conflicts to JSON. Evidence is the object of CONTRACTS' hit, with the lines that answer in place of the whole chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.wire import hits
from api.wire.facts import held_to_json, lines_to_json
from lineage.results import Conflict, FactOccurrence, Gap, Gaps, Suggestion
from lineage.text.hidden_text import visible


def gaps_to_json(gaps: Gaps) -> dict[str, Any]:
    """The whole report."""
    return {
        "lineage": gaps.lineage,
        "generation": gaps.generation,
        "target": hits.to_json(gaps.target),
        "domains": list(gaps.domains),
        "conflicts": [conflict_to_json(conflict) for conflict in gaps.conflicts],
        "gaps": [gap_to_json(gap) for gap in gaps.gaps],
        "notes": [visible(note)[0] for note in gaps.notes],
    }


def gap_to_json(gap: Gap) -> dict[str, Any]:
    """One detail: its state, where it is stated, and the lineage's suggestions."""
    return {
        "detail": hits.to_json(gap.detail),
        "state": gap.state.value,
        "why": visible(gap.why)[0],
        "stated": [lines_to_json(hit) for hit in gap.stated],
        "facts": [held_to_json(occurrence) for occurrence in gap.facts],
        "suggestions": [suggestion_to_json(suggestion) for suggestion in gap.suggestions],
    }


def suggestion_to_json(suggestion: Suggestion) -> dict[str, Any]:
    """A value (or passages only), its grade and reason, its sources, and the chain of works that leads to it."""
    rest = [] if suggestion.held else [lines_to_json(hit) for hit in suggestion.evidence]
    return {
        "value": visible(suggestion.value)[0],
        "unit": visible(suggestion.unit)[0],
        "grade": suggestion.grade,
        "reason": visible(suggestion.reason)[0],
        "held": [held_to_json(occurrence) for occurrence in suggestion.held],
        "evidence": rest,
        "chain": [visible(link)[0] for link in suggestion.chain],
    }


def conflict_to_json(conflict: Conflict) -> dict[str, Any]:
    """The sides of a conflict, graded, with the reasons of the grade."""
    sides = _held(conflict.sides)
    return {
        "name": conflict.name,
        "title": conflict.title,
        "kind": conflict.kind,
        "severity": conflict.severity,
        "why": visible(conflict.why)[0],
        "rule": conflict.rule,
        "sides": sides,
    }


def _held(some: Sequence[FactOccurrence]) -> list[dict[str, Any]]:
    return [held_to_json(occurrence) for occurrence in some]
