"""Conflicts, settings and gaps as parts of a pack (pure): whole lines, those on which most depends first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lineage.citation import pinpoint
from lineage.hyperparameters.mechanisms import PREFIX
from lineage.records import Fact, Hit
from lineage.results import Conflict, FactOccurrence, Gap, Gaps, PackItem, Specification, Stage, Suggestion
from lineage.text.tokens import terms
from retrieval.context import settings_file
from retrieval.context.markdown import code, fenced, inline, inline_path, licence
from retrieval.context.settings_file import UNSPECIFIED, ConfigLine, Programs
from retrieval.context.task import relevant
from retrieval.context.token_budget import Tokens

RecordKind = Literal["conflict", "config", "unspecified"]
TITLES: Mapping[RecordKind, str] = {"conflict": "conflicts", "config": "config.yaml", "unspecified": "unspecified"}
_SIDES, _NEAR = 4, 10
_TITLE, _CODE = 52, 44
"""Letters of a decision and of the code that settles it."""
_OVERHEAD = 6
"""Tokens of a section's name or of a fence, which lines share; counted for each, so that a sum is never too small."""


@dataclass(frozen=True)
class PackLine:
    """One whole line (or a few) of what was concluded: its tokens, and how much depends on it."""

    kind: RecordKind
    text: str
    weight: float
    cost: int = 0
    evidence: tuple[Hit, ...] = ()
    entry: ConfigLine | None = None


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
    asked = [gap for gap in gaps.gaps if stage == "planning" or relevant(gap.detail, task)]
    pack_lines = [_conflict(conflict) for conflict in gaps.conflicts if stage == "planning" or _concerns(conflict, task, asked)]
    if stage == "planning":
        entries = [*symbols(), *settings_file.entries([gap for gap in asked if not _in_code_only(gap)], programs)]
        pack_lines += [_decision(gap, place) for gap in asked if gap.state is not Specification.SPECIFIED and (place := _settled(gap))]
        pack_lines += [
            PackLine("config", config_line.line, config_line.weight, evidence=config_line.evidence, entry=config_line) for config_line in entries
        ]
    else:
        pack_lines += [_gap(gap) for gap in asked if gap.state is not Specification.SPECIFIED]
    costed = (replace(pack_line, cost=tokens.count(f"\n  {pack_line.text}") + _OVERHEAD) for pack_line in pack_lines)
    return sorted(costed, key=lambda pack_line: -pack_line.weight)


def more(kept: Sequence[PackLine], pack_lines: Sequence[PackLine], room: int) -> list[PackLine]:
    """Those kept, and the weightiest of the rest that fit into the room that is left."""
    chosen = list(kept)
    for record in pack_lines:
        if record not in chosen and record.cost <= room:
            chosen.append(record)
            room -= record.cost
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
    return "\n".join(record.text for record in some)


def _gap(gap: Gap) -> PackLine:
    """A detail that the target leaves open, with the best value of its lineage, or that nobody has one."""
    best = settings_file.best(gap)
    name, state = inline(gap.detail.title or gap.detail.name, 80), str(gap.state)
    if best is None:
        note = f"{state} ({_cited(gap.stated[0])})" if gap.stated else f"{UNSPECIFIED}: nobody in the lineage says"
        return PackLine("unspecified", f"- {name}: {note}", gap.detail.weight, evidence=gap.stated[:1])
    value = _value(best)
    text = f"- {name}: {state}; the lineage has {value}, {best.grade} evidence: {_cited(best.held[0].evidence)}"
    return PackLine("unspecified", text, gap.detail.weight, evidence=(best.held[0].evidence,))


def _in_code_only(gap: Gap) -> bool:
    """Whether statements of code settle an open decision and no value does."""
    return gap.detail.name.startswith(PREFIX) or (gap.state is not Specification.SPECIFIED and bool(_settled(gap)) and not settings_file.best(gap))


def _settled(gap: Gap) -> FactOccurrence | None:
    """The statement of the nearest ancestor that settles a decision, away from the value that stands in the settings."""
    best = settings_file.best(gap)
    held = (occurrence for suggestion in gap.suggestions[:1] for occurrence in suggestion.held if occurrence.fact.end_line)
    return next((occurrence for occurrence in held if not (best and _beside(occurrence, best.held[0]))), None)


def _beside(occurrence: FactOccurrence, other: FactOccurrence) -> bool:
    """Whether two facts stand within a few lines of one file."""
    same = (occurrence.fact.work, occurrence.evidence.chunk.path) == (other.fact.work, other.evidence.chunk.path)
    return same and abs(occurrence.fact.line - other.fact.line) <= _NEAR


def _decision(gap: Gap, place: FactOccurrence) -> PackLine:
    """An open decision with the code that settles it, in one line."""
    said = place.fact.value if len(place.fact.value) <= _CODE else f"{place.fact.value[:_CODE]}…"
    text = f"- {inline(gap.detail.title, _TITLE)}: {code(said)} {inline_path(pinpoint(place.evidence))}"
    return PackLine("unspecified", text, gap.detail.weight, evidence=(place.evidence,))


def _concerns(conflict: Conflict, task: str, asked: Sequence[Gap]) -> bool:
    named = {name for gap in asked for name in (gap.detail.name, *gap.detail.facts)}
    return conflict.name in named or not {*terms(f"{conflict.name.replace('_', ' ')} {conflict.title}")}.isdisjoint(terms(task))


def _conflict(conflict: Conflict) -> PackLine:
    """The sides in one line each, the surest evidence as it stands."""
    sides = "".join(f"\n  - {_side(occurrence)}" for occurrence in conflict.sides[:_SIDES])
    why = f": {inline(conflict.why)}" if conflict.why else ""
    text = f"- {inline(conflict.title or conflict.name, 80)} ({conflict.kind}, severity {conflict.severity:.2f}){why}{sides}"
    return PackLine("conflict", text, conflict.severity, evidence=tuple(occurrence.evidence for occurrence in conflict.sides[:_SIDES]))


def _side(held: FactOccurrence) -> str:
    return " · ".join(filter(None, (_value(held.fact), _cited(held.evidence), licence(held.evidence))))


def _value(fact: Fact | Suggestion) -> str:
    return code(f"{fact.value} {fact.unit}".strip())


def _cited(hit: Hit) -> str:
    return code(pinpoint(hit))
