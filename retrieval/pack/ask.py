"""From a task to its pack: the questions asked of one generation, their evidence composed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineage.errors import UsageError
from lineage.insight import Detail, Gaps, Pack, Stage
from lineage.model import Query, Work, WorkId
from retrieval.budget import Tokens
from retrieval.engine import Engine
from retrieval.pack.compose import Material, compose
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
    _check(task, allowed)
    details = _details(gaps)
    questions = subquestions(task, stage, details)
    answers = engine.ask_many([_query(one, no_target_code) for one in questions])
    generation = engine.generation
    target = generation.catalog.work(generation.manifest.target) or Work(WorkId(generation.manifest.target))
    material = Material(task, stage, target, questions, tuple(answers), gaps)
    made = compose(material, generation.catalog, generation.manifest.counts.get("chunks", 0), allowed, tokens)
    return replace(made, notes=(*made.notes, *(gaps.notes if gaps else ())))


def _query(question: Subquestion, no_target_code: bool) -> Query:
    return Query(question.text, 2 * HITS if question.of == "task" else HITS, question.kinds, no_target_code)


def _details(gaps: Gaps | None) -> Sequence[Detail]:
    return [gap.detail for gap in gaps.gaps] if gaps else ()


def _check(task: str, allowed: int) -> None:
    if not task.strip():
        raise UsageError("the task is empty", hint='say what is to be written: lineage context "implement the training loop"')
    if (size := len(task.encode("utf-8", "replace"))) > MOST_BYTES:
        raise UsageError(f"the task has {size:,} bytes; at most {MOST_BYTES:,} are taken")
    if not 1 <= allowed <= MOST_TOKENS:
        raise UsageError(f"a budget of {allowed} tokens was given; 1 to {MOST_TOKENS:,} can be")
