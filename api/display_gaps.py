"""What a paper leaves unsaid, as a table for people: the open details first, each with the best value the lineage has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from api.display import plain, shorten
from lineage.cite import citation, pinpoint
from lineage.insight import SETTING, Conflict, Gap, Gaps, Held, Specification, Suggestion
from lineage.model import Hit
from retrieval.gaps.text import SAYS

_STATES = {
    Specification.UNSPECIFIED: "UNSPECIFIED",
    Specification.PARTIALLY_SPECIFIED: "PARTIALLY SPECIFIED - named without a value, or left to others",
    Specification.SPECIFIED: "SPECIFIED",
}
_SETTINGS = "FURTHER SETTINGS of its own code, or of code that it follows, that the text does not give"
_HEADINGS = (*list(_STATES.values())[:2], _SETTINGS, _STATES[Specification.SPECIFIED])
_KINDS = {
    "paper-code": "paper against its code",
    "paper-followed": "paper against what it says it follows",
    "code-upstream": "code against what it was taken from",
    "table-text": "table against text",
}
_WIDTH = 150


def gaps(found: Gaps) -> str:
    """The report: kind of paper, details by state, conflicts."""
    counts = {state: sum(gap.state is state for gap in found.gaps) for state in Specification}
    head = [
        f"{found.lineage} · generation {found.generation}",
        f"{shorten(found.target.title or found.target.id, 110)}",
        f"{len(found.gaps)} details: " + ", ".join(f"{counts[state]} {state.value.lower().replace('_', ' ')}" for state in _STATES),
    ]
    head += [f"note: {plain(note)}" for note in found.notes]
    return "\n".join([*head, *_details(found), *_conflicts(found)])


def _details(found: Gaps) -> Iterator[str]:
    for heading, some in groupby(sorted(found.gaps, key=lambda gap: _HEADINGS.index(_heading(gap))), key=_heading):
        yield f"\n{heading}"
        for gap in some:
            yield from _gap(gap)


def _heading(gap: Gap) -> str:
    return _SETTINGS if gap.detail.name.startswith(SETTING) and gap.state is not Specification.SPECIFIED else _STATES[gap.state]


def _gap(gap: Gap) -> Iterator[str]:
    title = f"  {plain(gap.detail.topic):<14} {shorten(gap.detail.title, 34):<34}"
    if gap.state is Specification.SPECIFIED:
        yield f"{title}  {shorten(_stated(gap), _WIDTH - 30)}"
        return
    yield f"{title}  {plain(gap.why)}"
    for hit in gap.stated[:1]:
        yield f"      {plain(citation(hit))}: “{shorten(_line(hit), _WIDTH - 30)}”"
    for one in gap.suggestions[:1]:
        yield from _suggestion(one)
    if others := [f"{_named(one)} ({one.confidence:.2f})" for one in gap.suggestions[1:] if one.held]:
        yield f"            also: {shorten('; '.join(others), _WIDTH - 20)}"


def _stated(gap: Gap) -> str:
    if gap.facts:
        values = dict.fromkeys(f"{one.fact.name} = {_value(one)}" for one in gap.facts)
        return f"{'; '.join(values)}  [{citation(gap.facts[0].evidence)}]"
    return f"“{_line(gap.stated[0])}”  [{citation(gap.stated[0])}]" if gap.stated else gap.why


def _value(one: Held) -> str:
    scope = f" ({one.fact.scope})" if one.fact.scope else ""
    return one.fact.value + (f" {one.fact.unit}" if one.fact.unit else "") + scope


def _suggestion(one: Suggestion) -> Iterator[str]:
    works = len({held.fact.work for held in one.held})
    more = f", {works} sources" if works > 1 else ""
    yield f"      {one.confidence:.2f}  {shorten(_named(one), 90)}{more}"
    for link in one.chain:
        yield f"            {shorten(link, _WIDTH - 12)}"


def _named(one: Suggestion) -> str:
    return f"{one.held[0].fact.name} = {_value(one.held[0])}" if one.held else "no value, but see"


def _line(hit: Hit) -> str:
    """The sentence that answers, else the line."""
    if hit.why and hit.why[0].startswith(SAYS):
        return hit.why[0].removeprefix(SAYS)
    lines = hit.chunk.text.split("\n")
    at = hit.focus.start_line - hit.chunk.start_line if hit.focus else 0
    return lines[at] if 0 <= at < len(lines) else lines[0]


def _conflicts(found: Gaps) -> Iterator[str]:
    if not found.conflicts:
        yield "\nno sources were found to disagree"
        return
    yield f"\nCONFLICTS ({len(found.conflicts)})"
    for one in found.conflicts:
        yield from _conflict(one)


def _conflict(one: Conflict) -> Iterator[str]:
    yield f"  {one.severity:.2f}  {plain(one.title)}: {_KINDS.get(one.kind, one.kind)}  ({shorten(one.why, _WIDTH - 50)})"
    for held in one.sides:
        yield f"        {shorten(_value(held), 40):<40}  {held.fact.kind:<8} {plain(pinpoint(held.evidence))}"
