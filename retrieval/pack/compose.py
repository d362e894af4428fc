"""A pack out of evidence (pure but for reading the catalogue): chosen, written, counted, never over the budget.

What the target says comes first, then what its lineage adds, then conflicts, a sourced `config.yaml` and what nobody
states. Every part is whole: what does not fit is left out and said. The count is made once more on the finished text,
because tokens may join across borders; if it were over, the least valuable part goes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lineage.catalog import Catalog
from lineage.cite import citation
from lineage.errors import NotFound, UsageError
from lineage.insight import Gaps, Pack, PackItem, Stage
from lineage.model import Answer, Work
from retrieval.budget import Tokens
from retrieval.pack import records
from retrieval.pack.choose import MOST, Value, choose
from retrieval.pack.markdown import NOTICE, block, code, inline, inline_path, source
from retrieval.pack.stages import HEADINGS, ORDER, POLICIES, Policy
from retrieval.pack.task import Subquestion, components
from retrieval.pack.units import Kind, Unit, units, words_of

_LEFT_OUT = 6
_REFILLS = 3
_MARGIN = 12


@dataclass(frozen=True)
class Material:
    """What a pack is made from: the questions with their answers, the lineage they were asked of, and its gaps if known."""

    task: str
    stage: Stage | None
    target: Work
    questions: tuple[Subquestion, ...]
    answers: tuple[Answer, ...]
    gaps: Gaps | None = None


@dataclass(frozen=True)
class _Part:
    """One whole part of the text: under which heading, its item, and the heading of the component it belongs to."""

    item: PackItem
    component: str = ""
    gain: float = 0.0


def compose(material: Material, catalog: Catalog, chunks: int, allowed: int, tokens: Tokens) -> Pack:
    """The pack of at most `allowed` tokens; raises `NotFound` for no evidence and `UsageError` for too small a budget."""
    words = words_of(catalog, material.questions, material.answers, chunks)
    found = [_costed(unit, tokens) for unit in units(catalog, material.answers, words)]
    said = records.of(material.gaps, material.task, material.stage, tokens)
    head = _head(material, allowed, tokens)
    room = allowed - tokens.count(head) - _headings(tokens)
    _check(allowed, room, [unit.cost for unit in found] + [record.cost for record in said])
    policy = POLICIES[material.stage]
    kept = records.within(said, int(policy.records * room))
    value = Value([one.worth for one in material.questions], words.rare)
    taken = _taken(found, policy, value, room - records.cost(kept))
    kept = records.more(kept, said, room - records.cost(kept) - sum(unit.cost for unit in taken))
    file = [_Part(item, gain=math.inf) for item in records.parts(kept, tokens)]
    filled, parts = _filled(found, taken, file, value, material, head, allowed, tokens)
    return _finished(material, head, parts, _left_out(found, filled, len(said) - len(kept)), allowed, tokens)


def _filled(
    found: Sequence[Unit], taken: Sequence[Unit], file: Sequence[_Part], value: Value, material: Material, head: str, allowed: int, tokens: Tokens
) -> tuple[Sequence[Unit], list[_Part]]:
    """Units were costed alone; what joins under one citation costs less, and what that leaves is filled again."""
    for _ in range(_REFILLS):
        parts = [*_unit_parts(taken, material, tokens), *file]
        spare = allowed - tokens.count(_text(head, parts))
        names = {id(unit) for unit in taken}
        more = choose([unit for unit in found if id(unit) not in names], value, spare - _MARGIN, {}, {}) if spare > _MARGIN else []
        if not more:
            break
        taken = [*taken, *more]
    return taken, [*_unit_parts(taken, material, tokens), *file]


def _check(allowed: int, room: int, costs: Sequence[int]) -> None:
    if not costs:
        raise NotFound("nothing in this lineage bears on the task", hint="lineage status says what was not read")
    if min(costs) > room:
        least = allowed - room + min(costs)
        raise UsageError(f"a budget of {allowed} tokens holds no whole piece of evidence", hint=f"at least {least} tokens are needed for this task")


def _costed(unit: Unit, tokens: Tokens) -> Unit:
    return replace(unit, cost=tokens.count("\n\n" + block([unit])))


def _taken(found: Sequence[Unit], policy: Policy, value: Value, room: int) -> list[Unit]:
    """The best under the stage's caps, then whatever is best in the room that is left."""
    short = [unit for unit in found if unit.cost <= MOST * room]
    taken = choose(short, value, room, {kind: int(share * room) for kind, share in policy.caps.items()}, policy.favour)
    names = {id(unit) for unit in taken}
    rest = [unit for unit in found if id(unit) not in names]
    return [*taken, *choose(rest, value, room - sum(unit.cost for unit in taken), {}, policy.favour)]


def _head(material: Material, allowed: int, tokens: Tokens) -> str:
    answer = material.answers[0]
    stage = f" · stage {material.stage}" if material.stage else ""
    target = f"target {inline_path(material.target.id)} {inline(material.target.title, 100)}".strip()
    return (
        f"# Context: {inline(material.task, 160)}\n\n"
        f"Lineage {code(answer.lineage)} · generation {code(answer.generation)} · {target}{stage} · "
        f"at most {allowed} tokens ({tokens.name}). {NOTICE}"
    )


def _headings(tokens: Tokens) -> int:
    return tokens.count("\n\n".join(f"## {text}" for text in HEADINGS.values()))


def _unit_parts(taken: Sequence[Unit], material: Material, tokens: Tokens) -> Iterable[_Part]:
    """Items of the units, those of one chunk joined; for analysis, under the component that they serve best."""
    groups: dict[tuple[str, str, str], list[Unit]] = {}
    for unit in taken:
        groups.setdefault((_component(unit, material), unit.kind, source(unit.hit)), []).append(unit)
    for (component, kind, _), group in groups.items():
        whole = sorted(group, key=lambda unit: unit.order)
        text, hit = block(whole), whole[0].hit
        gain = sum(max(unit.relevance.values(), default=0.0) for unit in whole)
        yield _Part(PackItem(_as(kind), inline_path(source(hit)), text, tokens.count(text), (hit,)), component, gain)


def _as(kind: str) -> Kind:
    return "stated" if kind == "stated" else "lineage" if kind == "lineage" else "imitate"


def _component(unit: Unit, material: Material) -> str:
    if material.stage != "analysis" or not components(material.task):
        return ""
    parts = {number: one for number, one in enumerate(material.questions) if one.of == "part" and one.name}
    best = max(parts, key=lambda number: unit.relevance.get(number, 0.0), default=None)
    return parts[best].name if best is not None and unit.relevance.get(best, 0.0) > 0.0 else ""


def _finished(material: Material, head: str, parts: Sequence[_Part], left: Sequence[str], allowed: int, tokens: Tokens) -> Pack:
    """The pack of the parts; the least of them go while it is over the budget; raises `UsageError` if one alone is."""
    kept, gone = list(parts), list[_Part]()
    while tokens.count(_text(head, kept)) > allowed and len(kept) > 1:
        gone.append(min(kept, key=lambda part: part.gain))
        kept.remove(gone[-1])
    text, answer = _text(head, kept), material.answers[0]
    used = tokens.count(text)
    if used > allowed:
        raise UsageError(f"a budget of {allowed} tokens holds no whole piece of evidence", hint=f"at least {used} tokens are needed for this task")
    return Pack(
        task=material.task,
        stage=material.stage,
        lineage=answer.lineage,
        generation=answer.generation,
        allowed=allowed,
        used=used,
        tokenizer=tokens.name,
        items=tuple(part.item for part in _ordered(kept)),
        text=text,
        left_out=(*left, *(part.item.title for part in gone)),
        notes=answer.notes,
    )


def _left_out(found: Sequence[Unit], taken: Sequence[Unit], lines: int) -> list[str]:
    """The most relevant units that are not in, with what they would cost; and how many lines of settings or gaps."""
    names = {id(unit) for unit in taken}
    rest = sorted((unit for unit in found if id(unit) not in names), key=lambda unit: -max(unit.relevance.values(), default=0.0))
    told = dict.fromkeys(f"{inline_path(citation(unit.hit))} ({unit.cost} tokens)" for unit in rest[:_LEFT_OUT])
    more = [f"and {len(rest) - _LEFT_OUT} further pieces"] if len(rest) > _LEFT_OUT else []
    return [*told, *more, *([f"{lines} lines of settings, gaps or conflicts"] if lines else [])]


def _ordered(parts: Sequence[_Part]) -> list[_Part]:
    """By component, then by section; code by size, the rest by gain."""
    names = list(dict.fromkeys(part.component for part in parts if part.component))

    def place(part: _Part) -> tuple[int, int, float]:
        component = names.index(part.component) if part.component else len(names)
        return component, ORDER.index(part.item.kind), part.item.tokens if part.item.kind == "imitate" else -part.gain

    return sorted(parts, key=place)


def _text(head: str, parts: Sequence[_Part]) -> str:
    rows, heading, component = [head], "", ""
    for part in _ordered(parts):
        if part.component != component:
            component, heading = part.component, ""
            rows.append(f"# {code(component)}" if component else "# For all of it")
        if part.item.kind != heading:
            heading = part.item.kind
            rows.append(f"## {HEADINGS[heading]}")
        rows.append(part.item.text)
    return "\n\n".join(rows) + "\n"
