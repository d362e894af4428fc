"""The scores of a lineage as a table for a person."""

from __future__ import annotations

from collections.abc import Sequence

from api.cli.display import plain, shorten
from retrieval.evaluation.measures import CUTS, DEPTH, Astray, CheckedEvaluation, QueryScore, Scores

_ASTRAY = 20


def evaluation(checked_evaluation: CheckedEvaluation) -> str:
    """A line a kind, latency, and every question that was not answered among the first five."""
    columns = [*(f"R@{cut}" for cut in CUTS), f"MRR@{DEPTH}", f"nDCG@{DEPTH}"]
    width = max(map(len, (*checked_evaluation.kinds, "together")))
    lines = [
        f"{checked_evaluation.lineage} · generation {checked_evaluation.generation} · {plain(checked_evaluation.embedder) or 'lexical only'}",
        "",
    ]
    lines += [f"{'':{width}}     n  " + "  ".join(f"{name:>7}" for name in columns)]
    lines += [_line(plain(kind), scores, width) for kind, scores in checked_evaluation.kinds.items()]
    if len(checked_evaluation.kinds) != 1:
        lines += [_line("together", checked_evaluation.all, width)]
    focus = f", focus {checked_evaluation.focus:.2f}" if checked_evaluation.focus is not None else ""
    lines += ["", f"a question took {checked_evaluation.p50:.0f} ms (p50), {checked_evaluation.p95:.0f} ms (p95){focus}"]
    lines += _astray(checked_evaluation.astray)
    missed = [row for row in checked_evaluation.rows if not row.rank or row.rank > 5]
    lines += ["", "not among the first five:", *map(_missed, missed)] if missed else []
    return "\n".join(lines)


def _astray(lost: Sequence[Astray]) -> list[str]:
    if not lost:
        return []
    named = [f"  {plain(astray.id)}: {shorten(astray.gold, 100)}" for astray in lost[:_ASTRAY]]
    more = [f"  and {len(lost) - _ASTRAY} more"] if len(lost) > _ASTRAY else []
    return ["", f"{len(lost)} answers name no file, work or chunk of this lineage, and count as not found:", *named, *more]


def _line(name: str, scores: Scores, width: int) -> str:
    values = (*scores.recall.values(), scores.mrr, scores.ndcg)
    return f"{name:{width}}  {scores.count:4d}  " + "  ".join(f"{value:7.3f}" for value in values)


def _missed(row: QueryScore) -> str:
    return f"  {plain(row.id)}: " + (f"rank {row.rank}" if row.rank else "not found") + f"; first was {shorten(row.first, 100) or 'nothing'}"
