"""Conflicts, settings and gaps as parts of a pack (pure): whole lines, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from lineage.citation import pinpoint
from lineage.decisions import Decision
from lineage.records import MECHANISM, Fact, Hit
from lineage.results import Conflict, FactOccurrence, Gap, Gaps, PackItem, Specification, Stage, Suggestion
from lineage.text.tokens import terms
from retrieval.context import open_decisions, settings_file
from retrieval.context.markdown import code, fenced, inline, licence
from retrieval.context.open_decisions import OpenPlace
from retrieval.context.settings_file import UNSPECIFIED, ConfigLine, Programs
from retrieval.context.task import relevant
from retrieval.context.token_budget import Tokens

RecordKind = Literal["decided", "conflict", "config", "unspecified"]
TITLES: Mapping[RecordKind, str] = {"decided": "decided", "conflict": "conflicts", "config": "config.yaml", "unspecified": "unspecified"}
_SIDES, _NEAR = 4, 10
_OVERHEAD = 6
"""Tokens of a section's name or of a fence, which lines share; counted for each, so that a sum is never too small."""
_FIRST = 100.0
"""The weight of contradictions, which go before all others."""
_OPEN, _STEP, MOST = 1.0, 1 / 300, 400
"""The weight of the first place that settles an open decision, how much less each further one weighs, and how many there are."""


@dataclass(frozen=True)
class PackLine:
    """One whole line (or a few) of what was concluded, or one place of such a line: its tokens, and how much depends on it."""

    kind: RecordKind
    text: str
    weight: float
    cost: int = 0
    evidence: tuple[Hit, ...] = ()
    entry: ConfigLine | None = None
    open: OpenPlace | None = None


def of(
    gaps: Gaps | None,
    task: str,
    stage: Stage | None,
    tokens: Tokens,
    programs: Programs | None = None,
    symbols: Callable[[], Sequence[ConfigLine]] = tuple,
) -> list[PackLine]:
    """Everything that the gaps of a target say for a task, weightiest first: for planning all with the method's own `symbols`, else what
    the task speaks of."""
    if gaps is None:
        return []
    decided = [_decided(gap, gap.decision) for gap in gaps.gaps if gap.decision]
    asked = [gap for gap in gaps.gaps if not gap.decision and (stage == "planning" or relevant(gap.detail, task))]
    pack_lines = decided + [_conflict(conflict) for conflict in gaps.conflicts if stage == "planning" or _concerns(conflict, task, asked)]
    if stage == "planning":
        entries = [*symbols(), *settings_file.entries([gap for gap in asked if not _in_code_only(gap)], programs)]
        pack_lines += _open([gap for gap in asked if gap.state is not Specification.SPECIFIED], tokens)
        pack_lines += [
            PackLine("config", config_line.line, config_line.weight, evidence=config_line.evidence, entry=config_line) for config_line in entries
        ]
    else:
        pack_lines += [_gap(gap) for gap in asked if gap.state is not Specification.SPECIFIED]
    return sorted((_costed(pack_line, tokens) for pack_line in pack_lines), key=lambda pack_line: -pack_line.weight)


def _costed(pack_line: PackLine, tokens: Tokens) -> PackLine:
    return pack_line if pack_line.cost else replace(pack_line, cost=tokens.count(f"\n  {pack_line.text}") + _OVERHEAD)


def more(kept: Sequence[PackLine], pack_lines: Sequence[PackLine], room: int) -> list[PackLine]:
    """Those kept, and the weightiest of the rest that fit into the room that is left."""
    chosen, is_full = list(kept), False
    known = {(record.kind, record.text) for record in kept}
    for record in pack_lines:
        if (record.kind, record.text) in known or (is_full and record.open):
            continue
        if record.cost <= room:
            chosen.append(record)
            room -= record.cost
        is_full = is_full or (record.open is not None and record not in chosen[-1:])  # what a further place costs builds on those before it
    return chosen


def cost(some: Sequence[PackLine]) -> int:
    """What records cost together, at most."""
    return sum(pack_line.cost for pack_line in some)


def parts(kept: Sequence[PackLine], tokens: Tokens) -> list[PackItem]:
    """An item a kind; the settings as one file."""
    items = []
    for kind, title in TITLES.items():
        if some := [record for record in kept if record.kind == kind]:
            text = _text(kind, some)
            hits = {hit.chunk.id: hit for record in some for hit in record.evidence}
            items.append(PackItem(kind, title, text, tokens.count(text), tuple(hits.values())))
    return items


def _text(kind: RecordKind, some: Sequence[PackLine]) -> str:
    if kind == "config":
        return fenced(settings_file.yaml([record.entry for record in some if record.entry]), "yaml")
    lines = [record.text for record in some if not record.open]
    return "\n".join(filter(None, (*lines, open_decisions.text([record.open for record in some if record.open]))))


def _decided(gap: Gap, decision: Decision) -> PackLine:
    """What was decided on a detail, before all else."""
    note = f" {inline(decision.note, 160)}" if decision.note else ""
    because = f"decided by {inline(decision.who, 160)}, because of {code(decision.citation)}.{note}"
    return PackLine(
        "decided", f"- {inline(decision.title or gap.detail.title, 80)}: {code(decision.value)}; {because}", 2 * _FIRST + gap.detail.weight
    )


def _gap(gap: Gap) -> PackLine:
    """A detail that the target leaves open, with the best value of its lineage, or that nobody has one."""
    best = settings_file.best(gap)
    title, state = inline(gap.detail.title or gap.detail.name, 80), str(gap.state)
    if best is None:
        note = f"{state} ({_cited(gap.stated[0])})" if gap.stated else f"{UNSPECIFIED}: nobody in the lineage says"
        return PackLine("unspecified", f"- {title}: {note}", gap.detail.weight, evidence=gap.stated[:1])
    value = _value(best)
    text = f"- {title}: {state}; the lineage has {value}, {best.grade} evidence: {_cited(best.held[0].evidence)}"
    return PackLine("unspecified", text, gap.detail.weight, evidence=(best.held[0].evidence,))


def _in_code_only(gap: Gap) -> bool:
    """Whether code settles an open decision and no value does that more than weak evidence speaks for."""
    best = settings_file.best(gap)
    weak = best is None or (best.grade == "weak" and not best.held[0].evidence.from_target)
    return gap.detail.name.startswith(MECHANISM) or (gap.state is not Specification.SPECIFIED and weak and _has_code(gap))


def _has_code(gap: Gap) -> bool:
    held = (occurrence for suggestion in gap.suggestions for occurrence in suggestion.held)
    return any(occurrence.fact.line and occurrence.evidence.work.kind == "code" for occurrence in held)


def _beside(gap: Gap, occurrence: FactOccurrence) -> bool:
    """Whether a fact stands within a few lines of the value that the settings have."""
    best = settings_file.best(gap)
    if best is None or _in_code_only(gap):
        return False
    other = best.held[0]
    same = (occurrence.fact.work, occurrence.evidence.chunk.path) == (other.fact.work, other.evidence.chunk.path)
    return same and abs(occurrence.fact.line - other.fact.line) <= _NEAR


def _open(gaps: Sequence[Gap], tokens: Tokens) -> Iterator[PackLine]:
    """The places that settle open decisions, in the order in which they are worth what they cost."""
    for nth, (place, added) in enumerate(islice(open_decisions.chosen(gaps, _beside, tokens), MOST)):
        yield PackLine("unspecified", f"{place.row} {place.nth}", _OPEN - nth * _STEP, added, (place.hit,), open=place)


def _concerns(conflict: Conflict, task: str, asked: Sequence[Gap]) -> bool:
    named = {name for gap in asked for name in (gap.detail.name, *gap.detail.facts)}
    return conflict.name in named or not {*terms(f"{conflict.name.replace('_', ' ')} {conflict.title}")}.isdisjoint(terms(task))


def _conflict(conflict: Conflict) -> PackLine:
    """The sides in one line each, the surest evidence as it stands."""
    sides = "".join(f"\n  - {_side(occurrence)}" for occurrence in conflict.sides[:_SIDES])
    why = f": {inline(conflict.why)}" if conflict.why else ""
    text = f"- {inline(conflict.title or conflict.name, 80)} ({conflict.kind}, severity {conflict.severity:.2f}){why}{sides}"
    return PackLine("conflict", text, _FIRST + conflict.severity, evidence=tuple(occurrence.evidence for occurrence in conflict.sides[:_SIDES]))


def _side(held: FactOccurrence) -> str:
    return " · ".join(filter(None, (_value(held.fact), _cited(held.evidence), licence(held.evidence))))


def _value(fact: Fact | Suggestion) -> str:
    return code(f"{fact.value} {fact.unit}".strip())


def _cited(hit: Hit) -> str:
    return code(pinpoint(hit))
