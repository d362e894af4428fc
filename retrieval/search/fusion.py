"""One ranked list out of the lexical and the dense one (pure).

Lexical and dense scores are put on one scale by their own mean and deviation over the first `pool` of each list
(z-scores; they beat rank fusion on every kind of the dev sets because the margin of a clear winner survives). Every part
of a score is a `Reason`, and the score is their sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from lineage.records import Chunk, Reason, ReasonKind, Signal

Ranked = Sequence[tuple[int, float]]


@dataclass(slots=True)
class Fused:
    """A row with its fused score, what each retriever said, and the parts of the score; not frozen, since a question makes a thousand."""

    row: int
    score: float
    signals: tuple[Signal, ...] = ()
    why: tuple[Reason, ...] = ()


@dataclass(slots=True)
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


@dataclass(frozen=True)
class Fusion:
    """Scored lists put together: `scores` by row, best first, with what each list, scaled, adds (`parts`) and said (`lists`)."""

    scores: Mapping[int, float]
    parts: Sequence[tuple[ReasonKind, float, Mapping[int, float], float]]
    lists: Sequence[tuple[str, Ranked]]

    def first(self, most: int | None = None, also: Iterable[int] = ()) -> list[Fused]:
        """The best rows and the rows `also`, as far as a list has them; `explained` tells the parts of their scores."""
        chosen = dict(islice(self.scores.items(), most)) | {row: self.scores[row] for row in also if row in self.scores}
        return [Fused(row, score) for row, score in chosen.items()]

    def explained(self, scored: Iterable[Scored]) -> list[Scored]:
        """The same with what each list said and added before all that moved them since."""
        signals = [(name, _ranks(ranked)) for name, ranked in self.lists]
        return [replace(candidate, fused=self._explained(candidate.fused, signals)) for candidate in scored]

    def _explained(self, fused: Fused, signals: Sequence[tuple[str, Mapping[int, tuple[int, float]]]]) -> Fused:
        why = [Reason(kind, weight * scores.get(fused.row, floor)) for kind, weight, scores, floor in self.parts]
        said = [Signal(name, *ranks[fused.row]) for name, ranks in signals if fused.row in ranks]
        return Fused(fused.row, fused.score, (*said, *fused.signals), (*why, *fused.why))


def fuse(lexical: Ranked, dense: Ranked | None, share: float, pool: int = 200, name: ReasonKind = ReasonKind.DENSE) -> Fusion:
    """Both lists as one; a row that one list lacks is given its lowest score. `share` is the weight of the second list, which
    is called `name`; each is scaled by its first `pool`."""
    lists = [(ReasonKind.LEXICAL, lexical, 1.0 - share), (name, dense or (), share)]
    if not lexical or not dense:
        lists = [(kind, ranked, 1.0) for kind, ranked, _ in lists if ranked]
    scaled = [(kind, weight, standard(ranked, pool)) for kind, ranked, weight in lists]
    parts = [(kind, weight, scores, min(scores.values(), default=0.0)) for kind, weight, scores in scaled]
    totals = dict.fromkeys((row for _, _, scores in scaled for row in scores), 0.0)
    for _, weight, scores, floor in parts:
        totals = {row: total + weight * scores.get(row, floor) for row, total in totals.items()}
    return Fusion(dict(sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))), parts, [(kind.value, ranked) for kind, ranked, _ in lists])


def _ranks(ranked: Ranked) -> Mapping[int, tuple[int, float]]:
    """The rank and score of each row."""
    return {row: (rank, score) for rank, (row, score) in enumerate(sorted(ranked, key=lambda pair: -pair[1]), 1)}


def moved(scored: Scored, *reasons: Reason) -> Scored:
    """The same with further parts added to its score."""
    if not reasons:
        return scored
    fused = scored.fused
    score = sum([reason.value for reason in reasons], fused.score)
    return Scored(Fused(fused.row, score, fused.signals, fused.why + reasons), scored.chunk, scored.same, scored.copies, scored.found)


def ordered(scored: Iterable[Scored]) -> list[Scored]:
    """Best first, equal scores in the order of rows."""
    return sorted(scored, key=lambda candidate: (-candidate.fused.score, candidate.fused.row))


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
