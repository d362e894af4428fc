"""What a list shows of what was ranked: copies folded, what is shown already left out, works capped (pure)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from lineage.records import Chunk
from retrieval.search.fusion import Scored


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
