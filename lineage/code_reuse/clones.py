"""Near-duplicate functions among very many: candidates from sketches, never all pairs. Pure.

A function is reduced to the set of its shingles: runs of `WIDTH` tokens, names of variables all alike (a copy that
renames them stays a copy), names that are called or are attributes kept (they say what the function does), comments
and docstrings left out. Of each set the `SKETCH` smallest hashes are kept (bottom-k sketch, Broder 1997: the share of
common ones estimates the Jaccard similarity), and an inverted index over them gives the candidates. A hash that many
functions have is common property and makes none, so the work stays linear in the number of functions.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

VERSION = "sketches@1"
WIDTH = 4
"""Tokens in a shingle."""
SKETCH = 48
COMMON = 12
"""Functions that may have a hash; with more it makes no candidates."""
TOKENS = 40
"""Tokens from which on a function can tell."""
ALIKE = 0.3
"""Jaccard similarity from which on two functions are reported."""
MOST = 20_000
"""Characters of a function that are read; the rest of a longer one is generated or data."""
_BATCH = 20_000
_AGREE = 3
"""Hashes that two sketches must share to be compared."""

_TOKEN = re.compile(
    r'"""[^\x00]*?"""|\'\'\'[^\x00]*?\'\'\'|#[^\n]*|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_]\w*|\d[\w.]*|[^\s\w]'
)
_FOLLOWS = re.compile(r"\s*\(")
KEYWORDS = frozenset(
    (
        *("and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def", "del", "do", "elif", "else", "except", "false"),
        *("finally", "for", "from", "function", "global", "if", "import", "in", "is", "lambda", "let", "match", "new", "none", "nonlocal", "not"),
        *("null", "or", "pass", "raise", "return", "static", "struct", "switch", "this", "throw", "true", "try", "var", "void", "while", "with"),
        *("yield", "const", "auto", "int", "float", "double", "bool", "template", "typename", "using", "namespace", "local", "end", "then"),
        *("fn", "mut", "impl", "self"),
    )
)
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Pair:
    """Two functions by their place in the input, and the Jaccard similarity (0..1) of their shingles."""

    one: int
    other: int
    similarity: float


def normal(text: str) -> list[str]:
    """The tokens of code with variables all alike (`v`), numbers `0`, strings `s`; comments and docstrings left out."""
    normal_tokens: list[str] = []
    before = ""
    for match in _TOKEN.finditer(text[:MOST]):
        token = match.group()
        if token.startswith(('"""', "'''", "#", "//")):
            continue
        normal_tokens.append(before := _normal(token, before, text, match.end()))
    return normal_tokens


def _normal(token: str, before: str, text: str, end: int) -> str:
    first = token[0]
    if first.isalpha() or first == "_":
        is_unchanged = before == "." or token.lower() in KEYWORDS or (before not in {"def", "fn", "function"} and _FOLLOWS.match(text, end))
        return token if is_unchanged else "v"
    return "0" if first.isdigit() else "s" if first in "\"'" and len(token) > 1 else token


def shingles(text: str) -> Hashes:
    """The distinct shingle hashes of a function, sorted; empty if it is too short to tell."""
    return _sets([_codes(text, {})])[0]


class Sketches(NamedTuple):
    """Of some functions the sizes of their sets, and the hashes of their sketches one after another."""

    sizes: NDArray[np.int64]
    hashes: Hashes


Sketching = Callable[[Sequence[str]], Sketches]


def sketches(texts: Sequence[str]) -> Sketches:
    """The sketches of functions; time is linear in their texts."""
    token_codes: dict[str, int] = {}
    sizes, hashes = [], [np.empty(0, np.uint64)]
    for start in range(0, len(texts), _BATCH):
        for hash_set in _sets([_codes(text, token_codes) for text in texts[start : start + _BATCH]]):
            sizes.append(len(hash_set))
            hashes.append(hash_set[:SKETCH])
    return Sketches(np.array(sizes, np.int64), np.concatenate(hashes))


def pairs(owners: Sequence[int], texts: Sequence[str], sketch: Sketching = sketches, alike: float = ALIKE) -> list[Pair]:
    """Every two functions of different owners that are alike, most alike first.

    `owners` numbers the repository of each text; `sketch` is given all of one that stand together. Memory is 16 bytes for each kept hash.
    """
    if not texts:
        return []
    made = [sketch([texts[n] for n in each]) for _, each in groupby(range(len(texts)), owners.__getitem__)]
    sizes = np.concatenate([sketched.sizes for sketched in made])
    units = np.repeat(np.arange(len(texts)), np.minimum(sizes, SKETCH))
    candidate_pairs = _candidates(np.concatenate([sketched.hashes for sketched in made]), units, np.asarray(owners, dtype=np.int64))
    return sorted(_verified(candidate_pairs, texts, sizes, alike), key=lambda pair: (-pair.similarity, pair.one, pair.other))


def _codes(text: str, known: dict[str, int]) -> list[int]:
    tokens = normal(text)
    return [known.setdefault(token, zlib.crc32(token.encode("utf-8", "replace"))) for token in tokens] if len(tokens) >= TOKENS else []


def _sets(coded: Sequence[list[int]]) -> list[Hashes]:
    """The sorted distinct shingle hashes of each token list, all lists in one pass."""
    lengths = np.array([len(unit_codes) for unit_codes in coded])
    flat: Hashes = np.fromiter((code for unit_codes in coded for code in unit_codes), dtype=np.uint64, count=int(lengths.sum()))
    if flat.size < WIDTH:
        return [np.empty(0, dtype=np.uint64) for _ in coded]
    rolled = np.zeros(flat.size - WIDTH + 1, dtype=np.uint64)
    for n in range(WIDTH):
        rolled = _mixed(rolled ^ flat[n : n + rolled.size])
    ends = np.cumsum(lengths)
    return [np.unique(rolled[end - length : end - WIDTH + 1]) for length, end in zip(lengths, ends, strict=True)]


def _mixed(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele et al. 2014): every bit of the result depends on every bit of the input."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _candidates(hashes: Hashes, units: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows (one, other) of functions of different owners whose sketches share `_AGREE` hashes that are not common property."""
    order = np.lexsort((units, hashes))
    hashes, units = hashes[order], units[order]
    starts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
    counts = np.diff(np.append(starts, hashes.size))
    pair_parts = [part for size in range(2, COMMON + 1) for part in _within(units, starts[counts == size], size, owners)]
    if not pair_parts:
        return np.empty((0, 2), dtype=np.int64)
    packed, shared = np.unique(np.concatenate(pair_parts), return_counts=True)
    packed = packed[shared >= _AGREE]
    return np.column_stack((packed // owners.size, packed % owners.size))


def _within(units: NDArray[np.int64], starts: NDArray[np.int64], size: int, owners: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    groups = units[starts[:, None] + np.arange(size)]
    for a in range(size):
        for b in range(a + 1, size):
            apart = owners[groups[:, a]] != owners[groups[:, b]]
            yield groups[apart, a] * owners.size + groups[apart, b]


def _verified(candidates: NDArray[np.int64], texts: Sequence[str], sizes: NDArray[np.int64], alike: float) -> Iterator[Pair]:
    """The candidates that are alike by their whole sets, which are made again: most functions never become one."""
    sets: dict[int, Any] = {}
    for first_unit, other in candidates.tolist():
        small, large = sorted((int(sizes[first_unit]), int(sizes[other])))
        if small < alike * large:  # the Jaccard similarity is at most small / large
            continue
        for n in (first_unit, other):
            if n not in sets:
                sets[n] = shingles(texts[n])
        common = np.intersect1d(sets[first_unit], sets[other], assume_unique=True).size
        if (similarity := common / (small + large - common)) >= alike:
            yield Pair(first_unit, other, round(similarity, 3))
