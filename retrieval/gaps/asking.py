"""Questions to the lineage that a report can do without: one that takes too long is left unanswered and counted."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.errors import UsageError
from lineage.model import Hit, Query
from retrieval.engine import Engine


def asked(engine: Engine, questions: Sequence[Query]) -> tuple[list[tuple[Hit, ...]], int]:
    """The hits of each question, () for one that could not be looked up in time, and how many those are."""
    if not questions:
        return [], 0
    try:
        return [answer.hits for answer in engine.ask_many(questions)], 0
    except UsageError:
        found = [_one(engine, question) for question in questions]
        return [hits or () for hits in found], sum(hits is None for hits in found)


def _one(engine: Engine, question: Query) -> tuple[Hit, ...] | None:
    try:
        return engine.ask(question).hits
    except UsageError:
        return None
