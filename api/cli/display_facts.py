"""What a lineage knows, for people: the values of a detail with their holders, and the table of details."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from api.cli.display import plain, shorten
from api.cli.terminal import bold, good
from lineage.citation import pinpoint
from lineage.results import Consensus, FactOccurrence, Value

if TYPE_CHECKING:
    from retrieval.decisions.consensus import Tallies

_SHOWN = 6


def consensus(found: Consensus) -> str:
    """Each value with its holders: where, since when, in which words, and what it overrides."""
    lines = [f"{plain(found.title)} ({plain(found.name)}) in {found.lineage} · generation {found.generation}"]
    lines += [f"note: {plain(note)}" for note in found.notes]
    for value in found.values:
        lines += ["", *_value(value)]
    if found.why:
        lines += ["", "why the first one:", *(f"  {shorten(reason, 300)}" for reason in found.why)]
    return "\n".join(lines)


def _value(value: Value) -> list[str]:
    works = len({occurrence.fact.work for occurrence in value.held})
    computed = "" if value.held[0].fact.literal else "computed: "
    mark = "  ← inherited by the target" if value.inherited else ""
    count = f"{len(value.held)} places in {works} work{'s' if works > 1 else ''}" if len(value.held) > 1 else "1 place"
    lines = [f"{computed}{bold(plain(f'{value.value} {value.unit}'))}  ({count}){good(mark)}"]
    lines += [line for occurrence in value.held[:_SHOWN] for line in _holder(occurrence)]
    left = len(value.held) - _SHOWN
    return [*lines, f"    … {left} more"] if left > 0 else lines


def _holder(occurrence: FactOccurrence) -> list[str]:
    fact = occurrence.fact
    where = " · ".join(
        filter(None, (pinpoint(occurrence.evidence), fact.kind, occurrence.since and f"since {occurrence.since}", fact.scope and f"of {fact.scope}"))
    )
    lines = [f"    {plain(where)}", f"        {shorten(fact.written, 40)}: {shorten(fact.said, 140)}"]
    return [*lines, *(f"        overrides {plain(old.value)} ({old.kind}, line {old.line})" for old in occurrence.overridden)]


def tallies(listed: Tallies) -> str:
    """Details by topic: how many values in how many works."""
    lines = [f"{len(listed.rows)} details have values in {listed.lineage} · generation {listed.generation}", *map(plain, listed.notes)]
    for topic, rows in groupby(listed.rows, key=lambda row: row.topic):
        lines += ["", plain(topic)]
        lines += [f"  {plain(row.name):<24} {row.values:>4} values  {row.works:>3} works  {row.facts:>5} facts   {plain(row.title)}" for row in rows]
    return "\n".join([*lines, "", "ask: lineage facts NAME"])
