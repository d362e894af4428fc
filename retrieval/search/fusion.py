"""One ranked list out of the lexical and the dense one: scores fused, copies folded, what is shown already left out, works capped (pure).

Lexical and dense scores are put on one scale by their own mean and deviation over the first `pool` of each list
(z-scores; they beat rank fusion on every kind of the dev sets because the margin of a clear winner survives). Every part
of a score is a `Reason`, and the score is their sum.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from lineage.records import Chunk, Reason, ReasonKind, Signal

Floats = NDArray[np.float64]
Ranked = Sequence[tuple[int, float]]
_ALIKE = 1e-9
"""Scores that deviate no more than this do not differ."""


@dataclass(slots=True)
class Scored:
    """A row with its score in deviations, its chunk and the key that equal texts share, what each retriever said, and the parts of the score.

    `copies` are the rows folded into it. The chunk has no text until it is read. Where it has grown, `found` is what it was.
    Not frozen, since a question makes hundreds.
    """

    row: int
    score: float
    chunk: Chunk
    same: str = ""
    signals: tuple[Signal, ...] = ()
    why: tuple[Reason, ...] = ()
    copies: tuple[Chunk, ...] = ()
    found: Chunk | None = None


def standard(scores: Floats, pool: int) -> Floats:
    """Scores, best first, in deviations from the mean of the first `pool`; 0 for all where they do not differ."""
    mean, deviation = (float(scores[:pool].mean()), float(scores[:pool].std())) if len(scores) else (0.0, 0.0)
    return (scores - mean) / deviation if deviation > _ALIKE else np.zeros(len(scores))


@dataclass(frozen=True)
class Fusion:
    """Scored lists put together: `rows` with their `scores`, best first, what each list, scaled, adds to them (`parts`) and said (`lists`)."""

    rows: NDArray[np.int64]
    scores: Floats
    parts: Sequence[tuple[ReasonKind, Floats]]
    lists: Sequence[tuple[str, Ranked]]

    @cached_property
    def by_row(self) -> dict[int, float]:
        """The score of each row, best first."""
        return dict(zip(self.rows.tolist(), self.scores.tolist(), strict=True))

    def first(self, most: int | None = None, also: Iterable[int] = ()) -> dict[int, float]:
        """The scores of the best rows and of the rows `also`, as far as a list has them; `explained` tells their parts."""
        return dict(islice(self.by_row.items(), most)) | {row: self.by_row[row] for row in also if row in self.by_row}

    def explained(self, scored: Iterable[Scored]) -> list[Scored]:
        """The same with what each list said and added before all that moved them since."""
        places, signals = {row: at for at, row in enumerate(self.by_row)}, [(name, _ranks(ranked)) for name, ranked in self.lists]
        return [self._explained(candidate, places[candidate.row], signals) for candidate in scored]

    def _explained(self, scored: Scored, place: int, signals: Sequence[tuple[str, Mapping[int, tuple[int, float]]]]) -> Scored:
        why = [Reason(kind, float(values[place])) for kind, values in self.parts]
        signals_of_row = [Signal(name, *ranks[scored.row]) for name, ranks in signals if scored.row in ranks]
        return replace(scored, signals=(*signals_of_row, *scored.signals), why=(*why, *scored.why))


def fuse(lexical: Ranked, dense: Ranked | None, share: float, pool: int = 200, name: ReasonKind = ReasonKind.DENSE) -> Fusion:
    """Both lists as one; a row that one list lacks is given its lowest score. `share` is the weight of the second list, which
    is called `name`; each is scaled by its first `pool`."""
    lists = [(ReasonKind.LEXICAL, lexical, 1.0 - share), (name, dense or (), share)]
    if not lexical or not dense:
        lists = [(kind, ranked, 1.0) for kind, ranked, _ in lists if ranked]
    columns = [(np.array([row for row, _ in ranked], np.int64), np.array([score for _, score in ranked], np.float64)) for _, ranked, _ in lists]
    rows = np.sort(np.concatenate([np.empty(0, np.int64), *(rows_of for rows_of, _ in columns)]))
    rows = rows[np.diff(rows, prepend=-1) > 0]
    parts = [(kind, weight * _scaled(rows, *column, pool)) for (kind, _, weight), column in zip(lists, columns, strict=True)]
    totals = sum((values for _, values in parts), np.zeros(len(rows)))
    order = np.argsort(-totals, kind="stable")
    return Fusion(rows[order], totals[order], [(kind, values[order]) for kind, values in parts], [(kind.value, ranked) for kind, ranked, _ in lists])


def _scaled(rows: NDArray[np.int64], scored_rows: NDArray[np.int64], scores: Floats, pool: int) -> Floats:
    """The scores of a list in deviations, by the sorted rows of all lists; its lowest for those that it lacks."""
    scaled = standard(scores, pool)
    column = np.full(len(rows), scaled.min(initial=np.inf))
    column[np.searchsorted(rows, scored_rows)] = scaled
    return column


def _ranks(ranked: Ranked) -> Mapping[int, tuple[int, float]]:
    """The rank and score of each row."""
    return {row: (rank, score) for rank, (row, score) in enumerate(sorted(ranked, key=itemgetter(1), reverse=True), 1)}


def moved(scored: Scored, *reasons: Reason) -> Scored:
    """The same with further parts added to its score."""
    if not reasons:
        return scored
    score = sum([reason.value for reason in reasons], scored.score)
    return Scored(scored.row, score, scored.chunk, scored.same, scored.signals, scored.why + reasons, scored.copies, scored.found)


def ordered(scored: Iterable[Scored]) -> list[Scored]:
    """Best first, equal scores in the order of rows."""
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.row))


def reordered(scored: Sequence[Scored], marks: Sequence[float], name: str) -> list[Scored]:
    """Hits in the order of a reranker's marks, each with that signal; the fused scores stay with the places."""
    out = []
    for rank, at in enumerate(sorted(range(len(scored)), key=lambda at: (-marks[at], at)), 1):
        candidate = moved(scored[at], Reason(ReasonKind.RERANKED, scored[rank - 1].score - scored[at].score, (name,)))
        out.append(replace(candidate, signals=(*candidate.signals, Signal(name, rank, marks[at]))))
    return out


def likelihood(score: float) -> float:
    """A fused score as a number in (0, 1): deviations through the logistic curve, so that 2 deviations give one half."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score - 2.0))))


def folded(scored: Sequence[Scored]) -> list[Scored]:
    """Equal texts become one: the best placed stays, the others are its copies."""
    homes: dict[str, list[Scored]] = {}
    for candidate in scored:
        homes.setdefault(candidate.same, []).append(candidate)
    return [replace(group[0], copies=tuple(other.chunk for other in group[1:])) if len(group) > 1 else group[0] for group in homes.values()]


def apart(scored: Iterable[Scored], grow: Callable[[Scored, Sequence[Chunk]], Scored] | None = None) -> Iterator[Scored]:
    """Without those whose lines a better one of the same file already shows for the most part.

    `grow` gives a candidate with what is shown of it, beside what better ones show of its file.
    """
    places: dict[tuple[str, str], list[Chunk]] = {}
    for candidate in scored:
        shown = places.setdefault((candidate.chunk.work, candidate.chunk.path), [])
        if any(covers(other, candidate.chunk) for other in shown):
            continue
        grown = grow(candidate, shown) if grow else candidate
        shown.append(grown.chunk)
        yield grown


def covers(shown: Chunk, other: Chunk) -> bool:
    """Whether four fifths of the other's characters lie inside what is shown."""
    common = min(shown.end, other.end) - max(shown.start, other.start)
    return common > 0.8 * max(1, other.end - other.start)


def capped(scored: Iterable[Scored], k: int, share: float, works: Collection[str] = ()) -> list[Scored]:
    """The first `k`, at most `share` of them (three at least) from one work while others have something to say.

    `works` are all that the list has, where they are known: no more is read than they may fill.
    """
    most = max(3, math.ceil(share * k))
    taken: Counter[str] = Counter()
    first: list[Scored] = []
    later: list[Scored] = []
    for candidate in scored:
        if taken[candidate.chunk.work] < most:
            taken[candidate.chunk.work] += 1
            first.append(candidate)
        else:
            later.append(candidate)
        if len(first) == k:
            return first
        if works and len(first) + len(later) >= k and all(taken[work] >= most for work in works):
            break
    return [*first, *later[: k - len(first)]]
