"""First stage of search: the candidates of the lexical and the dense retriever over one generation.

Both lists are long (`DEPTH`), because what one retriever ranks low the other may rank high; what the lexical one
found is scored by the dense one too, and what it did not find is given its lowest score.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lineage.catalog.reader import Catalog
from lineage.ports import RowsOfVectors, VectorIndex, Vectors
from lineage.records import ChunkKind
from lineage.text.tokens import STOP, fts_any, fts_phrase, terms, tokens, variants
from retrieval.search.focus import rarity
from retrieval.search.fusion import Ranked
from retrieval.search.query import Crossing, Vocabulary

DEPTH = 300
VARIANTS = 0.5
BRIDGES = 0.5
MAX_BRIDGES = 8
COMMON = 0.3
RARE, FEW = 0.02, 10
FEWEST = 4
"""Words from which on a question may be a quotation; with a number among them it may be one of fewer."""
_REACH, _LEAST = 4, 0.6
_WEIGHT = 0.5
"""What a word counts that the index does not know the rarity of."""
_OUTRIGHT = frozenset("how what which who whom whose when where why does do did is are was were can could should has have".split())
_SPELLED = re.compile(r"\w_\w|(?<!\S)_\w|\w\(\)")
"""Names of code that prose does not have: with an underscore, or called."""


@dataclass(frozen=True)
class Scope:
    """Which chunks may be found: `kinds` (none: every kind), `without` works and files (see `Catalog.rows`); `rows` are theirs, None for all."""

    kinds: frozenset[ChunkKind] = frozenset()
    without: frozenset[str] = frozenset()
    rows: NDArray[np.int64] | None = None


def scope_of(catalog: Catalog, kinds: frozenset[ChunkKind], without: frozenset[str]) -> Scope:
    """The scope, with its rows where it is less than everything."""
    return Scope(kinds, without, catalog.rows(kinds, without) if kinds or without else None)


@dataclass(frozen=True)
class Bridged:
    """Identifiers by which code goes about what the question's words say: the index's token of each with its spelling.

    `worth` is the rarity of those words, and with it the most that all of the identifiers together may add to a chunk.
    """

    aspect: str
    code: Mapping[str, str]
    worth: float


@dataclass(frozen=True)
class QueryWords:
    """A question's terms, and the cut and joined forms of them that the index holds and that tell chunks apart.

    `worth` is the rarity of each in the generation, that of the forms at half weight; `bridged` is what code calls them,
    the worthiest first; `counts` are the chunks that hold each.
    """

    terms: tuple[str, ...]
    forms: tuple[str, ...]
    worth: Mapping[str, float]
    bridged: tuple[Bridged, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def words_of(catalog: Catalog, question: str, chunks: int, vocabulary: Vocabulary | None = None) -> QueryWords:
    """The words to look for in a generation of so many chunks."""
    asked, other = tuple(terms(question)), variants(question)
    crossed = vocabulary.crossed(question) if vocabulary else ()
    stems = {stem for crossing in crossed for stem in crossing.by}
    known = catalog.frequencies({*asked, *other, *stems, *(token for crossing in crossed for token in crossing.bridge.code)})
    rare = rarity(known, chunks)
    forms = tuple(form for form in other if 0 < known[form] <= COMMON * chunks)
    worth = {term: rare[term] * (1.0 if term in asked else VARIANTS) for term in (*asked, *forms) if known[term]}
    indexed = {token for token, count in known.items() if 0 < count <= max(FEW, RARE * chunks)} - {*asked}
    bridged = (_bridged(crossing, indexed, rare) for crossing in crossed)
    return QueryWords(
        asked,
        forms,
        worth,
        tuple(sorted((expansion for expansion in bridged if expansion.code), key=lambda expansion: -expansion.worth)[:MAX_BRIDGES]),
        known,
    )


def _bridged(crossing: Crossing, indexed: AbstractSet[str], rare: Mapping[str, float]) -> Bridged:
    code = {token: name for token, name in crossing.bridge.code.items() if token in indexed}
    return Bridged(crossing.bridge.aspect, code, sum(rare[stem] for stem in crossing.by))


def exact(catalog: Catalog, text: str, scope: Scope) -> tuple[int, ...]:
    """The chunks that have all words of a text one after another, none where so many have them that they tell nothing."""
    rows = catalog.lexical([(fts_phrase(tokens(text)), 1.0)], FEW + 1, kinds=scope.kinds, without=scope.without)
    return tuple(row for row, _ in rows) if len(rows) <= FEW else ()


def lexical(catalog: Catalog, words: QueryWords, scope: Scope, depth: int = DEPTH, first: Sequence[int] = ()) -> Ranked:
    """The best chunks by BM25 over symbol, path, header and body: the terms, at half weight their forms, and what code calls them.

    The rows `first` are among them whatever their score.
    """
    asked = [(fts_any(words.terms), 1.0), (fts_any(words.forms), VARIANTS)]
    for bridged in words.bridged:
        expression = fts_any(bridged.code)
        best = catalog.lexical([(expression, 1.0)], 1, kinds=scope.kinds, without=scope.without)
        asked += [(expression, BRIDGES * bridged.worth / score) for _, score in best if score > 0]
    ranked = catalog.lexical(asked, depth, kinds=scope.kinds, without=scope.without)
    known, floor = {row for row, _ in ranked}, ranked[-1][1] if ranked else 0.0
    return [*ranked, *((row, floor) for row in first if row not in known)]


def dense(
    index: VectorIndex, vector: Vectors, scope: Scope, also: Sequence[int] = (), vectors: RowsOfVectors | None = None, depth: int = DEPTH
) -> Ranked:
    """The best chunks by inner product with the question's vector (1, dim), and the rows `also`, wherever they rank, of all `vectors`."""
    rows, scores = index.search(vector, depth, scope.rows)
    ranked = [(row, score) for row, score in zip(rows[0].tolist(), scores[0].tolist(), strict=True) if row >= 0]
    rest = np.array(sorted(set(also).difference(rows[0].tolist())), np.int64)
    if not rest.size or vectors is None:
        return ranked
    near = vectors[rest] @ vector[0]
    order = np.argsort(-near, kind="stable")
    return [*ranked, *zip(rest[order].tolist(), near[order].tolist(), strict=True)]


def sequence(text: str) -> tuple[str, ...]:
    """The words of a text in order, without those that carry no subject."""
    return tuple(token for token in tokens(text) if token not in STOP)


def is_quotation(question: str) -> bool:
    """Whether a question may be words of the lineage: not asked outright, and long enough or with a number."""
    words = question.split()
    if not words or question.rstrip().endswith("?") or words[0].lower().strip("\"'`") in _OUTRIGHT:
        return False
    return len(words) >= FEWEST or (len(words) > 1 and any(character.isdigit() for character in question))


def spells_code(question: str) -> bool:
    """Whether a question has a name as code writes it: it looks for that name, and not for what decides something like it."""
    return _SPELLED.search(question) is not None


def in_words(question: str) -> str:
    """A question without the identifiers that stand behind its mark: `is the gradient clipped? clip_grad_norm_ max_norm`."""
    words, mark, _ = question.partition("?")
    return words + mark


def is_telling(words: Sequence[str]) -> bool:
    """Whether some words in order tell a passage although others lie between them: enough of them, or a number."""
    return len(words) > FEWEST or (len(words) > 1 and any(character.isdigit() for word in words for character in word))


def share_in_order(words: Sequence[str], passage: Sequence[str], worth: Mapping[str, float]) -> float:
    """How far beyond 60% is the share of the pairs of neighboring words that a passage has in the same order, by their rarity; 0 to 1."""
    places: dict[str, list[int]] = defaultdict(list)
    wanted = frozenset(words)
    for at, word in enumerate(passage):
        if word in wanted:
            places[word].append(at)
    total = have = 0.0
    for first, second in pairwise(words):
        weight = worth.get(first, _WEIGHT) + worth.get(second, _WEIGHT)
        total += weight
        have += weight if any(0 < then - now <= _REACH for now in places.get(first, ()) for then in places.get(second, ())) else 0.0
    share = have / total if total else 0.0
    return max(0.0, share - _LEAST) / (1.0 - _LEAST)
