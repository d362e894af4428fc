"""Places that a chat model chose for the decisions of a lineage, found again for a question that asks for one of them.

Questions name roles, code names mechanisms; the model's decisions have both: a title and a question, and lines of code. Choices are kept by
whoever let the model read (`api.bootstrap`), with the vectors of the decisions.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lineage.catalog.reader import Catalog
from lineage.records import Focus
from retrieval.search.decided import DecidedPlace

if TYPE_CHECKING:
    from lineage.ports import Embedder, Vectors
    from lineage.results import Gap

_PLACES, _DECISIONS = 2, 6
"""Places that are kept of a decision, and decisions that a question is taken to ask for."""
_LEAST, _SURE, _WHOLE = 0.35, 0.55, 3.0
"""The similarity of a decision to the question under which it counts nothing, and from which on it counts whole, before all that words find."""
_NEXT = 0.85
"""What the next decision, or the next place of one, counts of the one before."""


class _ChosenPlace(NamedTuple):
    chunk: str
    first: int
    last: int


class _Decision(NamedTuple):
    title: str
    text: str
    places: Sequence[_ChosenPlace]


@dataclass(frozen=True)
class Chooser:
    """What reads the choices of a generation, without the target's code if it is told so; and what embeds decisions and questions."""

    read: Callable[[bool], bytes | None]
    embedder: Callable[[], Embedder]


def dumped(gaps: Sequence[Gap], embedder: Embedder) -> bytes:
    """The places that a model chose in the rows of a report, with the vectors of the decisions."""
    rows = []
    for gap in gaps:
        chosen = [offer.held[0] for offer in gap.suggestions if offer.grade == "model" and offer.held]
        code = [holder for holder in chosen if holder.evidence.chunk.kind in {"code", "config"}][:_PLACES]
        if places := [_ChosenPlace(holder.evidence.chunk.id, holder.fact.line, max(holder.fact.line, holder.fact.end_line)) for holder in code]:
            rows.append(_Decision(gap.detail.title, f"{gap.detail.title}. {gap.detail.question}", places))
    vectors = embedder.passages([row.text for row in rows]).astype(np.float16) if rows else np.zeros(0)
    return json.dumps({"rows": rows, "embedder": embedder.id, "vectors": b64encode(vectors.tobytes()).decode()}).encode()


class _Read(NamedTuple):
    """What was chosen as it was kept, the vectors of the decisions, and the row and work of each chunk."""

    data: bytes
    chosen: Sequence[_Decision]
    vectors: Vectors
    rows: Mapping[str, tuple[int, str]]


class ChosenPlaces:
    """What a model chose in one catalogue, read again when it has chosen anew. Threads may share it."""

    def __init__(self, read: Callable[[], bytes | None], catalog: Catalog, embedder: Callable[[], Embedder]) -> None:
        self._read, self._catalog, self._embedder = read, catalog, embedder
        self._kept: _Read | None = None

    def decided(self, question: str, without: AbstractSet[str]) -> dict[int, DecidedPlace]:
        """By row the places of the decisions that are nearest to a question."""
        places: dict[int, DecidedPlace] = {}
        if not (kept := self._current()):
            return places
        near = kept.vectors @ self._embedder().queries([question])[0]
        for nth, at in enumerate(np.argsort(-near, kind="stable")[:_DECISIONS]):
            sure = _WHOLE * min(1.0, (float(near[at]) - _LEAST) / (_SURE - _LEAST))
            for number, place in enumerate(kept.chosen[at].places):
                row, work = kept.rows.get(place.chunk, (-1, ""))
                if sure > 0 and row >= 0 and work not in without:
                    focus = Focus(place.first, place.last)
                    places.setdefault(row, DecidedPlace(sure * _NEXT ** (nth + number), kept.chosen[at].title, focus))
        return places

    def _current(self) -> _Read | None:
        data, kept = self._read(), self._kept
        if not data or (kept and kept.data == data):
            return kept if data else None
        read = json.loads(data)
        chosen = [_Decision(title, text, [_ChosenPlace(*place) for place in places]) for title, text, places in read["rows"]]
        if not chosen:
            return None
        if read["embedder"] == self._embedder().id:
            vectors = np.frombuffer(b64decode(read["vectors"]), np.float16).reshape(len(chosen), -1).astype(np.float32)
        else:
            vectors = self._embedder().passages([decision.text for decision in chosen])
        outlines = self._catalog.outlines(self._catalog.rows_of([place.chunk for decision in chosen for place in decision.places]))
        rows = {outline.chunk.id: (row, outline.chunk.work) for row, outline in sorted(outlines.items(), reverse=True)}
        self._kept = kept = _Read(data, chosen, vectors, rows)
        return kept
