"""What the best other passage of a paper says for one of them (pure).

A passage of a paper seldom names what the paper is about: its title, its abstract and its neighbours do. A passage is
likelier to answer where another one of its paper was found too, and the more, the better that one fits. That compares papers
and says nothing about code: passages change places among themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from retrieval.search.fusion import Scored

REASON = "the best other passage of its paper"


def with_siblings(scored: Sequence[Scored], weight: float) -> list[Scored]:
    """The same, best first, with passages of papers in the order of their score and `weight` times that of the best other one of their paper.

    The best of them has the score that the best had, and so on. At a weight of 1 the best two of a paper would lose their order.
    """
    passages = [candidate for candidate in scored if candidate.chunk.kind == "paper"]
    scores_by_work: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for candidate in passages:
        scores_by_work[candidate.chunk.work].append((max(0.0, candidate.fused.score), candidate.fused.row))
    best = {work: sorted(of_one, reverse=True)[:2] for work, of_one in scores_by_work.items()}

    def worth(candidate: Scored) -> float:
        return candidate.fused.score + weight * next((score for score, row in best[candidate.chunk.work] if row != candidate.fused.row), 0.0)

    order = sorted(passages, key=lambda candidate: (-worth(candidate), candidate.fused.row))
    places = sorted((candidate.fused.score for candidate in passages), reverse=True)
    moved = [_at(candidate, score) for candidate, score in zip(order, places, strict=True)]
    return sorted(
        [*(candidate for candidate in scored if candidate.chunk.kind != "paper"), *moved],
        key=lambda candidate: (-candidate.fused.score, candidate.fused.row),
    )


def _at(scored: Scored, score: float) -> Scored:
    """With the score of another's place, and the reason."""
    by = score - scored.fused.score
    why = (*scored.fused.why, f"{REASON} ({by:+.2f})") if abs(by) >= 0.005 else scored.fused.why
    return replace(scored, fused=replace(scored.fused, score=score, why=why))
