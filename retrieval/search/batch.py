"""Many questions at once, where one that takes too long does not cost the others their answers; example questions that a lineage supports."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.errors import UsageError
from lineage.generation import Generation
from lineage.records import Answer, Hit, Query
from retrieval.search.engine import Engine
from retrieval.search.query import make_query

QUESTIONS = (
    "how is the encoder initialized?",
    "which optimizer and learning rate are used?",
    "which augmentations are applied to the images?",
    "how are the training data preprocessed?",
    "how is the model evaluated?",
    "which prompt is the language model given?",
    "how do the agents divide the work?",
    "how is generated code run and checked?",
    "how are categorical columns encoded?",
    "which loss function is minimized?",
    "how is the noise schedule defined?",
    "how is the text tokenized?",
    "which baselines is it compared with?",
    "which datasets are used?",
    "what are the limitations?",
)
MOST = 4


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


def suggestions(generation: Generation, most: int = MOST) -> tuple[str, ...]:
    """The first example questions that the generation supports by lexical search alone, so that no model is loaded; it stays open."""
    answers = Engine(generation).ask_many([make_query(text, k=1) for text in QUESTIONS])
    return tuple(text for text, answer in zip(QUESTIONS, answers, strict=True) if answer.supported)[:most]
