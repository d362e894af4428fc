"""What the read side concludes, as JSON: evidence is the same hit everywhere, facts are the same object everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.wire import hit_to_json, to_json
from lineage.cite import pinpoint
from lineage.insight import Consensus, Held
from lineage.visible import visible

if TYPE_CHECKING:
    from lineage.model import Fact
    from retrieval.consensus import Tallies


def fact_to_json(fact: Fact) -> dict[str, Any]:
    """A fact; what the source wrote is shown without invisible characters."""
    said: dict[str, Any] = to_json(fact)
    return said | {key: visible(said[key])[0] for key in ("value", "written", "said", "scope")}


def held_to_json(held: Held) -> dict[str, Any]:
    """A fact with the citation of its line and its evidence."""
    return {
        "fact": fact_to_json(held.fact),
        "citation": pinpoint(held.evidence),
        "since": held.since,
        "overridden": [fact_to_json(fact) for fact in held.overridden],
        "evidence": hit_to_json(held.evidence),
    }


def consensus_to_json(found: Consensus) -> dict[str, Any]:
    """The values of a detail, the inherited one first."""
    values = [
        {"value": visible(one.value)[0], "unit": one.unit, "inherited": one.inherited, "held": [held_to_json(held) for held in one.held]}
        for one in found.values
    ]
    return {
        "lineage": found.lineage,
        "generation": found.generation,
        "name": found.name,
        "title": found.title,
        "values": values,
        "why": [visible(reason)[0] for reason in found.why],
        "notes": list(found.notes),
    }


def tallies_to_json(listed: Tallies) -> dict[str, Any]:
    """The details that a lineage has facts on."""
    said: dict[str, Any] = to_json(listed)
    return said
