"""From a task to its pack: the questions asked of one generation, their evidence composed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineage.errors import UsageError
from lineage.insight import Detail, Gaps, Pack, Stage
from lineage.model import Answer, Query, Work, WorkId
from retrieval.budget import Tokens
from retrieval.engine import Engine
from retrieval.holders import holders
from retrieval.pack.compose import Material, compose
from retrieval.pack.due import due
from retrieval.pack.program import Programs
from retrieval.pack.task import Subquestion, subquestions

MOST_BYTES = 65_536
MOST_TOKENS = 1_000_000
HITS = 30
"""Hits a subquestion; of the whole task twice as many."""


def pack(
    engine: Engine, task: str, stage: Stage | None, allowed: int, tokens: Tokens, *, gaps: Gaps | None = None, no_target_code: bool = False
) -> Pack:
    """Context for `task` in at most `allowed` tokens by `tokens`.

    With `gaps` of the target its details are asked for, and its settings, conflicts and open details are told. Raises
    `UsageError` for a task or budget that cannot be, and `NotFound` where nothing bears on the task.
    """
    check(task, allowed)
    details = _details(gaps)
    questions, answers = asked(engine, subquestions(task, stage, details), no_target_code)
    generation = engine.generation
    target = generation.catalog.work(generation.manifest.target) or Work(WorkId(generation.manifest.target))
    stated = due(gaps, task, stage, generation.catalog, no_target_code)
    programs = own_programs(engine) if gaps and stage == "planning" and not no_target_code else None
    material = Material(task, stage, target, questions, answers, gaps, stated, programs)
    made = compose(material, generation.catalog, generation.manifest.counts.get("chunks", 0), allowed, tokens)
    return replace(made, notes=(*made.notes, *(gaps.notes if gaps else ())))


def own_programs(engine: Engine) -> Programs:
    """What the target's own programs set."""
    generation = engine.generation
    manifest = generation.manifest
    held = holders(generation.catalog, engine.kinship, manifest.lineage, manifest.id, WorkId(manifest.target))
    return Programs.of(held, engine.ontology, generation.catalog)


def asked(engine: Engine, questions: Sequence[Subquestion], no_target_code: bool) -> tuple[tuple[Subquestion, ...], tuple[Answer, ...]]:
    """The questions that could be looked up in time, with their answers; raises `UsageError` where none could.

    The first answer's notes say how many were not.
    """
    queries = [_query(one, no_target_code) for one in questions]
    try:
        return tuple(questions), tuple(engine.ask_many(queries))
    except UsageError:
        found = [(one, answer) for one, query in zip(questions, queries, strict=True) if (answer := _in_time(engine, query))]
    if not found:
        raise UsageError("every question took too long to look up", hint="ask for less, or again when the machine is less busy")
    late = f"{len(questions) - len(found)} of {len(questions)} questions took too long to look up"
    first = replace(found[0][1], notes=(*found[0][1].notes, late))
    return tuple(one for one, _ in found), (first, *(answer for _, answer in found[1:]))


def _in_time(engine: Engine, query: Query) -> Answer | None:
    try:
        return engine.ask(query)
    except UsageError:
        return None


def _query(question: Subquestion, no_target_code: bool) -> Query:
    return Query(question.text, 2 * HITS if question.of == "task" else HITS, question.kinds, no_target_code)


def _details(gaps: Gaps | None) -> Sequence[Detail]:
    return [gap.detail for gap in gaps.gaps] if gaps else ()


def check(task: str, allowed: int) -> None:
    """Raise `UsageError` for a task or a budget of tokens that no pack can have."""
    if not task.strip():
        raise UsageError("the task is empty", hint='say what is to be written, as in "implement the training loop"')
    if (size := len(task.encode("utf-8", "replace"))) > MOST_BYTES:
        raise UsageError(f"the task has {size:,} bytes; at most {MOST_BYTES:,} are taken")
    if not 1 <= allowed <= MOST_TOKENS:
        raise UsageError(f"a budget of {allowed} tokens was given; 1 to {MOST_TOKENS:,} can be")
