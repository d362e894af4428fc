"""The report of gaps on one screen: contradictions, then the open decisions that weigh most, and counts of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from api.cli.display import plain, shorten
from api.cli.display_gaps import decided
from api.cli.terminal import bad, bold, cut, dim
from api.wire.insight import KINDS, STATES, is_open, valued
from lineage.citation import pinpoint
from lineage.records import Hit
from lineage.results import METHOD, Conflict, Gap, Gaps, Specification

LINES = 40
_FEWEST = 16
_DECIDED = 6
_FRAME = 9
"""Lines of head, headings, blanks and foot, with the prompt that follows."""


def brief(report: Gaps, rows: int = LINES, columns: int = 80) -> str:
    """At most about `rows` lines for a terminal of `columns`, each cut at its edge and not wrapped."""
    room = max(_FEWEST, min(LINES, rows)) - _FRAME
    decisions = sorted((gap for gap in report.gaps if is_open(gap)), key=lambda gap: -gap.detail.weight)
    conflicts = _conflicts(report.conflicts, max(room // 3, room - 2 * len(decisions)))
    made = _made(report)
    lines = [*_head(report), *made, *conflicts, *_open(decisions, room - len(made) - len(conflicts) + 1, columns), "", *_foot(report, len(decisions))]
    return "\n".join(map(cut, lines))


def _made(report: Gaps) -> list[str]:
    rows = [line for gap in report.gaps if gap.decision for line in islice(decided(gap, gap.decision), 1)]
    more = dim(f"  ({len(rows) - _DECIDED} more)") if len(rows) > _DECIDED else ""
    return ["", bold(f"DECIDED ({len(rows)})") + more, *rows[:_DECIDED]] if rows else []


def _head(report: Gaps) -> Iterator[str]:
    yield f"{bold(shorten(report.target.title or report.target.id, 90))}  {dim(report.lineage)}"
    for note in report.notes[:1]:
        yield dim(f"note: {plain(note)}")


def _conflicts(conflicts: Sequence[Conflict], room: int) -> list[str]:
    if not conflicts:
        return ["", "no contradictions between sources were found"]
    shown = conflicts[: max(1, room // 3)]
    more = dim(f"  ({len(conflicts) - len(shown)} more)") if len(conflicts) > len(shown) else ""
    return ["", bad(f"CONTRADICTIONS ({len(conflicts)})") + more, *(line for conflict in shown for line in _conflict(conflict))]


def _conflict(conflict: Conflict) -> Iterator[str]:
    yield f"  {plain(conflict.title)} {dim(KINDS.get(conflict.kind, conflict.kind))}"
    for side in conflict.sides[:2]:
        yield f"      {shorten(valued(side), 34):<34} {dim(_place(side.evidence))}"


def _open(decisions: Sequence[Gap], room: int, columns: int) -> list[str]:
    if not decisions:
        return ["", "no open decisions: the paper states every detail on the list"]
    rows = [_decision(gap, columns) for gap in decisions]
    shown = list(islice(rows, max(1, room - 2)))
    more = dim(f"  ({len(rows) - len(shown)} more)") if len(rows) > len(shown) else ""
    return ["", bold(f"OPEN DECISIONS ({len(rows)})") + dim(", most important first; with the best value found") + more, *shown]


def _decision(gap: Gap, columns: int) -> str:
    title, room = (min(max(least, columns * share // 100), most) for least, share, most in ((26, 28, 60), (30, 34, 76)))
    offer = next((suggestion for suggestion in gap.suggestions if suggestion.held), None)
    if not offer:
        value, where = "no value, but passages" if gap.suggestions else "nothing in the lineage", ""
    else:
        fact, where = offer.held[0].fact, dim(_place(offer.held[0].evidence))
        value = fact.value if fact.end_line else f"{fact.name} = {fact.value} {fact.unit}"
    return f"  {shorten(gap.detail.title, title):<{title}} {dim(f'{STATES[gap.state]:<13}')} {shorten(value, room):<{room}} {where}".rstrip()


def _place(hit: Hit) -> str:
    """Where a value stands, short: repository, path and line of code, as cited otherwise."""
    if hit.work.kind != "code" or not hit.chunk.path:
        return plain(pinpoint(hit))
    line = hit.focus.start_line if hit.focus else hit.chunk.start_line
    return plain(f"{hit.work.id.rpartition('/')[2]}/{hit.chunk.path}:{line}")


def _foot(report: Gaps, decisions: int) -> Iterator[str]:
    rows = [gap for gap in report.gaps if not gap.decision]
    stated = sum(gap.state is Specification.SPECIFIED for gap in rows)
    steps = sum(gap.state is not Specification.SPECIFIED and gap.detail.topic == METHOD for gap in rows)
    settings = len(rows) - stated - steps - decisions
    yield f"not shown: {stated} stated details, {settings} further settings, {steps} steps that only code gives"
    yield dim("all of it: lineage gaps --full     one detail: lineage facts NAME")
