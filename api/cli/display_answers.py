"""Answers, packs and facts as text; evidence is numbered below or beside its value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from api.cli.display import licence, plain, printable, shorten
from api.cli.terminal import bold, dim, good
from lineage.citation import pinpoint
from lineage.records import Hit
from lineage.text.hidden_text import visible
from lineage.text.tokens import counted

if TYPE_CHECKING:
    from lineage.results import Consensus, FactOccurrence, ModelUsage, Pack, Tallies, Value, WrittenAnswer

_HELD = 6
_WHOLE, _SHORT = 8, 12
"""Values that are shown with their places, and after them with one place only."""


def pack(made: Pack) -> str:
    """Exactly what is sent; the command prints notes on it to stderr."""
    return made.text


def about(made: Pack) -> str:
    """One line on a pack: tokens used and allowed, items, what did not fit."""
    left = f"; did not fit: {'; '.join(plain(title) for title in made.left_out)}" if made.left_out else ""
    notes = "".join(f"\nnote: {plain(note)}" for note in made.notes)
    return f"{made.used} of {made.allowed} tokens ({plain(made.tokenizer)}), {len(made.items)} items{left}{notes}"


def written(answer: WrittenAnswer) -> str:
    """The sentences or quotations with the numbers of their evidence, the evidence, then what came near."""
    statements = answer.sentences or answer.quotes
    hits = list({hit.chunk.id: hit for statement in statements for hit in statement.evidence}.values())
    numbers = {hit.chunk.id: number for number, hit in enumerate(hits, 1)}
    lines = [dim(f"{answer.lineage} · generation {answer.generation}")]
    lines += [f"note: {plain(note)}" for note in answer.notes]
    lines += ["", "quoted, not claimed: these passages come nearest"] if answer.quotes else []
    for sentence in statements:
        cited = ", ".join(str(number) for number in sorted({numbers[hit.chunk.id] for hit in sentence.evidence}))
        lines += ["", f"{printable(visible(sentence.text)[0])} {dim(f'[{cited}]')}"]
    if not statements:
        lines += ["", "nothing in this lineage supports an answer"]
    lines += ["", *(f"[{number}] {_source(hit)}" for number, hit in enumerate(hits, 1))] if hits else []
    lines += ["", "nearest evidence:", *(f"  {_source(hit)}" for hit in answer.nearest)] if answer.nearest else []
    return "\n".join(lines)


def _source(hit: Hit) -> str:
    return " · ".join(filter(None, (plain(pinpoint(hit)), licence(hit), "target's own" if hit.from_target else "", plain(hit.chunk.id))))


def consensus(agreed: Consensus) -> str:
    """Each value with its holders: where, since when, in which words, and what it overrides."""
    lines = [f"{plain(agreed.title)} ({plain(agreed.name)}) in {agreed.lineage} · generation {agreed.generation}"]
    lines += [f"note: {plain(note)}" for note in agreed.notes]
    for value in agreed.values[:_WHOLE]:
        lines += ["", *_value(value)]
    lines += _rest(agreed.values[_WHOLE:])
    if agreed.why:
        lines += ["", "why the first one:", *(f"  {shorten(reason, 300)}" for reason in agreed.why)]
    return "\n".join(lines)


def _rest(values: Sequence[Value]) -> list[str]:
    """Further values, each with its first place only."""
    if not values:
        return []
    lines = [f"  {shorten(f'{value.value} {value.unit}', 60)}  {dim(plain(pinpoint(value.held[0].evidence)))}" for value in values[:_SHORT]]
    more = f", the first {_SHORT} of them with one place each" if len(values) > _SHORT else ", one place each"
    return ["", f"{counted(len(values), 'further value')}{more}; --json gives all:", *lines]


def _value(value: Value) -> list[str]:
    works = len({occurrence.fact.work for occurrence in value.held})
    computed = "" if value.held[0].fact.literal else "computed: "
    mark = "  ← inherited by the target" if value.inherited else ""
    count = counted(len(value.held), "place") + (f" in {counted(works, 'work')}" if len(value.held) > 1 else "")
    lines = [f"{computed}{bold(plain(f'{value.value} {value.unit}'))}  ({count}){good(mark)}"]
    lines += [line for occurrence in value.held[:_HELD] for line in _holder(occurrence)]
    left = len(value.held) - _HELD
    return [*lines, f"    … {left} more"] if left > 0 else lines


def _holder(occurrence: FactOccurrence) -> list[str]:
    fact = occurrence.fact
    where = " · ".join(
        filter(None, (pinpoint(occurrence.evidence), fact.kind, occurrence.since and f"since {occurrence.since}", fact.scope and f"of {fact.scope}"))
    )
    quote = f": {shorten(fact.said, 140)}" if fact.said else ""
    lines = [f"    {plain(where)}", f"        {shorten(fact.written, 40)}{quote}"]
    return [*lines, *(f"        overrides {plain(old.value)} ({old.kind}, line {old.line})" for old in occurrence.overridden)]


def tallies(listed: Tallies) -> str:
    """Details by topic: how many values in how many works."""
    lines = [f"{len(listed.rows)} details have values in {listed.lineage} · generation {listed.generation}", *map(plain, listed.notes)]
    for topic, rows in groupby(listed.rows, key=lambda row: row.topic):
        lines += ["", f"{plain(topic):<26} values works facts"]
        lines += [f"  {plain(row.name):<24} {row.values:>6} {row.works:>5} {row.facts:>5}  {plain(row.title)}" for row in rows]
    return "\n".join([*lines, "", "ask: lineage facts NAME"])


def usage(used: ModelUsage) -> str:
    """What a chat model is asked, or would be, and what that costs at most."""
    cost = f", at most ${used.cost:.4f}" if used.cost else ""
    tokens = f"at most {used.tokens_in:,} tokens in and {used.tokens_out:,} out"
    return f"{plain(used.model)}: {used.calls} calls ({used.cached} answers are kept), {tokens}{cost}"
