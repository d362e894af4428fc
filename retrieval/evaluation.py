"""How good a ranking is (pure): recall, mean reciprocal rank and nDCG over questions whose answers are known.

A gold answer is a stretch of lines (`path`, `start`, `end`, and `repo` or `work` where the path alone is not enough), a
`quote` that stands in a paper, or the identifier of a chunk. A hit finds lines when it shows at least half of them (of
40, where there are more) within 60 lines, its focus counting where it is longer: a whole file finds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lineage.records import Hit

CUTS = (1, 5, 10, 20)
DEPTH = 10
"""How far down reciprocal rank and nDCG look."""
MOST_LINES, ENOUGH, LONG = 60, 0.5, 40


@dataclass(frozen=True)
class Gold:
    """One right answer: lines of a path, words of a work, or a chunk; what is empty is not asked of a hit."""

    path: str = ""
    start: int = 0
    end: int = 0
    repo: str = ""
    work: str = ""
    quote: str = ""
    chunk: str = ""


@dataclass(frozen=True)
class Case:
    """A question with its answers: each member of `gold` is one answer, given as the places that all hold it."""

    id: str
    query: str
    gold: tuple[tuple[Gold, ...], ...]
    kind: str = "all"


@dataclass(frozen=True)
class Scores:
    """`recall` by cut, `mrr` and `ndcg` at 10, over `count` questions (0 everywhere for none)."""

    count: int
    recall: Mapping[int, float]
    mrr: float
    ndcg: float = 0.0

    def __str__(self) -> str:
        return "  ".join(f"R@{cut} {value:.3f}" for cut, value in self.recall.items()) + f"  MRR@{DEPTH} {self.mrr:.3f}"


@dataclass(frozen=True)
class QueryScore:
    """A question as it was answered: the rank of the first right hit, its nDCG, the share of gold lines in that hit's focus."""

    id: str
    kind: str
    rank: int | None
    ndcg: float
    focus: float | None
    seconds: float
    first: str = ""


@dataclass(frozen=True)
class Evaluation:
    """What a lineage scored on a file of questions: by kind, all together, and row by row; latency in milliseconds."""

    lineage: str
    generation: str
    embedder: str
    all: Scores
    kinds: Mapping[str, Scores]
    focus: float | None
    p50: float
    p95: float
    rows: tuple[QueryScore, ...] = field(default=())


@dataclass(frozen=True)
class Astray:
    """An answer that names no file, work or chunk of the lineage: no search could have found it. `id` is its question's."""

    id: str
    gold: str


@dataclass(frozen=True)
class CheckedEvaluation(Evaluation):
    """The scores, and what in the gold file went astray: it counts as not found all the same."""

    astray: tuple[Astray, ...] = ()


def case_of(row: Mapping[str, Any]) -> Case:
    """The case of one row of a gold file; raises `ValueError` that says what is missing."""
    query = row.get("query") or row.get("text")
    if not isinstance(query, str) or not query.strip():
        raise ValueError("there is no query")
    listed = row.get("gold")
    gold = [(_gold(place),) for place in (listed if isinstance(listed, list) else [listed])]
    if not gold:
        raise ValueError("there is no gold")
    more = row.get("also") or ()
    also = tuple(_gold(place) for place in (more if isinstance(more, list | tuple) else [more]))
    return Case(str(row.get("id", "")), query, ((*gold[0], *also), *gold[1:]), str(row.get("kind") or "all"))


def _gold(place: object) -> Gold:
    if isinstance(place, str) and place:
        return Gold(chunk=place)
    if not isinstance(place, Mapping):
        raise ValueError("gold is lines ({path, start, end}), a quote ({work, quote}) or the identifier of a chunk")
    made = Gold(**{name: place[name] for name in ("path", "repo", "work", "quote", "chunk") if isinstance(place.get(name), str)})
    lines = place.get("start"), place.get("end")
    if made.path and isinstance(lines[0], int) and isinstance(lines[1], int) and 1 <= lines[0] <= lines[1]:
        return Gold(made.path, lines[0], lines[1], made.repo, made.work)
    if made.path and lines != (None, None):
        raise ValueError(f"lines {lines[0]} to {lines[1]} are not a valid range")
    if not (made.path or made.quote.strip() or made.chunk):
        raise ValueError("gold is lines ({path, start, end}), a quote ({work, quote}) or the identifier of a chunk")
    return made


def finds(hit: Hit, gold: Gold) -> bool:
    """Whether a hit shows an answer."""
    if gold.chunk:
        return gold.chunk in {hit.chunk.id, hit.chunk.path}
    if not _same_place(hit, gold):
        return False
    if gold.quote:
        return " ".join(gold.quote.split()).lower() in " ".join(hit.chunk.text.split()).lower()
    if not gold.start:
        return True
    first, last = _shown(hit)
    return min(last, gold.end) - max(first, gold.start) + 1 >= ENOUGH * min(gold.end - gold.start + 1, LONG)


def _same_place(hit: Hit, gold: Gold) -> bool:
    repo = hit.chunk.work.removeprefix("repo:").removeprefix("github.com/").lower()
    wanted = gold.repo.removeprefix("https://").removeprefix("github.com/").lower()
    works = {hit.chunk.work.lower(), *(alias.lower() for alias in hit.work.aliases)}
    return (
        (not gold.path or hit.chunk.path.lower() == gold.path.lower())
        and (not wanted or repo == wanted)
        and (not gold.work or gold.work.lower() in works)
    )


def _shown(hit: Hit) -> tuple[int, int]:
    first, last = hit.chunk.start_line, hit.chunk.end_line
    if last - first < MOST_LINES:
        return first, last
    if hit.focus and hit.focus.end_line - hit.focus.start_line < MOST_LINES:
        return hit.focus.start_line, hit.focus.end_line
    return 0, -1


def judged(case: Case, hits: Sequence[Hit], seconds: float = 0.0) -> QueryScore:
    """A question's answer held against its gold."""
    rank = first_rank([any(finds(hit, gold) for answer in case.gold for gold in answer) for hit in hits])
    first = hits[0].chunk if hits else None
    where = f"{first.path}#L{first.start_line}-L{first.end_line}" if first else ""
    return QueryScore(case.id, case.kind, rank, _ndcg(case, hits), _focus(case, hits[rank - 1]) if rank and rank <= 5 else None, seconds, where)


def _ndcg(case: Case, hits: Sequence[Hit]) -> float:
    """Gain of a hit: how many answers it is the first to show. The best order shows most first, and what was not found too."""
    left = list(case.gold)
    gains = []
    for hit in hits:
        new = [answer for answer in left if any(finds(hit, gold) for gold in answer)]
        left = [answer for answer in left if answer not in new]
        gains.append(len(new))
    best = [*sorted((gain for gain in gains if gain), reverse=True), *(1 for _ in left)]
    return _discounted(gains) / _discounted(best)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:DEPTH], 1))


def _focus(case: Case, hit: Hit) -> float | None:
    """The share of a hit's focus that is gold, None where lines are not what is asked."""
    spans = [gold for answer in case.gold for gold in answer if gold.start and _same_place(hit, gold)]
    if not hit.focus or not spans:
        return None
    first, last = hit.focus.start_line, hit.focus.end_line
    return max(max(0, min(last, gold.end) - max(first, gold.start) + 1) for gold in spans) / (last - first + 1)


def first_rank(rights: Sequence[bool]) -> int | None:
    """Rank (from 1) of the first right hit, None if there is none."""
    return next((rank for rank, right in enumerate(rights, 1) if right), None)


def scores(ranks: Sequence[int | None], cuts: Sequence[int] = CUTS, ndcg: Sequence[float] = ()) -> Scores:
    """Recall at each cut and MRR@10 of the first right hits' ranks, one a question, and the mean of their nDCG."""
    count = len(ranks) or 1
    recall = {cut: sum(rank is not None and rank <= cut for rank in ranks) / count for cut in cuts}
    mrr = sum(1 / rank for rank in ranks if rank is not None and rank <= DEPTH) / count
    return Scores(len(ranks), recall, mrr, sum(ndcg) / count)


def evaluation(lineage: str, generation: str, embedder: str, rows: Sequence[QueryScore]) -> Evaluation:
    """The scores of judged questions, by kind and together."""
    kinds = {kind: _scores([row for row in rows if row.kind == kind]) for kind in dict.fromkeys(row.kind for row in rows)}
    focus = [row.focus for row in rows if row.focus is not None]
    times = sorted(1000 * row.seconds for row in rows)
    mean = sum(focus) / len(focus) if focus else None
    return Evaluation(lineage, generation, embedder, _scores(rows), kinds, mean, _part(times, 0.5), _part(times, 0.95), tuple(rows))


def _part(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(share * len(times)))] if times else 0.0


def _scores(rows: Sequence[QueryScore]) -> Scores:
    return scores([row.rank for row in rows], ndcg=[row.ndcg for row in rows])
