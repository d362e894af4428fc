"""From a task to its pack: ask the generation the task's questions and compose the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineage.errors import UsageError
from lineage.records import Answer, Query, Work, WorkId
from lineage.results import Gaps, Pack, Stage
from retrieval.context.compose import PackInputs, compose
from retrieval.context.required_context import due
from retrieval.context.settings_file import Programs
from retrieval.context.task import Subquestion, subquestions
from retrieval.context.token_budget import Tokens
from retrieval.decisions.experiments import Folders
from retrieval.decisions.fact_index import holders
from retrieval.gaps.undocumented_settings import works
from retrieval.search.batch import answered
from retrieval.search.engine import Engine

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
    questions, answers = asked(engine, subquestions(task, stage, [gap.detail for gap in gaps.gaps] if gaps else ()))
    catalog, manifest = engine.generation.catalog, engine.generation.manifest
    target = catalog.work(manifest.target) or Work(WorkId(manifest.target))
    folders = Folders.read(catalog, works(engine))
    stated = due(gaps, task, stage, engine, folders)
    programs = _programs(engine, folders) if gaps and stage == "planning" else None
    material = PackInputs(task, stage, target, questions, answers, allowed, tokens, folders, gaps, stated, programs)
    made = compose(material, catalog, manifest.counts.get("chunks", 0))
    return replace(made, notes=(*made.notes, *(gaps.notes if gaps else ())))


def _programs(engine: Engine, folders: Folders) -> Programs:
    """What the target's own programs set."""
    manifest = engine.generation.manifest
    fact_index = holders(engine.generation.catalog, engine.kinship, manifest.lineage, manifest.id, WorkId(manifest.target))
    return Programs(fact_index, engine.ontology, folders)


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
