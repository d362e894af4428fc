"""Vectors of chunks: each distinct text is embedded once, in batches, and remembered for every lineage."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from indexer.build_context import BuildContext
from lineage.ports import Embedder, Vectors
from lineage.progress import Stage
from lineage.records import Chunk

_BATCH = 256
"""Texts embedded at a time: enough to sort by length, few enough to lose little when interrupted."""


def passage(chunk: Chunk) -> str:
    """What is embedded of a chunk: its header and its text."""
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text


def missing(bench: BuildContext, embedder: Embedder, chunks: Sequence[Chunk]) -> int:
    """How many distinct texts have no vector yet."""
    keys = {_key(passage(chunk)) for chunk in chunks}
    return len(keys) - len(bench.vectors.get(embedder.id, sorted(keys)))


def embed(bench: BuildContext, embedder: Embedder, chunks: Sequence[Chunk]) -> Vectors:
    """Unit vectors (n, dim) float32 of the chunks, in their order; work done is kept batch by batch."""
    texts = {_key(text): text for text in map(passage, chunks)}
    cached_vectors = dict(bench.vectors.get(embedder.id, list(texts)))
    todo = [key for key in texts if key not in cached_vectors]
    for start in range(0, len(todo), _BATCH):
        bench.watch(Stage("embed", start, len(todo)))
        batch_keys = todo[start : start + _BATCH]
        batch_vectors = embedder.passages([texts[key] for key in batch_keys])
        fresh = dict(zip(batch_keys, batch_vectors, strict=True))
        bench.vectors.put(embedder.id, fresh)
        cached_vectors |= fresh
    if todo:
        bench.watch(Stage("embed", len(todo), len(todo)))
    if not chunks:
        return np.zeros((0, embedder.dim), np.float32)
    return np.stack([cached_vectors[_key(passage(chunk))] for chunk in chunks]).astype(np.float32, copy=False)


def at_once(embedder: Embedder, chunks: Sequence[Chunk]) -> Vectors:
    """Unit vectors (n, dim) float32 of the chunks, by an embedder that is faster than a cache."""
    return embedder.passages([passage(chunk) for chunk in chunks])


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
