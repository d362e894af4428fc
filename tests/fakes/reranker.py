"""A reranker whose scores can be told by hand: how many of the question's words a text holds."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.errors import SourceError
from lineage.records import Status
from lineage.text.tokens import terms, tokens


class WordsReranker:
    """Counts words; `broken` makes it fail as a service fails."""

    id = "words@1"

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        if self.broken:
            raise SourceError(Status.TIMEOUT_FETCH, "took too long")
        return [float(len({*terms(question)} & {*tokens(text)})) for text in texts]
