"""Compact rows of gaps, values and packs: a value, its line and its source.

The command line and REST return gaps and values in full. Agents pay per token, and can open what they need by the
chunk id of each row.
"""

from __future__ import annotations

from typing import Any

from api.wire import hits
from lineage import licenses
from lineage.citation import pinpoint
from lineage.records import Hit
from lineage.results import Conflict, FactOccurrence, Gap, PackItem, Suggestion, Value
from lineage.text.hidden_text import inline, visible

_HELD, _STATED, _OFFERS, _TEXT = 3, 2, 2, 400

Row = dict[str, Any]


def item_row(pack_item: PackItem) -> Row:
    """A unit of a pack, without its text."""
    cited = list(dict.fromkeys(pinpoint(hit) for hit in pack_item.evidence))
    return {"kind": pack_item.kind, "title": visible(pack_item.title)[0], "tokens": pack_item.tokens, "citations": cited}


def gap_row(gap: Gap) -> Row:
    """A gap: its state, the target's values, and the lineage's suggestions."""
    detail = gap.detail
    return {
        "name": detail.name,
        "title": detail.title,
        "topic": detail.topic,
        "question": detail.question,
        "state": gap.state.value,
        "why": visible(gap.why)[0],
        "stated": [evidence_row(hit) for hit in gap.stated[:_STATED]],
        "values": [held_row(occurrence) for occurrence in gap.facts[:_HELD]],
        "offers": [offer_row(suggestion) for suggestion in gap.suggestions[:_OFFERS]],
    }


def offer_row(suggestion: Suggestion) -> Row:
    """A suggestion of the lineage."""
    passages = () if suggestion.held else suggestion.evidence[:_STATED]
    row: Row = {
        "value": visible(suggestion.value)[0],
        "unit": inline(suggestion.unit),
        "grade": suggestion.grade,
        "reason": visible(suggestion.reason)[0],
    }
    row |= {"chain": [visible(link)[0] for link in suggestion.chain]}
    return row | {"held": [held_row(occurrence) for occurrence in suggestion.held[:_STATED]], "evidence": [evidence_row(hit) for hit in passages]}


def conflict_row(conflict: Conflict) -> Row:
    """A conflict between sources."""
    row = {"name": conflict.name, "title": conflict.title, "kind": conflict.kind, "severity": conflict.severity, "why": visible(conflict.why)[0]}
    return row | {"sides": [held_row(occurrence) for occurrence in conflict.sides[: _HELD + 1]]}


def value_row(value: Value) -> Row:
    """A value and its sources."""
    works = len({occurrence.fact.work for occurrence in value.held})
    row = {"value": visible(value.value)[0], "unit": inline(value.unit), "inherited": value.inherited, "works": works}
    return row | {"held": [held_row(holder) for holder in value.held[:_HELD]]}


def held_row(occurrence: FactOccurrence) -> Row:
    """One occurrence of a value."""
    fact = occurrence.fact
    row = {"value": visible(fact.value)[0], "unit": inline(fact.unit), "scope": visible(fact.scope)[0], "since": occurrence.since}
    return row | {"overridden": [visible(other.value)[0] for other in occurrence.overridden]} | evidence_row(occurrence.evidence, fact.said)


def evidence_row(hit: Hit, said: str = "") -> Row:
    """The lines (in a paper, the words) that state it, at most 400 characters, and their source."""
    text = visible(said if said and hit.chunk.kind == "paper" else _lines(hit))[0].strip()
    shown = text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
    licence = licenses.shown(hit.work.license)
    proof = {"text": shown, "citation": pinpoint(hit), "chunk": hit.chunk.id, "license": licence, "from_target": hit.from_target}
    return proof | {"trust": hits.TRUST}


def _lines(hit: Hit) -> str:
    """The lines of the focus, or the chunk's first lines."""
    lines = hit.chunk.text.split("\n")
    if not hit.focus:
        return "\n".join(lines[:6])
    first = max(0, hit.focus.start_line - hit.chunk.start_line)
    return "\n".join(lines[first : hit.focus.end_line - hit.chunk.start_line + 1]) or lines[0]
