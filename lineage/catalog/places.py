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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

Places = NDArray[np.int64]
Words = Callable[[Literal["bag", "places"], Sequence[str]], Iterable[tuple[str, bytes]]]


class RowScores(NamedTuple):
    """Rows, ascending, with the score of each."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]


class Indexed:
    """A lexical index in the making; rows are added in their order, those of a finished index (`before`) as they stand there."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._words = array("i")
        self._sizes = array("i")
        self._before = (np.empty(0, np.int32), np.zeros(1, np.int64))

    def before(self, vocabulary: Iterable[tuple[str, bytes]], rows: int) -> None:
        """Read the words and places of a finished index of so many rows, for `again`; raises `ValueError` for damaged bytes."""
        words = [(self._numbers[token], unpacked(data)) for token, data in vocabulary]
        numbers = np.repeat(np.array([number for number, _ in words], np.int32), [len(stands) for _, stands in words])
        stands = np.concatenate([np.empty(0, np.int64), *(stands for _, stands in words)])
        order = np.argsort(stands)
        self._before = numbers[order], np.searchsorted(stands[order], np.arange(4 * rows + 1) << _COLUMN)

    def again(self, row: int) -> None:
        """The next row has the tokens of a row of the finished index."""
        numbers, bounds = self._before
        each = bounds[4 * row : 4 * row + 5]
        self._words.frombytes(numbers[each[0] : each[4]].tobytes())
        self._sizes.extend(np.diff(each).tolist())

    def add(self, columns: Sequence[Sequence[str]]) -> None:
        """The tokens of the four columns of the next row."""
        for column in columns:
            self._words.extend(map(self._numbers.__getitem__, column))
            self._sizes.append(len(column))

    def vocabulary(self) -> Iterator[tuple[str, int, bytes, bytes]]:
        """Rows of `vocabulary`, by word: in how many rows it stands, its bag and its places."""
        words, sizes = np.frombuffer(self._words, np.int32), np.frombuffer(self._sizes, np.int32)
        columns = ((np.arange(len(sizes) // 4) << _ROW)[:, None] | (np.arange(4) << _COLUMN)).ravel()
        stands = (np.repeat(columns - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(words)))[np.argsort(words, kind="stable")]
        counts = np.bincount(words, minlength=len(self._numbers))
        ends = np.cumsum(counts)
        firsts = (ends - counts)[counts > 0]
        rows, steps = rows_of(stands), np.diff(stands, prepend=np.int64(0))
        steps[firsts] = stands[firsts]
        new = np.diff(rows, prepend=np.int64(-1)) != 0
        new[firsts] = True
        kept, often = (part.tobytes() for part in _often(rows, stands, np.flatnonzero(new)))
        bags = [0, *np.searchsorted(np.flatnonzero(new), ends).tolist()]
        bounds = [0, *ends.tolist()]
        for token, n in sorted(self._numbers.items()):
            first, last = bags[n], bags[n + 1]
            if first == last:
                continue
            yield token, last - first, kept[4 * first : 4 * last] + often[2 * first : 2 * last], _packed(steps[bounds[n] : bounds[n + 1]])

    def lengths(self) -> bytes:
        """The row of `lengths`."""
        total: bytes = np.frombuffer(self._sizes, np.int32).reshape(-1, 4).sum(axis=1).astype("<i4").tobytes()
        return total


def _often(rows: Places, places: Places, starts: NDArray[np.intp]) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
    """The rows that begin at `starts` among sorted places, and how often the word stands in each."""
    often = np.add.reduceat(_WEIGHTS[(places >> _COLUMN) & 3], starts) if starts.size else starts
    return rows[starts].astype("<i4"), np.minimum(often, _MOST).astype("<u2")


def bag_of(places: Places) -> bytes:
    """The rows of places, and how often the word stands in each."""
    every = rows_of(places)
    kept, often = _often(every, places, np.flatnonzero(np.diff(every, prepend=np.int64(-1))))
    return kept.tobytes() + often.tobytes()


def packed(places: Sequence[int] | Places) -> bytes:
    """Sorted places, compressed: differences, byte by byte of all of them, since most of those bytes are zero."""
    steps: Places = np.diff(np.asarray(places, np.int64), prepend=np.int64(0)).astype(np.int64)
    return _packed(steps)


def _packed(steps: Places) -> bytes:
    planes: bytes = steps.astype("<i8").view(np.uint8).reshape(-1, 8).T.tobytes()
    return zlib.compress(planes, 1)


def unpacked(data: bytes) -> Places:
    """The places of `packed`; raises `ValueError` for other bytes."""
    try:
        planes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(8, -1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return np.cumsum(np.ascontiguousarray(planes.T).view("<i8").ravel(), dtype=np.int64)


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

    def _each(self, tokens: Sequence[str]) -> Mapping[str, RowScores]:
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
