"""Whether a lineage supports a question at all: its subject must be there as an idea, not only as scattered words.

One passage must hold most of what is asked (a list of passages holds anything), the names that the question names must stand in
a passage that is near, code must have the identifiers that such things have there, and the area of the question must be one of
the lineage's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from lineage.catalog.reader import Catalog
from lineage.records import Chunk, Work, WorkId
from lineage.tables import packaged
from lineage.text.tokens import parts, tokens
from retrieval.search.fusion import Ranked, standard
from retrieval.search.query import Crossing, Phrase, whole
from retrieval.search.question_subject import Name, share_spoken

FIRST = 10
NAMELESS = 0.6
"""What a question counts that names nothing: about what one gets that names something half of which is there."""
UNASKED = 0.5
"""The same for one that no code is known for."""
_PER = 1000
PRESENT, NEVER = 0.01, 0.0003
"""The share of pieces from which on an area is one of the lineage's, and what is added to each so that none is infinitely far away."""
FARTHEST, FAR = 2.0, 1.5
"""The greatest distance, and the one from which on a lineage has next to nothing of an area."""
MISSES = "the nearest matches are shown"
MISS = "nearest-miss"
"""The flag of a hit that was only the nearest."""
POOL = 200
CLOSE = 0.5
"""The similarity, to a model whose scale is known, of a passage that answers although the lineage has next to nothing of the area."""


@dataclass(frozen=True)
class Concepts:
    """`covered`: the share of a question's rarity that the best of the first passages by words holds; `absent`: the share that no
    passage of the lineage holds; `common`: the mean log of how many of a thousand passages hold a word; `spoken`: the share of the
    bridges to code that are crossed whose identifiers stand in the first passages; `named`: the share of the names that a passage
    speaks of, by how near it is; `outside`: how far the lineage is from the question's area.
    """

    covered: float = 0.0
    absent: float = 0.0
    common: float = 0.0
    spoken: float = UNASKED
    named: float = NAMELESS
    outside: float = 0.0


@dataclass(frozen=True)
class Asked:
    """A question: its text and terms, what it names, and the bridges to code that it crosses."""

    text: str
    terms: Sequence[str]
    about: Sequence[Name]
    crossed: Sequence[Crossing]


@dataclass(frozen=True)
class Field:
    """What of a generation the concepts of a question are looked for in: how many `chunks` it has, how many hold each word of the
    question (`counts`), by area the share of them that is of it (`shares`), its works, and the first passages by row (`passages`) with
    their distinct words (`bags`)."""

    chunks: int
    counts: Mapping[str, int]
    shares: Mapping[str, float]
    works: Mapping[WorkId, Work]
    passages: Mapping[int, Chunk]
    bags: Mapping[int, frozenset[str]]


def first(lexical: Ranked, dense: Ranked | None) -> list[int]:
    """The rows of the first passages of both lists."""
    return list(dict.fromkeys(row for ranked in (lexical, dense or ()) for row, _ in ranked[:FIRST]))


def concepts(asked: Asked, lexical: Ranked, dense: Ranked | None, field: Field) -> Concepts:
    """The concepts of a question in two ranked lists (row, score), best first."""
    terms = asked.terms
    bags = field.bags
    worth = {term: _rarity(field.counts.get(term, 0), field.chunks) for term in terms}
    whole = sum(worth.values()) or 1.0
    return Concepts(
        covered=max((sum(worth[term] for term in worth if term in bags.get(row, ())) for row, _ in lexical[:FIRST]), default=0.0) / whole,
        absent=sum(value for term, value in worth.items() if not field.counts.get(term)) / whole,
        common=sum(math.log(_PER * (field.counts.get(term, 0) + 0.5) / field.chunks) for term in terms) / max(1, len(terms)),
        spoken=_spoken(asked.crossed, bags.values()),
        named=_named(asked.about, dict(dense or ()), field),
        outside=distance(asked_areas(asked.text), field.shares),
    )


def _rarity(count: int, chunks: int) -> float:
    """Inverse document frequency, 1 for what nothing holds."""
    return math.log(1 + (chunks - count + 0.5) / (count + 0.5)) / math.log(1 + (chunks + 0.5) / 0.5)


def _spoken(crossed: Sequence[Crossing], bags: Iterable[frozenset[str]]) -> float:
    """Identifiers of several words alone tell: `normal_` is any normal."""
    everything = frozenset().union(*bags)
    hit = [any(token in everything for token, name in crossing.bridge.code.items() if len(parts(name)) > 1) for crossing in crossed]
    return sum(hit) / len(hit) if hit else UNASKED


def _named(about: Sequence[Name], similar: Mapping[int, float], field: Field) -> float:
    """Of each passage the share of the names that it, or its work, speaks of, by its similarity beside the nearest's; the best."""
    nearest = max((similar.get(row, 0.0) for row in field.passages), default=0.0)
    best = 0.0
    for row, chunk in field.passages.items():
        near = similar.get(row, 0.0) / nearest if similar and nearest > 0 else 1.0
        best = max(best, near * (share_spoken(about, _text(chunk, field.works.get(chunk.work))) if about else NAMELESS))
    return best


def _text(chunk: Chunk, work: Work | None) -> str:
    return f"{chunk.symbol} {chunk.path} {chunk.header} {chunk.work.rpartition('/')[2]} {work.title if work else ''} {chunk.text}"


# -- areas: what a lineage and a question are about (it trains networks, it has images, it calls language models)
#
# "How is the encoder initialized?" has its words in a lineage of agents that write code, too, which trains nothing: they mean other
# things there. How many pieces of a generation hold an identifier of an area is a property of the lineage. Areas are data (`data/areas.json`).


@dataclass(frozen=True)
class Area:
    """An area: phrases of questions, as stems, and the index's tokens of its identifiers."""

    name: str
    asked: tuple[Phrase, ...]
    code: frozenset[str]


@cache
def areas() -> tuple[Area, ...]:
    """The packaged areas."""
    table = packaged("areas", "retrieval")["areas"]
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
    return phrase[0] in stems and any(tuple(stems[at : at + len(phrase)]) == phrase for at in range(len(stems) - len(phrase) + 1))


def distance(asked: Iterable[str], shares: Mapping[str, float]) -> float:
    """How far a lineage is from the area of a question that is the least its own: 0 where it has all of them, `FARTHEST` at most."""
    return min(FARTHEST, max((math.log(PRESENT / (shares[name] + NEVER)) for name in asked if shares[name] + NEVER < PRESENT), default=0.0))


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
    nearest = float(standard(np.array([score for _, score in first]), POOL)[0])
    return Signs(gap, math.log1p(terms), nearest, agreed, vectors=True, near=first[0][1], **concepts)


def supported(signs: Signs, embedder: str = "") -> bool:
    """Whether an answer is likely enough to be among what was found by this embedder (its name before `@` counts)."""
    model, table = embedder.partition("@")[0], packaged("support", "retrieval")
    if signs.outside >= FAR and (model not in table["models"] or signs.near < CLOSE):
        return False
    if not signs.vectors:
        return _likely(signs, table["words"])
    return signs.near >= table["floors"].get(model, -1.0) and _likely(signs, table["models"].get(model, table["vectors"]))


def _likely(signs: Signs, fitted: Mapping[str, Any]) -> bool:
    return bool(likelihood(signs, fitted["weights"]) >= fitted["threshold"])


def likelihood(signs: Signs, weights: Mapping[str, float]) -> float:
    """The logistic curve over the weighted signs."""
    values = asdict(signs)
    total = weights["bias"] + sum(weight * values[name] for name, weight in weights.items() if name != "bias")
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))
