"""What the best other passage of a paper says for one of them (pure).

A passage of a paper seldom names what the paper is about: its title, its abstract and its neighbours do. A passage is
likelier to answer where another one of its paper was found too, and the more, the better that one fits; how much is measured
against the first passages of all papers, so that papers as a whole rise above code by nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from lineage.model import Chunk
from retrieval.fuse import Scored

FIRST = 10
"""The passages, best first, whose mean is nothing."""
REASON = "the best other passage of its paper"


def siblings_prior(scored: Sequence[Scored], weight: float) -> Callable[[Chunk], Iterable[tuple[float, str]]]:
    """Favours passages of papers by `weight` times the score of the best other one; `scored` stands best first.

    At a weight of 1 the best two of a paper would lose their order.
    """
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for one in scored:
        if one.chunk.kind == "paper":
            found[one.chunk.work].append((max(0.0, one.fused.score), one.chunk.id))
    best = {work: sorted(passages, reverse=True)[:2] for work, passages in found.items()}

    def other(work: str, passage: str) -> float:
        return next((score for score, name in best[work] if name != passage), 0.0)

    first = [one.chunk for one in scored if one.chunk.kind == "paper"][:FIRST]
    others = [other(chunk.work, chunk.id) for chunk in first]
    mean = sum(others) / max(1, len(others))
    return lambda chunk: [(weight * (other(chunk.work, chunk.id) - mean), REASON)] if chunk.kind == "paper" and chunk.work in best else []
