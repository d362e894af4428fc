"""A deterministic embedder for tests: hashed words, so that texts sharing words lie near each other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from lineage.ports import Vectors

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


class HashingEmbedder:
    """Implements `Embedder`; `asked` lists every text in the order it was embedded."""

    def __init__(self, dim: int = 64, name: str = "fake-hash@1") -> None:
        self.id = name
        self.dim = dim
        self.asked: list[str] = []

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return np.array([self._row(text) for text in texts], np.float32).reshape(len(texts), self.dim)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self.passages(texts)

    def _row(self, text: str) -> Vectors:
        row = np.zeros(self.dim, np.float32)
        for word in _WORD.findall(text):
            digest = hashlib.blake2b(word.lower().encode(), digest_size=8).digest()
            row[int.from_bytes(digest[:4], "big") % self.dim] += 1 if digest[4] % 2 else -1
        if not row.any():
            row[0] = 1
        return row / np.linalg.norm(row)
