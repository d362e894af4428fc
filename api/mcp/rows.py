"""Rows of results for agents, who pay per token: the fields that they need of each record, as JSON values and as text.

The command line and REST give the same records in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.wire.encode import visible_in
from api.wire.hits import TRUST
from lineage import licenses
from lineage.citation import pinpoint
from lineage.decisions import Decision
from lineage.records import Hit
from lineage.results import Conflict, FactOccurrence, Gap, Suggestion, Value
from lineage.text.hidden_text import inline, visible

_HELD, _STATED, _OFFERS, _TEXT = 3, 2, 2, 400
Row = dict[str, Any]


def picked(record: Any, *names: str) -> Row:
    """These fields of a record, texts without characters that nobody sees."""
    return {name: visible_in(getattr(record, name)) for name in names}


# -- as JSON values


def gap_row(gap: Gap) -> Row:
    """A gap: its state, the target's values, and the lineage's suggestions."""
    return {
        **picked(gap.detail, "name", "title", "topic", "question"),
        **picked(gap, "state", "why"),
        "stated": list(map(evidence_row, gap.stated[:_STATED])),
        "values": list(map(occurrence_row, gap.facts[:_HELD])),
        "offers": list(map(offer_row, gap.suggestions[:_OFFERS])),
        "decided": decided_line(gap.decision) if gap.decision else "",
    }


def decided_line(decision: Decision) -> str:
    """A decision in one line: the value, by whom and because of what."""
    return inline(f"{decision.value} (by {decision.who}; {decision.citation})")


def offer_row(suggestion: Suggestion) -> Row:
    """A suggestion of the lineage; passages where it has no value."""
    passages = () if suggestion.held else suggestion.evidence[:_STATED]
    held = list(map(occurrence_row, suggestion.held[:_STATED]))
    return picked(suggestion, "value", "unit", "grade", "reason", "chain") | {"held": held, "evidence": list(map(evidence_row, passages))}


def conflict_row(conflict: Conflict) -> Row:
    """Sources that disagree."""
    sides = list(map(occurrence_row, conflict.sides[: _HELD + 1]))
    return picked(conflict, "name", "title", "kind", "severity", "why") | {"sides": sides}


def value_row(value: Value) -> Row:
    """A value of a detail, its sources and the number of works that have it."""
    works = len({occurrence.fact.work for occurrence in value.held})
    return picked(value, "value", "unit", "inherited") | {"works": works, "held": list(map(occurrence_row, value.held[:_HELD]))}


def occurrence_row(occurrence: FactOccurrence) -> Row:
    """A value where it stands; `overridden` are values of the same source that it overrides."""
    row = evidence_row(occurrence.evidence, occurrence.fact.said) | picked(occurrence.fact, "value", "unit", "scope")
    return row | {"since": occurrence.since, "overridden": [visible(other.value)[0] for other in occurrence.overridden]}


def evidence_row(hit: Hit, said: str = "") -> Row:
    """The lines (in a paper, the words) that state it, at most 400 characters, and their source."""
    text = visible(said if said and hit.chunk.kind == "paper" else _lines(hit))[0].strip()
    cut = text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
    source = {"citation": pinpoint(hit), "chunk": hit.chunk.id, "license": licenses.shown(hit.work.license)}
    return {"text": cut, **source, "from_target": hit.from_target, "trust": TRUST}


def _lines(hit: Hit) -> str:
    """The lines of the focus, or the chunk's first lines."""
    lines = hit.chunk.text.split("\n")
    if not hit.focus:
        return "\n".join(lines[:6])
    first = max(0, hit.focus.start_line - hit.chunk.start_line)
    return "\n".join(lines[first : hit.focus.end_line - hit.chunk.start_line + 1]) or lines[0]


# -- as text


def gap_text(gap: Row) -> str:
    """What is known of a gap, a line each."""
    lines = [f"decided: {gap['decided']}"] if gap["decided"] else []
    lines += [gap["why"]] if gap["why"] else []
    lines += [f"stated: {_cited(passage)}" for passage in gap["stated"]]
    lines += [f"the target has {_valued(held)}: {_cited(held)}" for held in gap["values"]]
    for offer in gap["offers"]:
        lines.append(f"the lineage offers {_valued(offer)} ({offer['grade']}: {offer['reason']})" if offer["value"] else "passages of the lineage:")
        lines += [f"  {link}" for link in offer["chain"]]
        lines += [f"  {_cited(source)}" for source in (*offer["held"], *offer["evidence"])]
    return "\n".join(lines) or "the lineage offers nothing"


def conflict_text(conflict: Row) -> str:
    """The reason and the sides."""
    return "\n".join([conflict["why"], *(f"{_valued(side)}: {_cited(side)}" for side in conflict["sides"])])


def holders(value: Row) -> str:
    """How many works hold a value."""
    return f"Held by {value['works']} work{'s' if value['works'] != 1 else ''}" + (", inherited by the target:" if value["inherited"] else ":")


def value_text(value: Row) -> str:
    """A value and where it stands."""
    held = (f"  {_cited(held)}" + (f" since {held['since']}" if held["since"] else "") for held in value["held"])
    return "\n".join([_valued(value), *held])


def _valued(row: Row) -> str:
    return f"{row['value']} {row['unit']}".rstrip()


def _cited(row: Row) -> str:
    return f"{row['citation']} ({licenses.called(row['license'])}): {' '.join(row['text'].split())}"


def chunks(rows: Iterable[Any]) -> Iterator[str]:
    """Chunk ids of the evidence in rows, in order."""
    for row in rows:
        if isinstance(row, Mapping):
            if "chunk" in row:
                yield row["chunk"]
            yield from chunks(row.values())
        elif isinstance(row, list):
            yield from chunks(row)
