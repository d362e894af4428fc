"""The embedder of the first tier: one vector a word, summed; thousands of texts a second, no model to load.

Why: a build answers while the transformer still reads, and words that mean the same ("initialised", `xavier_uniform_`) should
meet from the first second. The table is our own, trained on the same pairs as the packaged transformer (`static256/CARD.md`)
over the words of the lexical index (`lineage.text.tokens`). A text's vector depends on the text alone.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineage.errors import SettingsError
from lineage.generation import npy_rows
from lineage.ports import Vectors
from lineage.sealed import is_known, remember
from lineage.settings import Settings
from lineage.text.tokens import tokens

FOLDER = Path(__file__).resolve().parent / "static256"
TABLE, SELF_TEST_FILE = "table.npz", "selftest.json"
TABLE_SHA256 = "abeed8381ed82f3307855d5ed35d801e528246197be5850e37796cdd959d9147"
DIM = 256
CHARACTERS = 6_000
"""Text beyond them is not read."""
SELF_TEST_COSINE = 0.999
_QUESTION, _PASSAGE = 0, 1


def create(model: str = "", settings: Settings | None = None, client: object = None) -> Static:
    """The registry's factory; there is one table, so `model` must be empty."""
    if model:
        raise SettingsError(f"the static embedder has no model {model!r}", hint="set LINEAGE_EMBEDDER=static")
    return Static(store=settings.home) if settings else Static()


def bag(text: str, places: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Numbers of the known words of a text, and 1 + log of how often each occurs; a compound identifier counts with its parts."""
    token_counts = Counter(place for word in tokens(text[:CHARACTERS]) if (place := places.get(word)) is not None)
    numbers = np.fromiter(token_counts.keys(), np.int64, len(token_counts))
    return numbers, 1 + np.log(np.fromiter(token_counts.values(), np.float32, len(token_counts)))


@dataclass(frozen=True)
class WordTable:
    """`codes` (words, dim) int8; `weights` (2, words), in questions and in passages, the codes' scale among them."""

    codes: NDArray[np.int8]
    weights: NDArray[np.float32]
    places: Mapping[str, int]

    @classmethod
    def read(cls, path: Path, sha256: str, memory: Path | None = None) -> WordTable:
        """The table in a file; raises `SettingsError` if it is missing or, where a hash is given, another."""
        data = _mapped(path)
        about = path.stat()
        if sha256 and not is_known(memory, path, about):
            if hashlib.sha256(data).hexdigest() != sha256:
                raise SettingsError(f"the static embedder's {path.name} is not the file this version was made with", hint="reinstall the package")
            remember(memory, path, about)
        arrays = dict(_stored(path, data))
        words = bytes(arrays["words"]).decode().split("\n")
        return cls(arrays["table"], arrays["weights"], {word: place for place, word in enumerate(words)})

    def vectors(self, texts: Sequence[str], side: int) -> Vectors:
        """(n, dim) float32 unit vectors; a text of no known word gets the first axis."""
        matrix = np.zeros((len(texts), self.codes.shape[1]), np.float32)
        for row, text in enumerate(texts):
            numbers, counts = bag(text, self.places)
            matrix[row] = (counts * self.weights[side][numbers]) @ self.codes[numbers].astype(np.float32)
            matrix[row, 0] += not len(numbers)
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
        return matrix

    def windows(self, lines: Sequence[Sequence[str]], reaches: Sequence[int]) -> Vectors:
        """(reaches, lines, dim) of passages: each line, given by its words, with so many lines before and behind; each word is looked up once."""
        known = [[place for word in line if (place := self.places.get(word)) is not None] for line in lines]
        columns = {place: column for column, place in enumerate(dict.fromkeys(place for line in known for place in line))}
        numbers, total = np.fromiter(columns, np.int64, len(columns)), len(lines)
        cells = [row * len(columns) + columns[place] for row, line in enumerate(known, 1) for place in line]
        counts = np.bincount(np.array(cells, np.int64), minlength=(total + 1) * len(columns)).reshape(total + 1, len(columns))
        sums, at = counts.cumsum(0), np.arange(total)
        spans = [sums[np.minimum(at + reach + 1, total)] - sums[np.maximum(at - reach, 0)] for reach in reaches]
        often = np.concatenate(spans) if spans else counts[:0]
        worth = np.log(np.arange(often.max(initial=0) + 1, dtype=np.float32).clip(1)) + 1
        worth[0] = 0
        matrix: Vectors = (worth[often] * self.weights[_PASSAGE][numbers]) @ self.codes[numbers].astype(np.float32)
        matrix[:, 0] += ~(often > 0).any(1)
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
        return matrix.reshape(len(reaches), total, self.codes.shape[1])


class Static:
    """Unit vectors of 256 dimensions from the packaged table; loaded when first used, safe across threads.

    With a `store` the table is hashed once and then known there. Raises `SettingsError` when it is damaged or its words
    are no longer cut as when it was trained.
    """

    id = f"static-256@{TABLE_SHA256[:12]}"
    dim = DIM

    def __init__(self, folder: Path = FOLDER, *, store: Path | None = None) -> None:
        self._folder = folder
        self._memory = store / "cache" / f"packaged-{TABLE}.json" if store else None
        self._lock = threading.Lock()
        self._table: WordTable | None = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, 256) float32 unit vectors of texts to be found."""
        return self._loaded().vectors(texts, _PASSAGE)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(n, 256) float32 unit vectors of questions."""
        return self._loaded().vectors(texts, _QUESTION)

    def windows(self, lines: Sequence[Sequence[str]], reaches: Sequence[int]) -> Vectors:
        """(reaches, lines, 256) float32 unit vectors of each line, given by its words, with so many lines before and behind."""
        return self._loaded().windows(lines, reaches)

    def _loaded(self) -> WordTable:
        with self._lock:
            if self._table is None:
                table = WordTable.read(self._folder / TABLE, TABLE_SHA256, self._memory)
                _self_test(table, json.loads(bytes(_mapped(self._folder / SELF_TEST_FILE))))
                self._table = table
            return self._table


def _stored(path: Path, data: memoryview) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays of an `.npz` file that is not compressed, as views of its bytes: copies cost a question from cold a twentieth of its time."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            names = struct.unpack_from("<HH", data, member.header_offset + 26)  # how long the two texts are that end a member's own header
            start = member.header_offset + 30 + sum(names)
            yield member.filename.removesuffix(".npy"), npy_rows(data[start : start + member.file_size])


def _self_test(table: WordTable, stored: Mapping[str, Any]) -> None:
    cosine = float((table.vectors(stored["texts"], _PASSAGE) * np.array(stored["vectors"], np.float32)).sum(axis=1).min())
    if not cosine >= SELF_TEST_COSINE:
        raise SettingsError(f"the static embedder computes other vectors than it was made with (cosine {cosine:.3f})", hint="reinstall the package")


def _mapped(path: Path) -> memoryview:
    """The bytes of a packaged file, which are read when they are looked at; raises `SettingsError`."""
    try:
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise SettingsError(f"the static embedder lacks {path.name}: {error}", hint="reinstall the package") from error
