"""Places that a chat model chose for the decisions of a lineage, found again for a question that asks for one of them.

Questions name roles, code names mechanisms; the model's decisions have both: a title and a question, and lines of code. Choices are kept by
whoever let the model read (`api.bootstrap`), by the chunks of their places.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lineage.catalog.reader import Catalog
from retrieval.search.decided import DecidedPlace

if TYPE_CHECKING:
    from lineage.ports import Vectors, WordEmbedder
    from lineage.results import Gap

_PLACES, _DECISIONS = 2, 3
"""Places that are kept of a decision, and decisions that a question is taken to ask for."""
_LEAST, _SURE = 0.1, 0.45
"""The similarity of a decision to the question under which it counts nothing, and from which on it counts whole."""
_NEXT = 0.7
"""What the next decision, or the next place of one, counts of the one before."""


class _Chosen(NamedTuple):
    title: str
    text: str
    chunks: Sequence[str]


def dumped(gaps: Sequence[Gap]) -> bytes:
    """The places that a model chose in the rows of a report."""
    rows = []
    for gap in gaps:
        chosen = [offer.held[0].evidence.chunk for offer in gap.suggestions if offer.grade == "model" and offer.held]
        if cited := [chunk.id for chunk in chosen if chunk.kind in {"code", "config"}][:_PLACES]:
            rows.append(_Chosen(gap.detail.title, f"{gap.detail.title}. {gap.detail.question}", cited))
    return json.dumps(rows).encode()


class _Choices(NamedTuple):
    """What was chosen as it was kept, the vectors of the decisions, and the row and work of each chunk."""

    data: bytes
    chosen: Sequence[_Chosen]
    vectors: Vectors
    rows: Mapping[str, tuple[int, str]]


class Choices:
    """What a model chose in one catalogue, read again when it has chosen anew; `table` embeds decisions and questions. Threads may share it."""

    def __init__(self, read: Callable[[], bytes | None], catalog: Catalog, table: Callable[[], WordEmbedder]) -> None:
        self._read, self._catalog, self._table = read, catalog, table
        self._kept: _Choices | None = None

    def decided(self, question: str, without: AbstractSet[str]) -> dict[int, DecidedPlace]:
        """By row the places of the decisions that are nearest to a question."""
        found: dict[int, DecidedPlace] = {}
        if not (kept := self._current()):
            return found
        near = kept.vectors @ self._table().queries([question])[0]
        for nth, at in enumerate(np.argsort(-near, kind="stable")[:_DECISIONS]):
            sure = min(1.0, (float(near[at]) - _LEAST) / (_SURE - _LEAST))
            for number, chunk in enumerate(kept.chosen[at].chunks):
                row, work = kept.rows.get(chunk, (-1, ""))
                if sure > 0 and row >= 0 and work not in without:
                    found.setdefault(row, DecidedPlace(sure * _NEXT ** (nth + number), kept.chosen[at].title))
        return found

    def _current(self) -> _Choices | None:
        data, kept = self._read(), self._kept
        if kept and kept.data == data:
            return kept
        chosen = [_Chosen(*row) for row in json.loads(data or b"[]")]
        if not data or not chosen:
            return None
        vectors = self._table().passages([one.text for one in chosen])
        outlines = self._catalog.outlines(self._catalog.rows_of([chunk for one in chosen for chunk in one.chunks]))
        rows = {outline.chunk.id: (row, outline.chunk.work) for row, outline in sorted(outlines.items(), reverse=True)}
        self._kept = kept = _Choices(data, chosen, vectors, rows)
        return kept
