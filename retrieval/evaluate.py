"""How good a ranking is (pure): recall at k and mean reciprocal rank over the ranks of the first right hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CUTS = (1, 5, 10, 20)
MRR_DEPTH = 10


@dataclass(frozen=True)
class Scores:
    """`recall` by cut, `mrr` at 10, over `count` questions (0 everywhere for none)."""

    count: int
    recall: Mapping[int, float]
    mrr: float

    def __str__(self) -> str:
        return "  ".join(f"R@{cut} {value:.3f}" for cut, value in self.recall.items()) + f"  MRR@{MRR_DEPTH} {self.mrr:.3f}"


def first_rank(found: Sequence[bool]) -> int | None:
    """Rank (from 1) of the first right hit, None if there is none."""
    return next((rank for rank, right in enumerate(found, 1) if right), None)


def scores(ranks: Sequence[int | None], cuts: Sequence[int] = CUTS) -> Scores:
    """Recall at each cut and MRR@10 of the first right hits' ranks, one a question."""
    count = len(ranks) or 1
    recall = {cut: sum(rank is not None and rank <= cut for rank in ranks) / count for cut in cuts}
    mrr = sum(1 / rank for rank in ranks if rank is not None and rank <= MRR_DEPTH) / count
    return Scores(len(ranks), recall, mrr)
