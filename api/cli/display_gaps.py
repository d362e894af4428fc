"""What a paper leaves unsaid, as a table for people: the open details first, each with the best value the lineage has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from api.cli.display import plain, shorten
from api.cli.terminal import bad, bold, dim
from lineage.citation import citation, pinpoint
from lineage.records import Hit
from lineage.results import METHOD, SETTING, Conflict, FactOccurrence, Gap, Gaps, Specification, Suggestion
from retrieval.gaps.target_text import SAYS

_STATES = {
    Specification.UNSPECIFIED: "UNSPECIFIED",
    Specification.PARTIALLY_SPECIFIED: "PARTIALLY SPECIFIED: mentioned without a value, or deferred to other work",
    Specification.SPECIFIED: "SPECIFIED",
}
_SETTINGS = "FURTHER SETTINGS of its own code, or of code that it follows, which the text does not give"
_STEPS = "PASSAGES whose steps only the code gives"
_HEADINGS = (*list(_STATES.values())[:2], _SETTINGS, _STEPS, _STATES[Specification.SPECIFIED])
KINDS = {
    "paper-code": "paper vs. its code",
    "paper-followed": "paper vs. what it says it follows",
    "code-upstream": "code vs. its upstream",
    "table-text": "table vs. text",
}
_WIDTH = 150


def gaps(found: Gaps) -> str:
    """The report: kind of paper, details by state, conflicts."""
    counts = {state: sum(gap.state is state for gap in found.gaps) for state in Specification}
    head = [
        dim(f"{found.lineage} · generation {found.generation}"),
        f"{shorten(found.target.title or found.target.id, 110)}",
        f"{len(found.gaps)} details: " + ", ".join(f"{counts[state]} {state.value.lower().replace('_', ' ')}" for state in _STATES),
    ]
    head += [f"note: {plain(note)}" for note in found.notes]
    return "\n".join([*head, *_details(found), *_conflicts(found)])


def _details(found: Gaps) -> Iterator[str]:
    told: set[str] = set()
    for heading, some in groupby(sorted(found.gaps, key=lambda gap: _HEADINGS.index(_heading(gap))), key=_heading):
        yield "\n" + bold(heading)
        for gap in some:
            yield from _row(gap, heading, told)


def _heading(gap: Gap) -> str:
    if gap.state is Specification.SPECIFIED:
        return _STATES[gap.state]
    if gap.detail.topic == METHOD:
        return _STEPS
    return _SETTINGS if gap.detail.name.startswith(SETTING) else _STATES[gap.state]


def _row(gap: Gap, heading: str, told: set[str]) -> Iterator[str]:
    if heading == _SETTINGS:
        return _setting(gap)
    if heading == _STEPS:
        return _steps(gap)
    return _gap(gap, told)


def _gap(gap: Gap, told: set[str]) -> Iterator[str]:
    """A detail; `told` are the sentences, and whose code is its own, that stand above and are not said again."""
    title = f"  {plain(gap.detail.topic):<14} {shorten(gap.detail.title, 34):<34}"
    if gap.state is Specification.SPECIFIED:
        yield f"{title}  {shorten(_stated(gap), _WIDTH - 30)}"
        return
    yield f"{title}  {plain(gap.why)}"
    for hit in gap.stated[:1]:
        said = _line(hit)
        yield f"      {plain(citation(hit))}: " + ("quoted above" if said in told else f"“{shorten(said, _WIDTH - 30)}”")
        told.add(said)
    for one in gap.suggestions[:1]:
        yield from _suggestion(one, told)
    yield from _others(gap, 12)


def _setting(gap: Gap) -> Iterator[str]:
    for one in gap.suggestions[:1]:
        yield f"  {one.grade:<6}  {shorten(named(one), 48):<48}  {plain(pinpoint(one.held[0].evidence))}"
    yield from _others(gap, 8)


def _steps(gap: Gap) -> Iterator[str]:
    for one in gap.suggestions[:1]:
        yield f"  {one.grade:<6}  {shorten(gap.detail.title, 72):<72}  {plain(gap.why)}"
        yield f"        {plain(citation(gap.stated[0]))}, {plain(pinpoint(one.evidence[0]))}"


def _others(gap: Gap, indent: int) -> Iterator[str]:
    if others := [f"{named(one)} ({one.grade})" for one in gap.suggestions[1:] if one.held]:
        yield " " * indent + f"also: {shorten('; '.join(others), _WIDTH - 20)}"


def _stated(gap: Gap) -> str:
    if gap.facts:
        values = dict.fromkeys(f"{one.fact.name} = {valued(one)}" for one in gap.facts)
        return f"{'; '.join(values)}  [{citation(gap.facts[0].evidence)}]"
    return f"“{_line(gap.stated[0])}”  [{citation(gap.stated[0])}]" if gap.stated else gap.why


def valued(one: FactOccurrence) -> str:
    """A value with its unit and scope."""
    scope = f" ({one.fact.scope})" if one.fact.scope else ""
    return one.fact.value + (f" {one.fact.unit}" if one.fact.unit else "") + scope


def _suggestion(one: Suggestion, told: set[str]) -> Iterator[str]:
    works = len({held.fact.work for held in one.held})
    more = f", {works} sources" if works > 1 else ""
    yield f"      {one.grade:<6}  {shorten(named(one), 90)}{more}: {shorten(one.reason, 90)}"
    for link in one.chain[one.chain[0] in told :]:
        yield f"            {shorten(link, _WIDTH - 12)}"
    told.update(one.chain[: _is_own(one)])


def _is_own(one: Suggestion) -> bool:
    """Whether the evidence is of the target's own code, so that one link leads to it, the same for all of it."""
    hit = next((held.evidence for held in one.held), None) or next(iter(one.evidence), None)
    return hit is not None and hit.from_target and hit.work.kind == "code"


def named(one: Suggestion) -> str:
    """A suggestion as `name = value`."""
    return f"{one.held[0].fact.name} = {valued(one.held[0])}" if one.held else "no value, but see"


def _line(hit: Hit) -> str:
    """The sentence that answers, else the line."""
    if hit.why and hit.why[0].startswith(SAYS):
        return hit.why[0].removeprefix(SAYS)
    lines = hit.chunk.text.split("\n")
    at = hit.focus.start_line - hit.chunk.start_line if hit.focus else 0
    return lines[at] if 0 <= at < len(lines) else lines[0]


def _conflicts(found: Gaps) -> Iterator[str]:
    if not found.conflicts:
        yield "\nno contradictions between sources were found"
        return
    yield "\n" + bad(f"CONTRADICTIONS ({len(found.conflicts)})")
    for one in found.conflicts:
        yield from _conflict(one)


def _conflict(one: Conflict) -> Iterator[str]:
    yield f"  {one.severity:.2f}  {plain(one.title)}: {KINDS.get(one.kind, one.kind)}  ({shorten(one.why, _WIDTH - 50)})"
    for held in one.sides:
        yield f"        {shorten(valued(held), 40):<40}  {held.fact.kind:<8} {plain(pinpoint(held.evidence))}"
