"""The lexical index of a catalogue, as arrays: of each word the rows that hold it, and where in them it stands.

A place is one number: row, column (symbol, path, header, body) and position in it, so that the places of a word are a sorted
array, and a phrase is an intersection of shifted arrays. A bag is what BM25 wants of a word: its rows, and how often it stands in each,
by the weight of the column. The formula is that of SQLite's FTS5 (k1 = 1.2, b = 0.75, rarity of at least a millionth); scores agree
with it to rounding.
"""

from __future__ import annotations

import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

_WEIGHTS = np.array((4, 1, 1, 1))
"""How much a word counts by the column that it stands in."""
_ROW, _COLUMN = 17, 15
"""Bits to the right of a row and of a column: texts are cut at 20,000 tokens (`lineage.text.tokens.MAX_TOKENS`)."""
_K1, _B, _RAREST = 1.2, 0.75, 1e-6
_MOST = np.iinfo(np.uint16).max
_KEPT = 4_000_000
"""Rows of words that are kept, of 12 bytes each."""
_COMMON = 50
"""Rows from which on a word is kept: of rare words, numbers above all, there is no end, and one is read in no time."""
_SPARSE = 8
_FEW = 4
"""Places up to which nothing is won by compressing them; most words have no more."""
_PART = 4_000_000
"""Places of words that are packed at once, each of some 60 bytes meanwhile."""
_KEY = 63
"""Bits of the number of a word and its place, by which they are sorted."""

Places = NDArray[np.int64]
Words = Callable[[Literal["bag", "places"], Sequence[str]], Iterable[tuple[str, bytes]]]


class RowScores(NamedTuple):
    """Rows, ascending, with the score of each."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]


class Indexed:
    """A lexical index in the making, or those words of a finished one that change with some rows."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._words = array("i")
        self._sizes = array("i")
        self._rows = array("q")
        self._lengths = array("i")
        self._gone: set[int] = set()
        self._touched: set[str] = set()
        self._before = (np.empty(0, np.int64), np.empty(0, np.int64))

    @property
    def words(self) -> list[str]:
        """The words of all rows that were added or removed."""
        return sorted(self._touched.union(self._numbers))

    def before(self, vocabulary: Sequence[tuple[str, bytes]]) -> None:
        """Read what a finished index has of `words`, without the rows that were removed; raises `ValueError` for damaged bytes."""
        numbers = np.array([self._numbers[token] for token, _ in vocabulary], np.int64)
        counts, stands = _all_unpacked([data for _, data in vocabulary])
        kept = ~np.isin(rows_of(stands), list(self._gone))
        self._before = np.repeat(numbers, counts)[kept], stands[kept]

    def remove(self, row: int, columns: Sequence[Sequence[str]]) -> None:
        """A row of the finished index goes, which has the tokens of these four columns."""
        self._gone.add(row)
        self._touched.update(*columns)

    def add(self, row: int, columns: Sequence[Sequence[str]]) -> None:
        """The tokens of the four columns of a row."""
        self._rows.append(row)
        self._lengths.append(sum(map(len, columns)))
        for column in columns:
            self._words.extend(map(self._numbers.__getitem__, column))
            self._sizes.append(len(column))

    def _keys(self, tokens: Sequence[str]) -> tuple[Places, int]:
        """Every word by its place among `tokens` with every place of it, as one number, sorted; and how many bits the latter has."""
        words, sizes = np.frombuffer(self._words, np.int32), np.frombuffer(self._sizes, np.int32)
        columns = ((np.frombuffer(self._rows, np.int64) << _ROW)[:, None] | (np.arange(4) << _COLUMN)).ravel()
        keys: Places = np.repeat(columns - (np.cumsum(sizes) - sizes), sizes)
        keys += np.arange(len(words))
        before, stands = self._before
        bits = int(max(keys.max(initial=0), stands.max(initial=0))).bit_length()
        if bits + len(tokens).bit_length() >= _KEY:
            raise OverflowError("more words in more rows than one index holds")
        ranks = np.empty(len(tokens), np.int64)
        ranks[[self._numbers[token] for token in tokens]] = np.arange(len(tokens)) << bits
        keys |= ranks[words]
        if before.size:
            keys = np.concatenate([ranks[before] | stands, keys])
        keys.sort(kind="stable")  # fast where only a few are new
        return keys, bits

    def vocabulary(self) -> Iterator[tuple[str, int, bytes, bytes]]:
        """Rows of `vocabulary`, by word: in how many rows it stands, its bag and its places."""
        tokens = sorted(self._numbers)
        keys, bits = self._keys(tokens)
        start = 0
        while start < len(keys):
            last = keys[min(start + _PART, len(keys)) - 1] >> bits
            end = int(np.searchsorted(keys, (last + 1) << bits))
            yield from _packed_words(tokens, keys[start:end] >> bits, keys[start:end] & ((1 << bits) - 1))
            start = end

    def lengths(self, lengths: NDArray[np.int32]) -> bytes:
        """The row of `lengths`: those of a finished index with those of the rows that were added."""
        lengths[np.frombuffer(self._rows, np.int64)] = np.frombuffer(self._lengths, np.int32)
        return lengths.astype("<i4").tobytes()


def _packed_words(tokens: Sequence[str], words: NDArray[np.int64], stands: Places) -> Iterator[tuple[str, int, bytes, bytes]]:
    """The same of some words that follow each other among `tokens`, with all their places."""
    first = int(words[0])
    counts = np.bincount(words - first)
    ends = np.cumsum(counts)
    firsts = (ends - counts)[counts > 0]
    rows, steps = rows_of(stands), np.diff(stands, prepend=np.int64(0))
    steps[firsts] = stands[firsts]
    new = np.diff(rows, prepend=np.int64(-1)) != 0
    new[firsts] = True
    kept, often = (part.tobytes() for part in _often(rows, stands, np.flatnonzero(new)))
    bags = [0, *np.searchsorted(np.flatnonzero(new), ends).tolist()]
    for n, places in enumerate(_all_packed(steps, counts)):
        start, end = bags[n : n + 2]
        if start < end:
            yield tokens[first + n], end - start, kept[4 * start : 4 * end] + often[2 * start : 2 * end], places


def _often(rows: Places, places: Places, starts: NDArray[np.intp]) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
    """The rows that begin at `starts` among sorted places, and how often the word stands in each."""
    often = np.add.reduceat(_WEIGHTS[(places >> _COLUMN) & 3], starts) if starts.size else starts
    return rows[starts].astype("<i4"), np.minimum(often, _MOST).astype("<u2")


def bag_of(places: Places) -> bytes:
    """The rows of places, and how often the word stands in each."""
    every = rows_of(places)
    kept, often = _often(every, places, np.flatnonzero(np.diff(every, prepend=np.int64(-1))))
    return kept.tobytes() + often.tobytes()


def _of_length(counts: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each length, and which have it."""
    order = np.argsort(counts, kind="stable")
    for which in np.split(order, np.flatnonzero(np.diff(counts[order])) + 1):
        if which.size:
            yield int(counts[which[0]]), which


def _all_packed(steps: Places, counts: NDArray[np.int64]) -> list[bytes]:
    """Differences of the places of words, so many of each, compressed: byte by byte of all of them, since most of those bytes are zero."""
    places, starts = [b""] * len(counts), np.cumsum(counts) - counts
    for n, which in _of_length(counts):
        planes = steps[starts[which][:, None] + np.arange(n)].astype("<i8").view(np.uint8).reshape(len(which), n, 8).transpose(0, 2, 1).tobytes()
        for at, word in enumerate(which.tolist()):
            places[word] = zlib.compress(planes[8 * n * at : 8 * n * (at + 1)], 1 if n > _FEW else 0)
    return places


def _all_unpacked(data: Sequence[bytes]) -> tuple[NDArray[np.int64], Places]:
    """How many places each of some words has, and all of them; raises `ValueError` for damaged bytes."""
    try:
        planes = [zlib.decompress(places) for places in data]
    except zlib.error as error:
        raise ValueError(str(error)) from error
    counts = np.array([len(plane) // 8 for plane in planes], np.int64)
    places, starts = np.empty(counts.sum(), np.int64), np.cumsum(counts) - counts
    for n, which in _of_length(counts):
        steps = np.frombuffer(b"".join(planes[word] for word in which), np.uint8).reshape(len(which), 8, n).transpose(0, 2, 1)
        places[starts[which][:, None] + np.arange(n)] = np.ascontiguousarray(steps).view("<i8")[..., 0].cumsum(axis=1)
    return counts, places


def packed(places: Sequence[int] | Places) -> bytes:
    """Sorted places, compressed."""
    steps: Places = np.diff(np.asarray(places, np.int64), prepend=np.int64(0)).astype(np.int64)
    return _all_packed(steps, np.array([len(steps)]))[0]


def unpacked(data: bytes) -> Places:
    """The places of `packed`; raises `ValueError` for other bytes."""
    return _all_unpacked([data])[1]


def rows_of(places: Places) -> NDArray[np.int64]:
    """The row of each place."""
    return places >> _ROW


def phrases(expression: str) -> list[list[str]]:
    """The phrases, any of which satisfies an expression of `fts_any` or `fts_phrase`, as lists of tokens."""
    return [phrase.strip('"').split() for phrase in expression.split(" OR ")]


class Lexicon:
    """The words of a generation: `words` gives their stored bags or places, `lengths` are the numbers of tokens in each row, (rows,)."""

    def __init__(self, words: Words, lengths: NDArray[np.int32]) -> None:
        self.lengths = lengths
        self._words = words
        self._norms = _K1 * (1 - _B + _B * lengths / max(lengths.mean() if lengths.size else 0.0, 1e-9))
        self._kept: dict[str, RowScores] = {}
        self._room = _KEPT

    def phrase(self, tokens: Sequence[str]) -> RowScores:
        """The rows in which tokens stand one after another in one column."""
        places = {token: unpacked(data) for token, data in self._words("places", list(dict.fromkeys(tokens)))}
        starts = [places[token] - shift if token in places else np.empty(0, np.int64) for shift, token in enumerate(tokens)]
        return self._bm25(bag_of(reduce(lambda left, right: np.intersect1d(left, right, assume_unique=True), starts)))

    def all_of(self, tokens: Sequence[str]) -> NDArray[np.int32]:
        """Rows that hold every token, ascending."""
        words = self._each(tokens)
        return reduce(np.intersect1d, [words[token].rows for token in tokens])

    def held(self, tokens: Collection[str], rows: Sequence[int]) -> dict[int, frozenset[str]]:
        """Which of the tokens each of some rows holds."""
        wanted, held = np.array(rows, np.int32), defaultdict[int, list[str]](list)
        for token, (there, _) in self._each(tokens).items():
            for row in wanted[np.searchsorted(there, wanted) < np.searchsorted(there, wanted, "right")].tolist():
                held[row].append(token)
        return {row: frozenset(held[row]) for row in rows}

    def scores(self, asked: Sequence[tuple[str, float]]) -> RowScores:
        """Rows that satisfy any of the expressions and the sums of their weighted BM25 scores."""
        wanted = [(phrase, weight) for expression, weight in asked for phrase in phrases(expression)]
        words = self._each([phrase[0] for phrase, _ in wanted if len(phrase) == 1])
        parts = [(words[phrase[0]] if len(phrase) == 1 else self.phrase(phrase), weight) for phrase, weight in wanted if phrase]
        every = np.concatenate([np.empty(0, np.int32), *(part.rows for part, _ in parts)])
        values = np.concatenate([np.empty(0), *(weight * part.scores for part, weight in parts)])
        if _SPARSE * len(every) < len(self.lengths):
            order = np.argsort(every, kind="stable")
            starts = np.flatnonzero(np.diff(every[order], prepend=-1))
            return RowScores(every[order][starts], np.add.reduceat(values[order], starts) if starts.size else values)
        total = np.bincount(every, values, len(self.lengths)).astype(np.float64)
        rows = np.flatnonzero(total > 0).astype(np.int32)
        return RowScores(rows, total[rows])

    def _each(self, tokens: Collection[str]) -> Mapping[str, RowScores]:
        """The rows and scores of each word; raises `ValueError` for damaged bytes."""
        words = {token: self._kept[token] for token in tokens if token in self._kept}
        missing = list(dict.fromkeys(token for token in tokens if token not in words))
        if missing:
            scored = {token: self._bm25(bag) for token, bag in self._words("bag", missing)}
            common = {token: scores for token, scores in scored.items() if len(scores.rows) >= _COMMON}
            self._room -= sum(len(scores.rows) for scores in common.values())
            if self._room < 0:
                self._kept, self._room = {}, _KEPT
            self._kept.update(common)
            words |= dict.fromkeys(missing, RowScores(np.empty(0, np.int32), np.empty(0))) | scored
        return words

    def _bm25(self, bag: bytes) -> RowScores:
        many, count = len(bag) // 6, len(self.lengths)
        rows, often = np.frombuffer(bag, "<i4", many), np.frombuffer(bag, "<u2", many, 4 * many)
        if many and not 0 <= rows[0] <= rows[-1] < count:
            raise ValueError("rows out of range")
        rarity = max(float(np.log((count - many + 0.5) / (many + 0.5))), 0.0) or _RAREST
        return RowScores(rows, rarity * (often * (_K1 + 1.0)) / (often + self._norms[rows]))


def best(rows: NDArray[np.int32], scores: NDArray[np.float64], k: int) -> list[tuple[int, float]]:
    """The first `k` by score, those of equal score by row."""
    if len(rows) > k:
        near = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        rows, scores = rows[near], scores[near]
    order = np.lexsort((rows, -scores))[:k]
    return list(zip(rows[order].tolist(), scores[order].tolist(), strict=True))
