"""What a list shows of what was ranked: copies folded, what is shown already left out, works and families of files capped (pure)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from lineage.records import Chunk
from retrieval.search.fusion import Scored

PROSE = frozenset({"paper", "docs"})
_IMPORTS = ("import ", "from ", "export ", "#include", "use ", "using ", "require", "__all__", "library(")
MOST = 2
_NAME = re.compile(r"^[ \t]*(?:[-+][ \t]+)?[\"']?([A-Za-z_][\w.-]{0,80})[\"']?[ \t]*(?::(?!:)|=(?!=))", re.MULTILINE)
_FEWEST, _SHARE, _ALIKE = 4, 0.5, 0.7


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
    """The first `k`, at most `share` of them (three at least) from one work and few from one family of files while others have something to say.

    `works` are all that the list has, where they are known: no more is read than they may fill.
    """
    most = max(3, math.ceil(share * k))
    taken: Counter[str] = Counter()
    families = Families()
    first: list[Scored] = []
    later: list[Scored] = []
    for candidate in scored:
        if taken[candidate.chunk.work] < most and families.admits(candidate.chunk):
            taken[candidate.chunk.work] += 1
            first.append(candidate)
        else:
            later.append(candidate)
        if len(first) == k:
            return first
        if works and len(first) + len(later) >= k and all(taken[work] >= most for work in works):
            break
    return [*first, *later[: k - len(first)]]


def limit_prose_share(scored: Iterable[Scored], share: float, margin: float, codes: Sequence[float] | None = None) -> Iterator[Scored]:
    """With at most `share` (one at least) of each beginning of the list prose, while code is no more than `margin` behind.

    `codes` are the scores of all code in the list, where they are known: no more is read than may hold some.

    Passages that speak of a thing share more words with a question about it than the code that does it. What a paper alone
    says stays where it is: no code comes near it.
    """
    left, scoreds = iter(scored), deque[Scored]()
    shown = prose = 0
    while (candidate := scoreds.popleft() if scoreds else next(left, None)) is not None:
        if candidate.chunk.kind in PROSE and prose + 1 > math.ceil(share * (shown + 1)):
            floor = candidate.score - margin
            scoreds.appendleft(candidate)
            _fill(scoreds, left, floor, codes)
            candidate = next((other for other in scoreds if _lifted(other.chunk) and other.score >= floor), candidate)
            scoreds.remove(candidate)
        shown += 1
        prose += candidate.chunk.kind in PROSE
        yield candidate


def _lifted(chunk: Chunk) -> bool:
    """Code that does or sets something: not lines that mostly import what others do."""
    if chunk.kind in PROSE or chunk.role != "module":
        return chunk.kind not in PROSE
    lines = [line.lstrip() for line in chunk.text.split("\n") if line.strip()]
    return 2 * sum(line.startswith(_IMPORTS) for line in lines) < len(lines)


def _fill(scoreds: deque[Scored], left: Iterator[Scored], floor: float, codes: Sequence[float] | None) -> None:
    """Take more in until code is held or nothing can reach `floor` any more."""
    held = any(_lifted(candidate.chunk) for candidate in scoreds)
    while not held and (last := scoreds[-1].score) >= floor and (codes is None or any(floor <= score <= last for score in codes)):
        if (scored := next(left, None)) is None:
            return
        scoreds.append(scored)
        held = _lifted(scored.chunk)


def names_set(text: str) -> frozenset[str]:
    """The names that a text sets, where most of its lines set one; else none."""
    names = _NAME.findall(text)
    lines = sum(1 for line in text.split("\n") if line.strip())
    return frozenset(names) if len(names) >= max(_FEWEST, _SHARE * lines) else frozenset()


class Families:
    """Counts what a list shows of files of one work that set the same names: a configuration a data set, fifty times over.

    All of them share their words with a question for any of the names. Which of them is meant the question does not say; two
    show what there is, and others have their place.
    """

    def __init__(self) -> None:
        self._shown: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)

    def admits(self, chunk: Chunk) -> bool:
        """Whether fewer than `MOST` other files of its work were admitted that set the same names, for the most part."""
        names = names_set(chunk.text)
        shown = self._shown[chunk.work]
        alike = {path for path, others in shown if path != chunk.path and names and len(names & others) >= _ALIKE * len(names | others)}
        admitted = len(alike) < MOST
        if names and admitted:
            shown.append((chunk.path, names))
        return admitted
