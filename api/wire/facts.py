"""Facts and consensus as JSON: hits and facts have one shape everywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from api.wire.hits import hit_to_json, to_json
from lineage.citation import pinpoint
from lineage.results import Consensus, FactOccurrence
from lineage.text.hidden_text import visible

if TYPE_CHECKING:
    from lineage.records import Fact, Hit
    from retrieval.decisions.consensus import Tallies

MOST_LINES = 12


def fact_to_json(fact: Fact) -> dict[str, Any]:
    """A fact; text from the source has invisible characters removed."""
    data: dict[str, Any] = to_json(fact)
    return data | {key: visible(data[key])[0] for key in ("value", "unit", "written", "said", "scope")}


def held_to_json(occurrence: FactOccurrence) -> dict[str, Any]:
    """A fact with the citation of its line and the lines that state it."""
    return {
        "fact": fact_to_json(occurrence.fact),
        "citation": pinpoint(occurrence.evidence),
        "since": occurrence.since,
        "overridden": [fact_to_json(fact) for fact in occurrence.overridden],
        "evidence": lines_to_json(occurrence.evidence),
    }


def lines_to_json(hit: Hit) -> dict[str, Any]:
    """A hit whose text is the lines of its focus, at most twelve."""
    chunk = hit.chunk
    lines = chunk.text.split("\n")
    first = max(0, hit.focus.start_line - chunk.start_line) if hit.focus else 0
    last = hit.focus.end_line - chunk.start_line + 1 if hit.focus else MOST_LINES
    shown = "\n".join(lines[first : min(last, first + MOST_LINES)]) or lines[0]
    return hit_to_json(replace(hit, chunk=replace(chunk, text=shown)))


def consensus_to_json(consensus: Consensus) -> dict[str, Any]:
    """The values of a detail, the inherited one first."""
    values = [
        {
            "value": visible(value.value)[0],
            "unit": visible(value.unit)[0],
            "inherited": value.inherited,
            "held": [held_to_json(occurrence) for occurrence in value.held],
        }
        for value in consensus.values
    ]
    return {
        "lineage": consensus.lineage,
        "generation": consensus.generation,
        "name": consensus.name,
        "title": consensus.title,
        "values": values,
        "why": [visible(reason)[0] for reason in consensus.why],
        "notes": list(consensus.notes),
    }


def tallies_to_json(listed: Tallies) -> dict[str, Any]:
    """The details that have facts in a lineage."""
    data: dict[str, Any] = to_json(listed)
    return data
