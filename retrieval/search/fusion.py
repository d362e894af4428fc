"""One ranked list out of several (pure): standardised scores, priors that say why, copies folded, sources capped.

Lexical and dense scores are put on one scale by their own mean and deviation over the first `pool` of each list
(z-scores; they beat rank fusion on every kind of the dev sets because the margin of a clear winner survives).
Priors are in the same unit, deviations, and small: they order what the text leaves close.

The weights are data (`data/weights.json`, with its provenance), fitted on development sets by `benchmarks/fit.py`. What no dev set
covers (the graph) is kept below the distance of typical neighbours.
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

from lineage.records import Chunk, Signal
from retrieval.search.near_duplicate_configs import Families

Ranked = Sequence[tuple[int, float]]
PROSE = frozenset({"paper", "docs"})
_IMPORTS = ("import ", "from ", "export ", "#include", "use ", "using ", "require", "__all__", "library(")


@dataclass(frozen=True)
class FusionWeights:
    """`dense` is the share of the dense score; priors are in deviations (`target` its text, `own` its code, `stated` what states a value that
    is asked for); `share` of a list may come from one work.

    `prose` is the share of every beginning of a list that may be prose while code is at most `margin` deviations behind.
    """

    dense: float = 0.5
    pool: int = 200
    graph: float = 0.3
    target: float = 0.4
    own: float = 1.2
    toplevel: float = -0.5
    abstract: float = -1.5
    siblings: float = 0.8
    stated: float = 2.0
    share: float = 0.6
    prose: float = 0.4
    margin: float = 1.0


@cache
def fitted(embedder: str = "") -> FusionWeights:
    """The packaged weights for an embedder (its name before `@`); those that were fitted with another where it is unknown."""
    table = json.loads(files("retrieval").joinpath("data/weights.json").read_text("utf-8"))["weights"]
    name = embedder.partition("@")[0]
    return FusionWeights(**table.get(name, table["default"]))


@dataclass(frozen=True)
class Fused:
    """A row with its fused score, what each retriever said, and the reasons that moved it."""

    row: int
    score: float
    signals: tuple[Signal, ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scored:
    """A fused row with its chunk and the key that equal texts share; `copies` are the rows folded into it.

    Where the chunk has grown, `found` is what it was.
    """

    fused: Fused
    chunk: Chunk
    same: str = ""
    copies: tuple[Chunk, ...] = field(default=())
    found: Chunk | None = None


def standard(ranked: Ranked, pool: int) -> dict[int, float]:
    """Scores in deviations from the mean of the first `pool`; 0 for all where they do not differ."""
    first = [score for _, score in ranked[:pool]]
    mean = sum(first) / len(first) if first else 0.0
    deviation = math.sqrt(sum((score - mean) ** 2 for score in first) / len(first)) if first else 0.0
    return {row: (score - mean) / deviation if deviation > 1e-9 else 0.0 for row, score in ranked}


def fuse(lexical: Ranked, dense: Ranked | None, weights: FusionWeights, name: str = "dense") -> list[Fused]:
    """Rows of both lists, best first; a row that one list lacks is given its lowest score. `name` is what the signal of the second is called."""
    lists = [("lexical", lexical, 1.0 - weights.dense), (name, dense or (), weights.dense)]
    if not lexical or not dense:
        lists = [(name, ranked, 1.0) for name, ranked, _ in lists if ranked]
    scaled = [(weight, standard(ranked, weights.pool)) for _, ranked, weight in lists]
    floors = [min(scores.values(), default=0.0) for _, scores in scaled]
    rows = dict.fromkeys(row for _, scores in scaled for row in scores)
    signals = _signals([(name, ranked) for name, ranked, _ in lists])
    total = {row: sum(weight * scores.get(row, floor) for (weight, scores), floor in zip(scaled, floors, strict=True)) for row in rows}
    return sorted((Fused(row, score, signals[row]) for row, score in total.items()), key=lambda fused: (-fused.score, fused.row))


def _signals(lists: Iterable[tuple[str, Ranked]]) -> dict[int, tuple[Signal, ...]]:
    signals_by_key: dict[int, tuple[Signal, ...]] = {}
    for name, ranked in lists:
        ordered = sorted(ranked, key=lambda pair: -pair[1])
        for rank, (row, score) in enumerate(ordered, 1):
            signals_by_key[row] = (*signals_by_key.get(row, ()), Signal(name, rank, score))
    return signals_by_key


def boosted(scored: Sequence[Scored], prior: Callable[[Chunk], Iterable[tuple[float, str]]]) -> list[Scored]:
    """The same with priors added and named, best first; `prior` gives (deviations, reason) for a chunk."""
    out = []
    for candidate in scored:
        added = [(value, reason) for value, reason in prior(candidate.chunk) if value]
        why = tuple(f"{reason} ({value:+.2f})" for value, reason in added)
        score = candidate.fused.score + sum(value for value, _ in added)
        out.append(replace(candidate, fused=replace(candidate.fused, score=score, why=(*candidate.fused.why, *why))))
    return sorted(out, key=lambda candidate: (-candidate.fused.score, candidate.fused.row))


def folded(scored: Sequence[Scored]) -> list[Scored]:
    """Equal texts become one: the best placed stays, the others are its copies."""
    homes: dict[str, list[Scored]] = {}
    for candidate in scored:
        homes.setdefault(candidate.same, []).append(candidate)
    return [replace(group[0], copies=tuple(other.chunk for other in group[1:])) for group in homes.values()]


def apart(scored: Iterable[Scored], grow: Callable[[Scored, Sequence[Chunk]], Chunk] | None = None) -> Iterator[Scored]:
    """Without those whose lines a better one of the same file already shows for the most part.

    `grow` gives what is shown of a chunk, beside what better ones show of its file.
    """
    places: dict[tuple[str, str], list[Chunk]] = {}
    for candidate in scored:
        shown = places.setdefault((candidate.chunk.work, candidate.chunk.path), [])
        if any(covers(other, candidate.chunk) for other in shown):
            continue
        chunk = grow(candidate, shown) if grow else candidate.chunk
        shown.append(chunk)
        yield replace(candidate, chunk=chunk, found=candidate.chunk)


def covers(shown: Chunk, other: Chunk) -> bool:
    """Whether four fifths of the other's characters lie inside what is shown."""
    common = min(shown.end, other.end) - max(shown.start, other.start)
    return common > 0.8 * max(1, other.end - other.start)


def capped(scored: Iterable[Scored], k: int, share: float) -> list[Scored]:
    """The first `k`, at most `share` of them (three at least) from one work and few from one family of files while others have something to say."""
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
    return [*first, *later[: k - len(first)]]


def limit_prose_share(scored: Iterable[Scored], share: float, margin: float) -> Iterator[Scored]:
    """With at most `share` (one at least) of each beginning of the list prose, while code is no more than `margin` behind.

    Passages that speak of a thing share more words with a question about it than the code that does it. What a paper alone
    says stays where it is: no code comes near it.
    """
    left, scoreds = iter(scored), deque[Scored]()
    shown = prose = 0
    while (candidate := scoreds.popleft() if scoreds else next(left, None)) is not None:
        if candidate.chunk.kind in PROSE and prose + 1 > math.ceil(share * (shown + 1)):
            floor = candidate.fused.score - margin
            scoreds.appendleft(candidate)
            _fill(scoreds, left, floor)
            candidate = next((other for other in scoreds if _lifted(other.chunk) and other.fused.score >= floor), candidate)
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


def _fill(scoreds: deque[Scored], left: Iterator[Scored], floor: float) -> None:
    """Take more in until code is held or nothing can reach `floor` any more."""
    while (
        not any(_lifted(candidate.chunk) for candidate in scoreds) and scoreds[-1].fused.score >= floor and (scored := next(left, None)) is not None
    ):
        scoreds.append(scored)


def reordered(scored: Sequence[Scored], marks: Sequence[float], name: str) -> list[Scored]:
    """Hits in the order of a reranker's marks, each with that signal; the fused scores stay with the places."""
    order = sorted(range(len(scored)), key=lambda at: (-marks[at], at))
    out = []
    for rank, at in enumerate(order, 1):
        signals = (*scored[at].fused.signals, Signal(name, rank, marks[at]))
        out.append(replace(scored[at], fused=replace(scored[at].fused, score=scored[rank - 1].fused.score, signals=signals)))
    return out


def likelihood(score: float) -> float:
    """A fused score as a number in (0, 1): deviations through the logistic curve, so that 2 deviations give one half."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score - 2.0))))


def role_prior(weights: FusionWeights) -> Callable[[Chunk], Iterable[tuple[float, str]]]:
    """Disfavours what shares words with everything around it: imports and glue outside of every function, abstracts, lists of authors.

    An abstract says what a work is about and seldom how; where a work's text is not to be had, it is all that is known.
    Authors stand under the title, and a question about what the title says is near them.
    """
    priors = {
        "module": (weights.toplevel, "statements outside of every function"),
        "abstract": (weights.abstract, "an abstract"),
        "front": (weights.abstract, "authors and affiliations"),
    }
    return lambda chunk: [priors[chunk.role]] if chunk.role in priors else []


def stated_prior(stated: Mapping[str, AbstractSet[str]], asked: Sequence[str], weight: float) -> Callable[[Chunk], Iterable[tuple[float, str]]]:
    """Favours chunks that state a value of what is asked for, by the share of it: `temperature=temperature` passes one on and states none."""

    def prior(chunk: Chunk) -> Iterable[tuple[float, str]]:
        names = [name for name in asked if name in stated.get(chunk.id, ())]
        return [(weight * len(names) / len(asked), "states " + ", ".join(names))] if names else []

    return prior


def reference_prior(scores: Mapping[str, tuple[float, str]], weight: float) -> Callable[[Chunk], Iterable[tuple[float, str]]]:
    """Favours works that carry the lineage: (score 0..1, reason) by work."""

    def prior(chunk: Chunk) -> Iterable[tuple[float, str]]:
        score, reason = scores.get(chunk.work, (0.0, ""))
        return [(weight * score, reason)] if score > 0 else []

    return prior
