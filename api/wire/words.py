"""Gaps, their answers and contradictions in words, the same for every renderer: of the records inside and of their views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineage.results import METHOD, SETTING, FactOccurrence, Gap, Specification, Suggestion

if TYPE_CHECKING:
    from api.wire.insight import FactOccurrenceView, GapView, SuggestionView

KINDS = {
    "paper-code": "paper vs. its code",
    "paper-followed": "paper vs. what it says it follows",
    "table-text": "table vs. text",
    "within": "two places of the paper",
}
STATES = {
    Specification.UNSPECIFIED: "not stated",
    Specification.PARTIALLY_SPECIFIED: "partly stated",
    Specification.SPECIFIED: "stated",
}


def is_open(gap: Gap | GapView) -> bool:
    """Whether a row is an open decision: further settings of the code and passages on the method are not."""
    return not gap.decision and gap.state is not Specification.SPECIFIED and gap.detail.topic != METHOD and not gap.detail.name.startswith(SETTING)


def valued(held: FactOccurrence | FactOccurrenceView) -> str:
    """A value with its unit and scope."""
    fact = held.fact
    return fact.value + (f" {fact.unit}" if fact.unit else "") + (f" ({fact.scope})" if fact.scope else "")


def answered(offer: Suggestion | SuggestionView) -> str:
    """A value that is offered as `name = value`, a statement of code as it is; "no value, but see" where there is none."""
    if not offer.held:
        return "no value, but see"
    held = offer.held[0]
    return held.fact.value if held.fact.end_line else f"{held.fact.name} = {valued(held)}"
