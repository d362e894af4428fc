"""What a paper leaves unsaid, for people: a table with the open details first, each with the best value the lineage has; and one screen of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from textwrap import wrap

from api.cli.display import plain, shorten
from api.cli.terminal import bad, bold, cut, dim
from api.wire.insight import KINDS, answered, is_open, valued
from lineage.citation import citation, pinpoint
from lineage.decisions import Decision
from lineage.hyperparameters.values import worded
from lineage.reasons import first
from lineage.records import MECHANISM, Hit, ReasonKind
from lineage.results import SETTING, Conflict, Gap, Gaps, Specification, Suggestion

_STATES = {
    Specification.UNSPECIFIED: "UNSPECIFIED",
    Specification.PARTIALLY_SPECIFIED: "PARTIALLY SPECIFIED: mentioned without a value, or deferred to other work",
    Specification.SPECIFIED: "SPECIFIED",
}
_SETTINGS = "FURTHER SETTINGS of its own code, which the text does not give"
_DECIDED = "DECIDED"
_UNCONFIRMED = "UNCONFIRMED: the model, with the whole text before it, does not find that these apply and that the lines decide them"
_HEADINGS = (_DECIDED, *list(_STATES.values())[:2], _SETTINGS, _STATES[Specification.SPECIFIED], _UNCONFIRMED)
_WIDTH = 150
_STATEMENTS = 3
LINES = 40
_FEWEST = 4
_MOST_DECIDED, _MOST_CONFLICTS = 6, 5
_TITLE, _LONGEST = 22, 46
"""Columns of a title on a terminal of 80 columns, and the most; wider ones give half of what they have more to titles."""
_FRAME = 6
"""Lines of a screen below the contradictions: the heading of the decisions, blanks and foot, with the prompt that follows."""


def gaps(report: Gaps) -> str:
    """The report: kind of paper, contradictions, details by state."""
    counts = {state: sum(gap.state is state for gap in report.gaps) for state in Specification}
    head = [
        dim(f"{report.lineage} · generation {report.generation}"),
        f"{shorten(report.target.title or report.target.id, 110)}",
        f"{len(report.gaps)} details: " + ", ".join(f"{counts[state]} {state.value.lower().replace('_', ' ')}" for state in _STATES),
    ]
    head += [f"note: {plain(note)}" for note in report.notes]
    return "\n".join([*head, *_conflicts(report), *_details(report)])


def _details(report: Gaps) -> Iterator[str]:
    shown: set[str] = set()
    for heading, rows in groupby(sorted(report.gaps, key=lambda gap: _HEADINGS.index(_heading(gap))), key=_heading):
        yield "\n" + bold(heading)
        for gap in rows:
            yield from _row(gap, heading, shown)


def _heading(gap: Gap) -> str:
    if gap.decision:
        return _DECIDED
    if gap.state is Specification.SPECIFIED:
        return _STATES[gap.state]
    if gap.confirmed is False:
        return _UNCONFIRMED
    return _SETTINGS if gap.detail.name.startswith(SETTING) else _STATES[gap.state]


def _row(gap: Gap, heading: str, shown: set[str]) -> Iterator[str]:
    if gap.decision:
        return decided(gap, gap.decision)
    if heading == _SETTINGS:
        return _setting(gap)
    if heading == _UNCONFIRMED:
        return iter((_brief_decision(gap, _WIDTH),))
    return _gap(gap, shown)


def _gap(gap: Gap, shown: set[str]) -> Iterator[str]:
    """A detail; `told` are the sentences, and whose code is its own, that stand above and are not said again."""
    title = f"  {plain(gap.detail.topic):<14} {shorten(gap.detail.title, 34):<34}"
    if gap.state is Specification.SPECIFIED:
        yield f"{title}  {shorten(_stated(gap), _WIDTH - 30)}"
        return
    yield f"{title}  {plain(gap.why)}"
    if gap.detail.name.startswith(MECHANISM):
        yield from _statements(gap)
        return
    for hit in gap.stated[:1]:
        text = _line(hit)
        yield f"      {plain(citation(hit))}: " + ("quoted above" if text in shown else f"“{shorten(text, _WIDTH - 30)}”")
        shown.add(text)
    for suggestion in gap.suggestions[:1]:
        yield from _suggestion(suggestion, shown)
    yield from _others(gap, 12)


def decided(gap: Gap, decision: Decision) -> Iterator[str]:
    """What was decided on a detail, by whom and because of what."""
    yield f"  {shorten(gap.detail.title, 34):<34}  {shorten(decision.value, 40)}  {dim(shorten(decision.who, 70))}"
    yield f"      {plain(decision.citation)}" + (f": {shorten(decision.note, 80)}" if decision.note else "")


def _statements(gap: Gap) -> Iterator[str]:
    """What up to three repositories do, a line of code and its place each."""
    for suggestion in gap.suggestions[:_STATEMENTS]:
        occurrence = suggestion.held[0]
        yield f"      {suggestion.grade:<6}  {shorten(occurrence.fact.value, 70):<70}  {plain(pinpoint(occurrence.evidence))}"


def _setting(gap: Gap) -> Iterator[str]:
    for suggestion in gap.suggestions[:1]:
        yield f"  {suggestion.grade:<6}  {shorten(answered(suggestion), 48):<48}  {plain(pinpoint(suggestion.held[0].evidence))}"
    yield from _others(gap, 8)


def _others(gap: Gap, indent: int) -> Iterator[str]:
    if others := [f"{answered(suggestion)} ({suggestion.grade})" for suggestion in gap.suggestions[1:]]:
        yield " " * indent + f"also: {shorten('; '.join(others), _WIDTH - 20)}"


def _stated(gap: Gap) -> str:
    if gap.facts:
        values = dict.fromkeys(f"{occurrence.fact.name} = {valued(occurrence)}" for occurrence in gap.facts)
        return f"{'; '.join(values)}  [{citation(gap.facts[0].evidence)}]"
    return f"“{_line(gap.stated[0])}”  [{citation(gap.stated[0])}]" if gap.stated else gap.why


def _suggestion(suggestion: Suggestion, shown: set[str]) -> Iterator[str]:
    works = len({occurrence.fact.work for occurrence in suggestion.held})
    more = f", {works} sources" if works > 1 else ""
    yield f"      {suggestion.grade:<6}  {shorten(answered(suggestion), 90)}{more}: {shorten(suggestion.reason, 90)}"
    for link in suggestion.chain[suggestion.chain[0] in shown :]:
        yield f"            {shorten(link, _WIDTH - 12)}"
    shown.update(suggestion.chain[: _is_own(suggestion)])


def _is_own(suggestion: Suggestion) -> bool:
    """Whether the evidence is of the target's own code, so that one link leads to it, the same for all of it."""
    hit = suggestion.held[0].evidence
    return hit.from_target and hit.work.kind == "code"


def _line(hit: Hit) -> str:
    """The sentence that answers, else the line."""
    if sentence := first(hit, ReasonKind.SAYS):
        return sentence
    lines = hit.chunk.text.split("\n")
    at = hit.focus.start_line - hit.chunk.start_line if hit.focus else 0
    return lines[at] if 0 <= at < len(lines) else lines[0]


def _conflicts(report: Gaps) -> Iterator[str]:
    if report.conflicts:
        yield "\n" + bad(f"CONTRADICTIONS ({len(report.conflicts)})")
    for conflict in report.conflicts:
        yield from _conflict(conflict)


def _conflict(conflict: Conflict) -> Iterator[str]:
    yield f"  {plain(conflict.title)}: {KINDS.get(conflict.kind, conflict.kind)}"
    yield from wrap(plain(conflict.why), _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    for occurrence in conflict.sides:
        yield f"        {plain(pinpoint(occurrence.evidence))} ({occurrence.fact.kind}): {shorten(valued(occurrence), 100)}"


# -- one screen: contradictions, then the open decisions that weigh most, and counts of the rest


def brief(report: Gaps, rows: int = LINES, columns: int = 80) -> str:
    """The contradictions, and as many open decisions as fit `rows` lines of a terminal of `columns`, each cut at its edge and not wrapped."""
    decisions = sorted((gap for gap in report.gaps if is_open(gap) and gap.confirmed is not False), key=lambda gap: -gap.detail.weight)
    above = [*_brief_head(report), *_brief_made(report), *_brief_conflicts(report.conflicts, columns)]
    room = max(_FEWEST, min(LINES, rows) - len(above) - _FRAME)
    lines = [*above, *_brief_open(decisions, room, columns), "", *_brief_foot(report, len(decisions))]
    return "\n".join(map(cut, lines))


def _brief_made(report: Gaps) -> list[str]:
    rows = [line for gap in report.gaps if gap.decision for line in islice(decided(gap, gap.decision), 1)]
    more = dim(f"  ({len(rows) - _MOST_DECIDED} more)") if len(rows) > _MOST_DECIDED else ""
    return ["", bold(f"DECIDED ({len(rows)})") + more, *rows[:_MOST_DECIDED]] if rows else []


def _brief_head(report: Gaps) -> Iterator[str]:
    yield f"{bold(shorten(report.target.title or report.target.id, 90))}  {dim(report.lineage)}"
    for note in report.notes[:1]:
        yield dim(f"note: {plain(note)}")


def _brief_conflicts(conflicts: Sequence[Conflict], columns: int) -> list[str]:
    if not conflicts:
        return []
    more = dim(f"  ({len(conflicts) - _MOST_CONFLICTS} more)") if len(conflicts) > _MOST_CONFLICTS else ""
    lines = (line for conflict in conflicts[:_MOST_CONFLICTS] for line in _brief_conflict(conflict, columns))
    return ["", bad(f"CONTRADICTIONS ({len(conflicts)})") + more, *lines]


def _brief_conflict(conflict: Conflict, columns: int) -> Iterator[str]:
    """What differs, with the first side on the same line; the other side under it."""
    titles = (conflict.title, "  " + KINDS.get(conflict.kind, conflict.kind))
    for title, side in zip(titles, conflict.sides, strict=False):
        yield _brief_row(title, valued(side), side.evidence, columns)


def _brief_open(decisions: Sequence[Gap], room: int, columns: int) -> list[str]:
    if not decisions:
        return ["", "no open decisions: the paper states every detail on the list"]
    more = dim(f"  ({len(decisions) - room} more)") if len(decisions) > room else ""
    heading = bold(f"OPEN DECISIONS ({len(decisions)})") + dim(", most important first; ~ stated in part") + more
    return ["", heading, *(_brief_decision(gap, columns) for gap in decisions[:room])]


def _brief_decision(gap: Gap, columns: int) -> str:
    title = ("~ " if gap.state is Specification.PARTIALLY_SPECIFIED else "") + gap.detail.title
    if not gap.suggestions:
        return _brief_row(title, "nothing in the lineage", None, columns)
    fact = gap.suggestions[0].held[0].fact
    return _brief_row(
        title, fact.value if fact.end_line else f"{fact.name} = {worded(fact.value, fact.unit)}", gap.suggestions[0].held[0].evidence, columns
    )


def _brief_row(title: str, value: str, evidence: Hit | None, columns: int) -> str:
    """Title, value and place in three columns; of a place that is too long the end stays, which has the file and the line."""
    titles = min(_LONGEST, _TITLE + max(0, columns - 80) // 2)
    room = max(columns, 60) - titles - 5
    width = room * 2 // 5
    value = f"{shorten(value, width):<{width}}"
    place = _place(evidence) if evidence else ""
    place = place if len(place) <= room - width else "…" + place[width + 1 - room :]
    return f"  {shorten(title, titles):<{titles}} {value} {dim(place)}".rstrip()


def _place(hit: Hit) -> str:
    """Where a value stands, short: repository, path and line of code, as cited otherwise."""
    if hit.work.kind != "code" or not hit.chunk.path:
        return plain(pinpoint(hit))
    line = hit.focus.start_line if hit.focus else hit.chunk.start_line
    return plain(f"{hit.work.id.rpartition('/')[2]}/{hit.chunk.path}:{line}")


def _brief_foot(report: Gaps, decisions: int) -> Iterator[str]:
    rows = [gap for gap in report.gaps if not gap.decision]
    stated, unconfirmed = (sum(kind) for kind in ((gap.state is Specification.SPECIFIED for gap in rows), (gap.confirmed is False for gap in rows)))
    more = f", {unconfirmed} that the model does not confirm" if unconfirmed else ""
    yield f"not shown: {stated} stated details, {len(rows) - stated - unconfirmed - decisions} further settings{more}"
    yield dim("all of it: lineage gaps --full     one detail: lineage facts NAME")
