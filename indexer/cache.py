"""What was computed once: vectors by (embedder, text), parser output by (input, stage, version).

Keyed by content and by who computed it, never by where it stood: the same function vendored into six
repositories is embedded once, and a new stage version computes anew without touching the old entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lineage.catalog.keyed import Keyed
from lineage.model import Chunk
from lineage.ports import Embedder, Vectors

_STEP = 256


def passage(chunk: Chunk) -> str:
    """The text of a chunk as it is embedded: its header, then its own words."""
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text


class VectorCache:
    """Vectors of texts, one row a text, by the embedder's id."""

    def __init__(self, home: Path) -> None:
        self._kept = Keyed(home / "cache" / "vectors.db")

    def get(self, embedder: str, texts: Sequence[str]) -> dict[int, Vectors]:
        """Position -> vector (dim,) of the texts that are known."""
        keys = [_key(embedder, text) for text in texts]
        found = self._kept.get(list(dict.fromkeys(keys)))
        return {position: np.frombuffer(found[key], np.float32) for position, key in enumerate(keys) if key in found}

    def put(self, embedder: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors (n, dim) of n texts."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        self._kept.put((_key(embedder, text), row.tobytes()) for text, row in zip(texts, rows, strict=True))

    def passages(self, embedder: Embedder, texts: Sequence[str], report: Callable[[int, int], None] | None = None) -> Vectors:
        """Vectors (n, dim) of texts, computed for those that are not known, kept as they come; equal texts once.

        `report(done, wanted)` hears of progress in texts to be computed. An interruption loses at most one batch.
        """
        out = np.zeros((len(texts), embedder.dim), np.float32)
        missing: dict[str, list[int]] = {}
        known = self.get(embedder.id, texts)
        for position, text in enumerate(texts):
            row = known.get(position)
            if row is not None and row.shape == (embedder.dim,):
                out[position] = row
            else:
                missing.setdefault(text, []).append(position)
        wanted = sorted(missing, key=len)
        for start in range(0, len(wanted), _STEP):
            batch = wanted[start : start + _STEP]
            vectors = embedder.passages(batch)
            self.put(embedder.id, batch, vectors)
            for text, vector in zip(batch, vectors, strict=True):
                out[missing[text]] = vector
            if report:
                report(min(start + _STEP, len(wanted)), len(wanted))
        return out

    def close(self) -> None:
        """Close the file."""
        self._kept.close()


class DerivedCache:
    """What a stage made of an input, by (hash of the input, stage, version of the stage)."""

    def __init__(self, home: Path) -> None:
        self._kept = Keyed(home / "cache" / "derived.db")

    def get(self, input_hash: str, stage: str, version: str) -> bytes | None:
        """What was kept, None if nothing was."""
        key = _name(input_hash, stage, version)
        return self._kept.get([key]).get(key)

    def put(self, input_hash: str, stage: str, version: str, value: bytes) -> None:
        """Keep what the stage made."""
        self._kept.put([(_name(input_hash, stage, version), value)])

    def close(self) -> None:
        """Close the file."""
        self._kept.close()


def _name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _key(embedder: str, text: str) -> str:
    return _name(embedder, text)
