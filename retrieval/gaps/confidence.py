"""How sure an offered value is: a logistic of few parameters over what supports it (pure).

The parameters are data (`../data/confidence.json`) and say on what they were fitted and how the result was checked;
`benchmarks/gaps.py --fit` makes them anew. The same number ranks the offers, so that the first is the likeliest.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Support:
    """What speaks for a value. All 0..1 but where said.

    `own` the target's own code holds it; `pointed` the target says that it takes this over from a holder; `role` how much a
    holder's role speaks for taking over its settings (base 1, background 0); `score` the lineage score of the best holder;
    `run` it is what a command or configuration sets, not a default; `agreement` the share of the holding works that hold
    it; `alone` how few values the best holder itself has for the detail (1: just this one); `works` 1 - 1/works that hold it;
    `scoped` it holds for a part only (an encoder, one dataset); `words` a paper's prose or table says it; `aside` only tests,
    examples or vendored code have it.
    """

    own: float = 0.0
    pointed: float = 0.0
    role: float = 0.0
    score: float = 0.0
    run: float = 0.0
    agreement: float = 0.0
    alone: float = 0.0
    works: float = 0.0
    scoped: float = 0.0
    words: float = 0.0
    aside: float = 0.0


def confidence(support: Support) -> float:
    """The probability that the value is the one that the target used."""
    weights = _parameters()["value"]
    return _logistic(weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in asdict(support).items()))


def passage_confidence(similarity: float) -> float:
    """The probability that a passage found for a detail's question holds its value; `similarity` is the hit's score (0..1)."""
    weights = _parameters()["passage"]
    return _logistic(weights["bias"] + weights["score"] * similarity)


def _logistic(logit: float) -> float:
    """1 / (1 + e^-x), without overflow, as it is shown."""
    return round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit)))), 3)


@cache
def _parameters() -> Mapping[str, Mapping[str, float]]:
    """The packaged parameters by kind of offer."""
    table: dict[str, Mapping[str, float]] = json.loads(files("retrieval").joinpath("data/confidence.json").read_text("utf-8"))["parameters"]
    return table
