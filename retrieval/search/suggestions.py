"""Example questions that a lineage supports, chosen by lexical search alone, so that no model is loaded."""

from __future__ import annotations

from lineage.generation import Generation
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


def suggestions(generation: Generation, most: int = MOST) -> tuple[str, ...]:
    """The first questions that the generation supports; it stays open."""
    answers = Engine(generation).ask_many([make_query(text, k=1) for text in QUESTIONS])
    return tuple(text for text, answer in zip(QUESTIONS, answers, strict=True) if answer.supported)[:most]
