"""Compose a pack from evidence within its budget: choose units, write Markdown, count tokens (reads only the catalog).

What the target says comes first, then what its lineage adds, then conflicts, a sourced `config.yaml` and what nobody
states. Every part is whole, or (a long function of the target's own) says which lines are not there; what does not fit is
left out and said. The count is made once more on the finished text, because tokens may join across borders; if it were
over, the least valuable part goes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from lineage.catalog.reader import Catalog
from lineage.catalog.records import same_text
from lineage.citation import citation
from lineage.errors import NotFound, UsageError
from lineage.records import Answer, Query, Work, WorkId
from lineage.results import Gap, Gaps, Pack, PackItem, Stage
from lineage.text.tokens import tokens as words_in
from retrieval.context import method_symbols, records
from retrieval.context.excerpt import cut
from retrieval.context.markdown import NOTICE, block, code, inline, inline_path, source
from retrieval.context.required_context import MOST, Due, UnitValue, answering, choose, due, without_answered
from retrieval.context.settings_file import ConfigLine
from retrieval.context.task import Subquestion, components, subquestions
from retrieval.context.token_budget import Tokens
from retrieval.context.units import NEARLY_NOTHING, Kind, PackUnit, QuestionWords, units, weighed, words_of
from retrieval.decisions import target_text
from retrieval.search.batch import answered
from retrieval.search.engine import Engine

SAID, SET = 0.3, 0.3
"""The share of the room that the target's words on what is asked may take before all else, and of what is left its own settings."""
_DUE = 1_000.0
_ALL, _BESIDES = "# For all of it", "# Besides"
_LEFT_OUT = 6
_REFILLS = 3
_MARGIN = 12
STAGES: tuple[Stage, ...] = ("planning", "analysis", "coding")
HEADINGS: Mapping[str, str] = {
    "decided": "Decided",
    "conflict": "Conflicts",
    "stated": "What the target says",
    "lineage": "What its lineage adds",
    "imitate": "Code to imitate, smallest complete units first",
    "config": "config.yaml",
    "unspecified": "UNSPECIFIED",
}
ORDER = tuple(HEADINGS)


@dataclass(frozen=True)
class PackInputs:
    """What a pack is made from: the questions with their answers, the lineage they were asked of, and its gaps if known.

    It may have `allowed` of `tokens`.
    """

    task: str
    stage: Stage | None
    target: Work
    questions: tuple[Subquestion, ...]
    answers: tuple[Answer, ...]
    allowed: int
    tokens: Tokens
    gaps: Gaps | None = None
    due: Due = field(default_factory=Due)


@dataclass(frozen=True)
class _Part:
    """One whole part of the text: under which heading, its item, and the heading of the component it belongs to."""

    item: PackItem
    component: str = ""
    gain: float = 0.0


def compose(material: PackInputs, catalog: Catalog, chunks: int) -> Pack:
    """The pack of at most `allowed` tokens; raises `NotFound` for no evidence and `UsageError` for too small a budget."""
    words, policy = words_of(catalog, material.questions, material.answers, chunks), POLICIES[material.stage]
    costed = [_costed(unit, material.tokens) for unit in units(catalog, material.answers, words)]
    some = [unit if material.due.telling(unit) else weighed(unit, NEARLY_NOTHING) for unit in costed]
    symbols = partial(_symbols, catalog, material.target.id)
    pack_lines = records.of(material.gaps, material.task, material.stage, material.tokens, symbols)
    room = _room(material, [unit.cost for unit in some] + [record.cost for record in pack_lines])
    kept = records.more((), pack_lines, int(policy.records * room))
    free = room - records.cost(kept)
    cutting = _Cutting(words, material.tokens, _deciding(material.gaps))
    pack_units = _candidates(some, cutting, material, room, free)
    value = UnitValue([subquestion.worth for subquestion in material.questions], words.rare)
    if policy.lines_first:
        kept = records.more(kept, pack_lines, free - _cost(unit for unit in pack_units if unit.due))
        free = room - records.cost(kept)
    taken = _taken(pack_units, policy, value, free)
    kept = records.more(kept, pack_lines, free - _cost(taken))
    file = _file(kept, material)
    if policy.lines_first:
        kept = records.more(kept, pack_lines, _spare(material, [*_unit_parts(taken, material), *file]) - _MARGIN)
        file = _file(kept, material)
    taken = _filled(pack_units, taken, file, value, material)
    left = _left_out(pack_units, taken, len(pack_lines) - len(kept))
    return _finished(material, [*_unit_parts(_regrown(taken, some, cutting, file, material), material), *file], left)


def _file(kept: Sequence[records.PackLine], material: PackInputs) -> list[_Part]:
    return [_Part(item, gain=math.inf) for item in records.parts(kept, material.tokens)]


def _symbols(catalog: Catalog, target: WorkId) -> list[ConfigLine]:
    return method_symbols.config_lines(target_text.read(catalog, target))


def _room(material: PackInputs, costs: Sequence[int]) -> int:
    """The tokens that the head and the headings leave; raises `NotFound` where nothing has a cost, `UsageError` where all costs more."""
    if not costs:
        raise NotFound("nothing in this lineage bears on the task", hint="lineage status says what was not read")
    headings = "\n\n".join(f"## {text}" for text in HEADINGS.values())
    room = material.allowed - material.tokens.count(_head(material)) - material.tokens.count(headings)
    if min(costs) > room:
        raise _too_small(material, material.allowed - room + min(costs))
    return room


def _too_small(material: PackInputs, least: int) -> UsageError:
    message = f"a budget of {material.allowed} tokens holds no whole piece of evidence"
    return UsageError(message, hint=f"at least {least} tokens are needed for this task")


def _candidates(some: Sequence[PackUnit], cutting: _Cutting, material: PackInputs, room: int, free: int) -> list[PackUnit]:
    """What is due, then the own functions that do the parts of the task, then what else was found, each cut to what one unit may take."""
    tokens, most = material.tokens, int(MOST * free)
    doing = answering(some, material.questions)
    pack_units = without_answered(some, material.questions, doing)
    first = _first(material.due, pack_units, room, free, tokens)
    share = POLICIES[material.stage].caps["imitate"]
    own = _code(material.questions, doing, cutting, int(min(free - _cost(first), share * free)), most)
    texts, gone = {same_text(unit.text) for unit in first}, {unit.order for unit in doing.values()}
    rest = (unit for unit in pack_units if same_text(unit.text) not in texts and unit.order not in gone)
    return [*first, *own, *(_fitted(unit, cutting, most) for unit in rest)]


def _filled(pack_units: Sequence[PackUnit], taken: list[PackUnit], file: Sequence[_Part], value: UnitValue, material: PackInputs) -> list[PackUnit]:
    """Units were costed alone; what joins under one citation costs less, and what that leaves is filled again."""
    for _ in range(_REFILLS):
        spare = _spare(material, [*_unit_parts(taken, material), *file]) - _MARGIN
        more = choose(_without(pack_units, taken), value, spare, {}, {})
        if not more:
            break
        taken = [*taken, *more]
    return taken


def _regrown(taken: Sequence[PackUnit], whole: Sequence[PackUnit], cutting: _Cutting, file: Sequence[_Part], material: PackInputs) -> list[PackUnit]:
    """The units, those that were cut with as many more of their statements as the room allows that nothing else fills."""
    grown, originals = list(taken), {unit.order: unit for unit in whole}
    for at, unit in enumerate(taken):
        original = originals.get(unit.order)
        if original and original.hit.chunk.id == unit.hit.chunk.id and original.kind == unit.kind == "imitate" and original.text != unit.text:
            spare = _spare(material, [*_unit_parts(grown, material), *file]) - _MARGIN
            longer = _fitted(original, cutting, unit.cost + spare)
            if unit.cost < longer.cost <= unit.cost + spare:
                grown[at] = replace(unit, text=longer.text, words=longer.words, cost=longer.cost)
    return grown


def _spare(material: PackInputs, parts: Sequence[_Part]) -> int:
    """The tokens that are left with these parts, counted on the whole text."""
    return material.allowed - material.tokens.count(_text(material, parts))


def _costed(unit: PackUnit, tokens: Tokens) -> PackUnit:
    return replace(unit, cost=tokens.count("\n\n" + block([unit])))


def _cost(some: Iterable[PackUnit]) -> int:
    return sum(unit.cost for unit in some)


def _first(stated: Due, pack_units: Sequence[PackUnit], room: int, free: int, tokens: Tokens) -> list[PackUnit]:
    """What is due: the target's words, then its own settings, each up to its share; as it was found, where it was."""
    statements = _share(stated, stated.said, int(min(SAID * room, free)), tokens)
    settings = _share(stated, stated.set, int(SET * (free - _cost(statements))), tokens)
    known = {same_text(unit.text): unit.relevance for unit in pack_units}
    return [replace(unit, relevance=known.get(same_text(unit.text), {})) for unit in (*statements, *settings)]


def _share(stated: Due, some: Sequence[PackUnit], room: int, tokens: Tokens) -> list[PackUnit]:
    costed = [_costed(unit, tokens) for unit in some]
    return stated.adding(choose(costed, UnitValue(stated.worth, {}), room, {}, {}))


@dataclass(frozen=True)
class _Cutting:
    """What functions are cut by: the words of the questions, the tokens, the lines of own code that settle something, by work and path."""

    words: QuestionWords
    tokens: Tokens
    deciding: Mapping[tuple[WorkId, str], frozenset[int]]


def _deciding(gaps: Gaps | None) -> dict[tuple[WorkId, str], frozenset[int]]:
    """The lines of the target's own code by which rows of the report are answered."""
    lines: dict[tuple[WorkId, str], set[int]] = defaultdict(set)
    for occurrence in (held for gap in (gaps.gaps if gaps else ()) for offer in gap.suggestions for held in offer.held if held.evidence.from_target):
        fact = occurrence.fact
        lines[fact.work, occurrence.evidence.chunk.path].update(range(fact.line, max(fact.line, fact.end_line) + 1))
    return {place: frozenset(some) for place, some in lines.items()}


def _code(questions: Sequence[Subquestion], doing: Mapping[int, PackUnit], cutting: _Cutting, room: int, most: int) -> list[PackUnit]:
    """The own functions that do the parts of a task, weightiest part first, whole or cut to the room that is left."""
    code: list[PackUnit] = []
    for number in sorted(doing, key=lambda number: -questions[number].worth):
        unit = _fitted(doing[number], cutting, min(most, room - _cost(code)))
        if unit.cost <= room - _cost(code) and all(unit.order != pack_unit.order for pack_unit in code):
            code.append(replace(unit, due=True))
    return code


def _fitted(unit: PackUnit, cutting: _Cutting, room: int) -> PackUnit:
    """The target's own code, cut where it is longer than one unit may be; everything else as it is."""
    chunk = unit.hit.chunk
    if unit.cost <= room or not (unit.hit.from_target and unit.kind == "imitate" and chunk.language == "python"):
        return unit
    worth, around = cutting.words.worth(unit), unit.cost - cutting.tokens.count(unit.text)
    deciding = cutting.deciding.get((chunk.work, chunk.path), frozenset())
    text = cut(unit.text, chunk.start_line, worth, cutting.tokens.count, room - around - _MARGIN, deciding)
    return _costed(_shortened(unit, text, worth), cutting.tokens) if text else unit


def _shortened(unit: PackUnit, text: str, worth: Mapping[str, float]) -> PackUnit:
    """The unit as `text`, less relevant by what it no longer says: by the root, since what says most was kept."""
    words = frozenset(words_in(text))
    share = math.sqrt(sum(worth.get(word, 0.0) for word in words) / (sum(worth.values()) or 1.0))
    relevance = {number: share * relevance for number, relevance in unit.relevance.items()}
    return replace(unit, text=text, words=words, relevance=relevance)


def _taken(pack_units: Sequence[PackUnit], policy: StageBudget, value: UnitValue, room: int) -> list[PackUnit]:
    """What is due, then the best under the stage's caps, then whatever is best in the room that is left."""
    taken = [unit for unit in pack_units if unit.due]
    for unit in taken:
        value.add(unit)
    rest = [unit for unit in pack_units if not unit.due and unit.cost <= MOST * room]
    caps = {kind: max(0, int(share * room) - _cost(unit for unit in taken if unit.kind == kind)) for kind, share in policy.caps.items()}
    taken += choose(rest, value, room - _cost(taken), caps, policy.favor)
    return [*taken, *choose(_without(pack_units, taken), value, room - _cost(taken), {}, policy.favor)]


def _without(pack_units: Sequence[PackUnit], taken: Sequence[PackUnit]) -> list[PackUnit]:
    names = {id(unit) for unit in taken}
    return [unit for unit in pack_units if id(unit) not in names]


def _unit_parts(taken: Sequence[PackUnit], material: PackInputs) -> Iterable[_Part]:
    """Items of the units, those of one chunk joined; for analysis, under the component that they serve best."""
    groups: dict[tuple[str, Kind, str], list[PackUnit]] = {}
    for unit in taken:
        groups.setdefault((_component(unit, material), unit.kind, source(unit.hit)), []).append(unit)
    for (component, kind, _), group in groups.items():
        whole = sorted(group, key=lambda unit: unit.order)
        text, hit = block(whole), whole[0].hit
        gain = sum(map(_relevance, whole)) + _due(whole)
        yield _Part(PackItem(kind, inline_path(source(hit)), text, material.tokens.count(text), (hit,)), component, gain)


def _due(some: Sequence[PackUnit]) -> float:
    """What is due stands before all else of its kind and goes last: the target's words, then its settings."""
    return max(_DUE * (2.0 if unit.hit.chunk.kind == "paper" else 1.0) if unit.due else 0.0 for unit in some)


def _relevance(unit: PackUnit) -> float:
    return max(unit.relevance.values(), default=0.0)


def _component(unit: PackUnit, material: PackInputs) -> str:
    if material.stage != "analysis" or not components(material.task):
        return ""
    if unit.due and unit.kind != "imitate":
        return _ALL
    parts = {number: subquestion for number, subquestion in enumerate(material.questions) if subquestion.of == "part" and subquestion.name}
    best = max(parts, key=lambda number: unit.relevance.get(number, 0.0), default=None)
    return parts[best].name if best is not None and unit.relevance.get(best, 0.0) > 0.0 else ""


def _finished(material: PackInputs, parts: Sequence[_Part], left: Sequence[str]) -> Pack:
    """The pack of the parts; the least of them go while it is over the budget; raises `UsageError` if one alone is."""
    kept, gone = list(parts), list[_Part]()
    while (spare := _spare(material, kept)) < 0 and len(kept) > 1:
        gone.append(min(kept, key=lambda part: part.gain))
        kept.remove(gone[-1])
    if spare < 0:
        raise _too_small(material, material.allowed - spare)
    return Pack(
        task=material.task,
        stage=material.stage,
        lineage=material.answers[0].lineage,
        generation=material.answers[0].generation,
        allowed=material.allowed,
        used=material.allowed - spare,
        tokenizer=material.tokens.name,
        items=tuple(part.item for part in _ordered(kept)),
        text=_text(material, kept),
        left_out=(*left, *(part.item.title for part in gone)),
        notes=material.answers[0].notes,
    )


def _left_out(pack_units: Sequence[PackUnit], taken: Sequence[PackUnit], lines: int) -> list[str]:
    """The most relevant units that are not in, with what they would cost; and how many lines of settings or gaps."""
    rest = sorted(_without(pack_units, taken), key=lambda unit: -_relevance(unit))
    titles = dict.fromkeys(f"{inline_path(citation(unit.hit))} ({unit.cost} tokens)" for unit in rest[:_LEFT_OUT])
    more = [f"and {len(rest) - _LEFT_OUT} further pieces"] if len(rest) > _LEFT_OUT else []
    return [*titles, *more, *([f"{lines} lines of settings, gaps or conflicts"] if lines else [])]


def _ordered(parts: Sequence[_Part]) -> list[_Part]:
    """Contradictions, what holds for all components, then by component, then by section; code by size, the rest by gain."""
    names = sorted(dict.fromkeys(part.component for part in parts if part.component), key=lambda name: name != _ALL)

    def place(part: _Part) -> tuple[int, int, float]:
        if part.item.kind in {"decided", "conflict"}:
            return -1, ORDER.index(part.item.kind), 0.0
        component = names.index(part.component) if part.component else len(names)
        return component, ORDER.index(part.item.kind), part.item.tokens if part.item.kind == "imitate" else -part.gain

    return sorted(parts, key=place)


def _head(material: PackInputs) -> str:
    answer, target = material.answers[0], material.target
    stage = f" · stage {material.stage}" if material.stage else ""
    named = f"target {inline_path(target.id)} {inline(target.title, 100)}".strip()
    return (
        f"# Context: {inline(material.task, 160)}\n\n"
        f"Lineage {code(answer.lineage)} · generation {code(answer.generation)} · {named}{stage} · "
        f"at most {material.allowed} tokens ({material.tokens.name}). {NOTICE}"
    )


def _text(material: PackInputs, parts: Sequence[_Part]) -> str:
    rows, heading, component = [_head(material)], "", ""
    for part in _ordered(parts):
        if part.component != component:
            component, heading = part.component, ""
            rows.append(_BESIDES if not component else component if component == _ALL else f"# {code(component)}")
        if part.item.kind != heading:
            heading = part.item.kind
            rows.append(f"## {HEADINGS[heading]}")
        rows.append(part.item.text)
    return "\n\n".join(rows) + "\n"


@dataclass(frozen=True)
class StageBudget:
    """`records` is the most that conflicts, settings and gaps may take of a budget; `caps` the most that each kind of unit may
    take of the rest while there is choice (what nothing else fills, any may); `favor` multiplies what a kind is worth; `lines_first` puts
    all lines of settings, gaps and conflicts before units that are not due.
    """

    records: float
    caps: Mapping[Kind, float]
    favor: Mapping[Kind, float] = field(default_factory=dict)
    lines_first: bool = False


POLICIES: Mapping[Stage | None, StageBudget] = {
    None: StageBudget(0.25, {"stated": 0.7, "lineage": 0.3, "imitate": 0.4}),
    "planning": StageBudget(0.8, {"stated": 0.8, "lineage": 0.3, "imitate": 0.2}, {"stated": 1.5, "imitate": 0.7}, lines_first=True),
    "analysis": StageBudget(0.25, {"stated": 0.6, "lineage": 0.25, "imitate": 0.5}),
    "coding": StageBudget(0.2, {"stated": 0.3, "lineage": 0.15, "imitate": 0.85}, {"imitate": 3.0}),
}


def stage_of(text: str) -> Stage | None:
    """The stage of that name, None for the empty one; raises `UsageError`."""
    if not text:
        return None
    stages = next((stage for stage in STAGES if stage == text), None)
    if stages is None:
        raise UsageError(f"there is no stage {text!r}", hint="stages: " + ", ".join(STAGES))
    return stages


MOST_BYTES = 65_536
MOST_TOKENS = 1_000_000
HITS = 30
"""Hits a subquestion; of the whole task twice as many."""


def pack(engine: Engine, task: str, stage: Stage | None, allowed: int, tokens: Tokens, *, gaps: Gaps | None = None) -> Pack:
    """Context for `task` in at most `allowed` tokens by `tokens`.

    With `gaps` of the target its details are asked for, and its settings, conflicts and open details are told. Raises
    `UsageError` for a task or budget that cannot be, and `NotFound` where nothing bears on the task.
    """
    check(task, allowed)
    searched = [gap.detail for gap in gaps.gaps if not _is_chosen(gap)] if gaps else ()
    questions, answers = asked(engine, subquestions(task, stage, searched))
    catalog, manifest = engine.generation.catalog, engine.generation.manifest
    target = catalog.work(manifest.target) or Work(WorkId(manifest.target))
    stated = due(gaps, task, stage, engine)
    material = PackInputs(task, stage, target, questions, answers, allowed, tokens, gaps, stated)
    made = compose(material, catalog, manifest.counts.get("chunks", 0))
    return replace(made, notes=(*made.notes, *(gaps.notes if gaps else ())))


def _is_chosen(gap: Gap) -> bool:
    """Whether a chat model chose a place for a detail, which then needs no search."""
    return bool(gap.suggestions) and gap.suggestions[0].grade == "model"


def asked(engine: Engine, questions: Sequence[Subquestion]) -> tuple[tuple[Subquestion, ...], tuple[Answer, ...]]:
    """The questions that could be looked up in time, with their answers; raises `UsageError` where none could.

    The first answer's notes say how many were not.
    """
    asked_of = answered(engine, [_query(subquestion) for subquestion in questions])
    answers_by_part = [(subquestion, answer) for subquestion, answer in zip(questions, asked_of, strict=True) if answer]
    if not answers_by_part:
        raise UsageError("every question took too long to look up", hint="ask for less, or again when the machine is less busy")
    (_, first), late = answers_by_part[0], len(questions) - len(answers_by_part)
    if late:
        first = replace(first, notes=(*first.notes, f"{late} of {len(questions)} questions took too long to look up"))
    return tuple(subquestion for subquestion, _ in answers_by_part), (first, *(answer for _, answer in answers_by_part[1:]))


def _query(question: Subquestion) -> Query:
    return Query(question.text, 2 * HITS if question.of == "task" else HITS, question.kinds)


def check(task: str, allowed: int) -> None:
    """Raise `UsageError` for a task or a budget of tokens that no pack can have."""
    if not task.strip():
        raise UsageError("the task is empty", hint='say what is to be written, as in "implement the training loop"')
    if (size := len(task.encode("utf-8", "replace"))) > MOST_BYTES:
        raise UsageError(f"the task has {size:,} bytes; at most {MOST_BYTES:,} are taken")
    if not 1 <= allowed <= MOST_TOKENS:
        raise UsageError(f"a budget of {allowed} tokens was given; 1 to {MOST_TOKENS:,} can be")
