"""Many questions at once, where one that takes too long does not cost the others their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lineage.errors import UsageError
from lineage.records import Answer, Hit, Query

if TYPE_CHECKING:
    from retrieval.search.engine import Engine


def asked(engine: Engine, questions: Sequence[Query]) -> tuple[list[tuple[Hit, ...]], int]:
    """The hits of each question, () for one that could not be looked up in time, and how many those are."""
    answers = answered(engine, questions)
    return [answer.hits if answer else () for answer in answers], answers.count(None)


def answered(engine: Engine, questions: Sequence[Query]) -> list[Answer | None]:
    """The answer to each question, None for one that could not be looked up in time."""
    try:
        return list(engine.ask_many(questions)) if questions else []
    except UsageError:
        return [_one(engine, question) for question in questions]


def _one(engine: Engine, question: Query) -> Answer | None:
    try:
        return engine.ask(question)
    except UsageError:
        return None
