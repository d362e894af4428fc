"""What the other passages of a paper say for one of them (pure).

A passage of a paper seldom names what the paper is about: its title, its abstract and its neighbours do. Where several
passages of one paper were found, each of them is likelier to answer; how much likelier is measured against the other
papers, so that papers as a whole rise above code by nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from lineage.model import Chunk
from retrieval.fuse import Scored

FIRST = 4
"""The passages of a paper that count, the best first."""
REASON = "other passages of its paper"


def siblings_prior(scored: Sequence[Scored], weight: float) -> Callable[[Chunk], Iterable[tuple[float, str]]]:
    """Favours passages of papers that were found more than once, and disfavours the others as much in the mean."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in scored:
        if one.chunk.kind == "paper":
            found[one.chunk.work].append(max(0.0, one.fused.score))
    worth = {work: sum(sorted(scores, reverse=True)[:FIRST]) for work, scores in found.items()}
    mean = sum(worth[work] * len(scores) for work, scores in found.items()) / max(1, sum(map(len, found.values())))
    return lambda chunk: [(weight * (worth[chunk.work] - mean), REASON)] if chunk.kind == "paper" and chunk.work in worth else []
