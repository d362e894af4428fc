"""What a lineage is about, in broad areas (it trains networks, it has images, it calls language models), and what a question is about.

"How is the encoder initialized?" has its words in a lineage of agents that write code, too, which trains nothing: they mean other
things there. Code of an area has its own identifiers, and how many pieces of a generation hold one of them is a property of the
lineage. Areas are data (`data/areas.json`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lineage.catalog.reader import Catalog
from lineage.text.tokens import tokens
from retrieval.search.expansion import Phrase, whole

PRESENT, NEVER = 0.01, 0.0003
"""The share of pieces from which on an area is one of the lineage's, and what is added to each so that none is infinitely far away."""
FARTHEST, FAR = 2.0, 1.5
"""The greatest distance, and the one from which on a lineage has next to nothing of an area."""


@dataclass(frozen=True)
class Area:
    """An area: phrases of questions, as stems, and the index's tokens of its identifiers."""

    name: str
    asked: tuple[Phrase, ...]
    code: frozenset[str]


@cache
def areas() -> tuple[Area, ...]:
    """The packaged areas."""
    table = json.loads(files("retrieval").joinpath("data/areas.json").read_text("utf-8"))["areas"]
    return tuple(Area(name, tuple(tuple(tokens(text)) for text in row["asked"]), frozenset(map(whole, row["code"]))) for name, row in table.items())


def profile(catalog: Catalog, chunks: int) -> dict[str, float]:
    """By area the share of the pieces that hold one of its identifiers, at most."""
    counts = catalog.frequencies({token for area in areas() for token in area.code})
    return {area.name: sum(counts[token] for token in area.code) / max(1, chunks) for area in areas()}


def asked_areas(question: str) -> list[str]:
    """The areas that a question speaks of."""
    stems = tokens(question)
    return [area.name for area in areas() if any(_holds(stems, phrase) for phrase in area.asked)]


def _holds(stems: list[str], phrase: Phrase) -> bool:
    return any(tuple(stems[at : at + len(phrase)]) == phrase for at in range(len(stems) - len(phrase) + 1))


def distance(asked: Iterable[str], shares: Mapping[str, float]) -> float:
    """How far a lineage is from the area of a question that is the least its own: 0 where it has all of them, `FARTHEST` at most."""
    return min(FARTHEST, max((math.log(PRESENT / (shares[name] + NEVER)) for name in asked if shares[name] + NEVER < PRESENT), default=0.0))
