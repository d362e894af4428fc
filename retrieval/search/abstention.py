"""Whether what was found supports an answer at all, told from how it was found.

A ranking always has a first place. Where a lineage holds the answer, one passage holds most of what is asked and stands near it,
its names and its area are the lineage's, and both lists agree on some passages; where it does not, the words are scattered, the
lists are flat and disagree. For the models whose scale is known the similarity of the nearest chunk is one more sign, and a floor
under it tells questions from outside of the field. What the signs weigh is data (`data/support.json`), fitted by
`benchmarks/abstaining.py` on questions of lineages asked of their own and of each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from retrieval.search.concepts import FAR, NAMELESS, UNASKED, Concepts
from retrieval.search.fusion import standard

UNSUPPORTED = "nothing in this lineage supports an answer well"
MISSES = "the nearest matches are shown"
MISS = "nearest-miss"
"""The flag of a hit that was only the nearest."""

FIRST, POOL = 10, 200
CLOSE = 0.5
"""The similarity, to a model whose scale is known, of a passage that answers although the lineage has next to nothing of the area."""
Ranked = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Signs:
    """How a question was answered: `gap` between the first and tenth lexical score, log of 1 + `terms` asked; with vectors,
    how far the nearest chunk stands out of the first 200 (`lift`, in deviations), the share of the first ten of both
    lists that is the same (`agreed`), and the similarity of the nearest (`near`), which are 0 without vectors; the rest as in `Concepts`.
    """

    gap: float
    terms: float
    lift: float = 0.0
    agreed: float = 0.0
    vectors: bool = False
    near: float = 0.0
    covered: float = 0.0
    absent: float = 0.0
    common: float = 0.0
    spoken: float = UNASKED
    named: float = NAMELESS
    outside: float = 0.0


def signs(terms: int, lexical: Ranked, dense: Ranked | None, seen: Concepts | None = None) -> Signs:
    """The signs of two ranked lists (row, score), best first, and of the concepts that were seen in them."""
    gap = (lexical[0][1] if lexical else 0.0) - (lexical[FIRST - 1][1] if len(lexical) >= FIRST else 0.0)
    concepts = asdict(seen or Concepts())
    if not dense:
        return Signs(gap, math.log1p(terms), **concepts)
    first = dense[:POOL]
    agreed = len({row for row, _ in lexical[:FIRST]} & {row for row, _ in first[:FIRST]}) / FIRST
    return Signs(gap, math.log1p(terms), standard(first, POOL)[first[0][0]], agreed, vectors=True, near=first[0][1], **concepts)


def supported(found: Signs, embedder: str = "") -> bool:
    """Whether an answer is likely enough to be among what was found by this embedder (its name before `@` counts)."""
    model, table = embedder.partition("@")[0], _fitted()
    if found.outside >= FAR and (model not in table["models"] or found.near < CLOSE):
        return False
    if not found.vectors:
        return _likely(found, table["words"])
    return found.near >= table["floors"].get(model, -1.0) and _likely(found, table["models"].get(model, table["vectors"]))


def _likely(found: Signs, fitted: Mapping[str, Any]) -> bool:
    return bool(likelihood(found, fitted["weights"]) >= fitted["threshold"])


def likelihood(found: Signs, weights: Mapping[str, float]) -> float:
    """The logistic curve over the weighted signs."""
    values = asdict(found)
    total = weights["bias"] + sum(weight * values[name] for name, weight in weights.items() if name != "bias")
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def _fitted() -> Mapping[str, Any]:
    fitted_model: Mapping[str, Any] = json.loads(files("retrieval").joinpath("data/support.json").read_text("utf-8"))
    return fitted_model
