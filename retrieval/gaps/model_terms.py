"""Identifiers that a chat model expects in the code that settles a question: questions name roles, code names mechanisms, a model knows both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from lineage.text.hidden_text import inline
from retrieval.gaps.model_reader import Claim, Reader
from retrieval.search.query import beginning

_AT_ONCE, _TERMS, _TERM, _ABSTRACT = 12, 12, 60, 900
"""Questions of one call; terms of a question, and characters of one and of the paper's abstract."""
_SEARCH = """Questions follow of an engineer who re-implements a machine-learning paper without its authors' code. What settles each stands in code or
configuration of works that the paper builds on. For each question give its number and up to twelve terms that the lines which settle it are likely to
contain: identifiers, calls, arguments and options as common libraries and research code spell them, a word each, the likeliest first."""


class QuestionTerms(Claim):
    """What to search for beside a question."""

    question: int
    terms: tuple[str, ...]


class SearchTerms(Claim):
    """What to search for beside several questions."""

    questions: tuple[QuestionTerms, ...]


def with_terms(reader: Reader, questions: Sequence[str]) -> Iterator[str]:
    """Each question as it is searched for, with the terms behind it."""
    target = reader.context.target
    about = f"The paper: {target.title}. {target.abstract[:_ABSTRACT]}"
    for start in range(0, len(questions), _AT_ONCE):
        some = questions[start : start + _AT_ONCE]
        answer = reader.ask(_SEARCH, "\n".join((about, *(f"Question {n}: {inline(text)}" for n, text in enumerate(some, 1)))), SearchTerms)
        named = {told.question: told.terms for told in answer.questions} if answer else {}
        for n, text in enumerate(some, 1):
            yield beginning(" ".join((text, *(inline(term)[:_TERM] for term in islice(named.get(n, ()), _TERMS)))))[0]
