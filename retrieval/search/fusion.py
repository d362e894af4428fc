"""One ranked list out of the lexical and the dense one (pure).

Lexical and dense scores are put on one scale by their own mean and deviation over the first `pool` of each list
(z-scores; they beat rank fusion on every kind of the dev sets because the margin of a clear winner survives). Every part
of a score is a `Reason`, and the score is their sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lineage.records import Chunk, Reason, ReasonKind, Signal

Ranked = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Fused:
    """A row with its fused score, what each retriever said, and the parts of the score."""

    row: int
    score: float
    signals: tuple[Signal, ...] = ()
    why: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Scored:
    """A fused row with its chunk and the key that equal texts share; `copies` are the rows folded into it.

    The chunk has no text until it is read. Where it has grown, `found` is what it was.
    """

    fused: Fused
    chunk: Chunk
    same: str = ""
    copies: tuple[Chunk, ...] = field(default=())
    found: Chunk | None = None

    @property
    def row(self) -> int:
        """Its row in the catalog."""
        return self.fused.row

    @property
    def score(self) -> float:
        """The sum of its parts, in deviations."""
        return self.fused.score


def standard(ranked: Ranked, pool: int) -> dict[int, float]:
    """Scores in deviations from the mean of the first `pool`; 0 for all where they do not differ."""
    first = [score for _, score in ranked[:pool]]
    mean = sum(first) / len(first) if first else 0.0
    deviation = math.sqrt(sum((score - mean) ** 2 for score in first) / len(first)) if first else 0.0
    return {row: (score - mean) / deviation if deviation > 1e-9 else 0.0 for row, score in ranked}


def fuse(lexical: Ranked, dense: Ranked | None, share: float, pool: int = 200, name: ReasonKind = ReasonKind.DENSE) -> list[Fused]:
    """Rows of both lists, best first; a row that one list lacks is given its lowest score. `share` is the weight of the second list, which
    is called `name`; each is scaled by its first `pool`."""
    lists = [(ReasonKind.LEXICAL, lexical, 1.0 - share), (name, dense or (), share)]
    if not lexical or not dense:
        lists = [(kind, ranked, 1.0) for kind, ranked, _ in lists if ranked]
    scaled = [(kind, weight, standard(ranked, pool)) for kind, ranked, weight in lists]
    floors = [min(scores.values(), default=0.0) for _, _, scores in scaled]
    signals = _signals([(kind.value, ranked) for kind, ranked, _ in lists])
    fused = []
    for row in dict.fromkeys(row for _, _, scores in scaled for row in scores):
        parts = tuple(Reason(kind, weight * scores.get(row, floor)) for (kind, weight, scores), floor in zip(scaled, floors, strict=True))
        fused.append(Fused(row, sum(part.value for part in parts), signals[row], parts))
    return sorted(fused, key=lambda candidate: (-candidate.score, candidate.row))


def _signals(lists: Iterable[tuple[str, Ranked]]) -> Mapping[int, tuple[Signal, ...]]:
    signals_by_row: dict[int, tuple[Signal, ...]] = {}
    for name, ranked in lists:
        for rank, (row, score) in enumerate(sorted(ranked, key=lambda pair: -pair[1]), 1):
            signals_by_row[row] = (*signals_by_row.get(row, ()), Signal(name, rank, score))
    return signals_by_row


def moved(scored: Scored, *reasons: Reason) -> Scored:
    """The same with further parts added to its score."""
    fused = scored.fused
    score = fused.score + sum(reason.value for reason in reasons)
    return replace(scored, fused=replace(fused, score=score, why=(*fused.why, *reasons))) if reasons else scored


def ordered(scored: Iterable[Scored]) -> list[Scored]:
    """Best first, equal scores in the order of rows."""
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.row))


def reordered(scored: Sequence[Scored], marks: Sequence[float], name: str) -> list[Scored]:
    """Hits in the order of a reranker's marks, each with that signal; the fused scores stay with the places."""
    out = []
    for rank, at in enumerate(sorted(range(len(scored)), key=lambda at: (-marks[at], at)), 1):
        candidate = moved(scored[at], Reason(ReasonKind.RERANKED, scored[rank - 1].score - scored[at].score))
        out.append(replace(candidate, fused=replace(candidate.fused, signals=(*candidate.fused.signals, Signal(name, rank, marks[at])))))
    return out


def likelihood(score: float) -> float:
    """A fused score as a number in (0, 1): deviations through the logistic curve, so that 2 deviations give one half."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score - 2.0))))
