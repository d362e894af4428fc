"""How near to what this machine can do: the packaged embedder beside a bare product of integers, pgvector beside FAISS.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.limits --home HOME LINEAGE [--texts 400] [--postgres]

One thread, processor time, in turns. The product is onnxruntime's `MatMulInteger` (uint8 by int8), the best of three shapes. An operation
is a multiplication or an addition; of the embedder those of its linear layers and of attention are counted, over the tokens that texts have,
so that padding counts as loss. onnxruntime's own profile tells which share of the embedder's time each kind of operator takes. With --postgres
the lineage's vectors are also put into a PostgreSQL server of its own, and both indexes asked for the first ten of 50 rows, by wall time,
since the server is another process.
"""

from __future__ import annotations

import argparse
import json
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime

from benchmarks.parts import run_benchmark
from indexer.documents import passage
from indexer.embedders.packaged import FOLDER, PASSAGE_TOKENS, Packaged, embed, prepared, tokenizer
from indexer.vectors import faiss, pgvector
from lineage.generation import open_generation

_LAYERS, _WIDTH, _INNER = 6, 384, 1536
_SHAPES = ((2048, 384, 1536), (2048, 1536, 384), (2048, 1024, 1024))
_OWN = ((4, (2048, 384, 384)), (1, (2048, 384, 1536)), (1, (2048, 1536, 384)))
"""How often a layer of the embedder has a product of each shape."""
_ROUNDS, _ASKED, _FIRST = 3, 50, 10


def operations(lengths: list[int]) -> float:
    """What the embedder computes over texts of so many tokens."""
    linear = 2 * _LAYERS * (4 * _WIDTH**2 + 2 * _WIDTH * _INNER)
    return sum(length * (linear + 4 * _LAYERS * _WIDTH * length) for length in lengths)


def product(rows: int, inner: int, columns: int) -> Callable[[], object]:
    """A session of onnxruntime that multiplies (rows, inner) by (inner, columns), written as the bytes of its model."""

    def part(number: int, data: bytes | str | int) -> bytes:
        if isinstance(data, int):
            return _varint(number << 3) + _varint(data)
        data = data.encode() if isinstance(data, str) else data
        return _varint(number << 3 | 2) + _varint(len(data)) + data

    def tensor(name: str, kind: int, *shape: int) -> bytes:
        dims = b"".join(part(1, part(1, size)) for size in shape)
        return part(1, name) + part(2, part(1, part(1, kind) + part(2, dims)))

    weights = np.random.default_rng(0).integers(-60, 60, (inner, columns), np.int8)
    stored = part(1, inner) + part(1, columns) + part(2, 3) + part(8, "b") + part(9, weights.tobytes())
    node = part(1, "a") + part(1, "b") + part(2, "c") + part(4, "MatMulInteger")
    graph = part(1, node) + part(2, "g") + part(5, stored) + part(11, tensor("a", 2, rows, inner)) + part(12, tensor("c", 6, rows, columns))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(part(1, 8) + part(7, graph) + part(8, part(2, 13)), options, providers=["CPUExecutionProvider"])
    given = {"a": np.random.default_rng(1).integers(0, 120, (rows, inner), np.uint8)}
    return lambda: session.run(None, given)


def _varint(value: int) -> bytes:
    out = []
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return struct.pack(f"{len(out) + 1}B", *out, value)


def least(run: Callable[[], object], times: int = 1) -> float:
    """Seconds of processor time of one run."""
    start = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - start) / times


def embedding(texts: list[str]) -> Iterator[str]:
    """The rate of the embedder and of the product, the best of some rounds in turns."""
    embedder, tokens = Packaged(threads=1), tokenizer()
    embedder.passages(texts[:8])
    wanted = operations([len(ids) for ids, _ in prepared(tokens, texts, PASSAGE_TOKENS)])
    products = [(2.0 * rows * inner * columns, product(rows, inner, columns)) for rows, inner, columns in _SHAPES]
    of_layer = [(times, 2.0 * times * np.prod(shape), product(*shape)) for times, shape in _OWN]
    ours, peak, own, cutting = 0.0, 0.0, 0.0, 9e9
    for _ in range(_ROUNDS):
        own = max(own, sum(count for _, count, _ in of_layer) / sum(times * least(run, 10) for times, _, run in of_layer) / 1e9)
        peak = max(peak, *(count / least(run, 10) / 1e9 for count, run in products))
        seconds = least(lambda: embedder.passages(texts))
        cutting = min(cutting, least(lambda: prepared(tokens, texts, PASSAGE_TOKENS)))
        ours = max(ours, wanted / seconds / 1e9)
    yield f"embedder {ours:.1f} GOP/s ({len(texts) * ours * 1e9 / wanted:.0f} chunks/s), product {peak:.1f} GOP/s, share {ours / peak:.2f}"
    yield f"products of the embedder's own shapes {own:.1f} GOP/s, share {ours / own:.2f}"
    yield "of its time: " + ", ".join(f"{name} {share:.2f}" for name, share in shares(texts[:100]))
    yield f"cutting into tokens takes {cutting / (wanted / ours / 1e9):.1%} of the time"


def shares(texts: list[str]) -> list[tuple[str, float]]:
    """The operators that take most of the embedder's time, and their shares of it."""
    options, spent = onnxruntime.SessionOptions(), Counter[str]()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    with TemporaryDirectory() as folder:
        options.profile_file_prefix = f"{folder}/profile"
        session = onnxruntime.InferenceSession(str(FOLDER / "model.onnx"), options, providers=["CPUExecutionProvider"])
        embed(session, [ids for ids, _ in prepared(tokenizer(), texts, PASSAGE_TOKENS)])
        for event in json.loads(Path(session.end_profiling()).read_text("utf-8")):
            if event["name"].endswith("_kernel_time"):
                spent[event["args"]["op_name"]] += event["dur"]
    return [(name, micros / spent.total()) for name, micros in spent.most_common(6)]


def indexes(vectors: Any) -> Iterator[str]:
    """pgvector and FAISS over the same rows."""
    from lineage.catalog.postgres import Session, StoredRows, create_vectors
    from tests.fakes.postgres import Postgres, binaries

    if not (folder := binaries()):
        yield "no PostgreSQL with pgvector on this machine"
        return
    asked = vectors[:: max(1, len(vectors) // _ASKED)][:_ASKED]
    with Postgres(folder) as server:
        session = Session(server.database())
        start = time.perf_counter()
        with session.transaction() as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            create_vectors(connection, vectors)
        yield f"{len(vectors):,} vectors into PostgreSQL in {time.perf_counter() - start:.1f} s"
        made = {"FAISS": faiss.create(vectors), "pgvector": pgvector.create(StoredRows(session, len(vectors), vectors.shape[1]))}
        found = {name: [index.search(row[None], _FIRST)[0][0] for row in asked] for name, index in made.items()}
        for name, index in made.items():
            times = [_wall(lambda index=index, row=row: index.search(row[None], _FIRST)) for row in asked]  # type: ignore[misc]
            yield f"{name}: p50 {1000 * np.percentile(times, 50):.1f} ms, p99 {1000 * np.percentile(times, 99):.1f} ms of wall time"
        same = np.mean([len(np.intersect1d(*both)) / _FIRST for both in zip(*found.values(), strict=True)])
        yield f"the same among the first ten: {same:.3f}"


def _wall(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lineage")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    with open_generation(given.home, given.lineage) as generation:
        rows = range(0, generation.manifest.counts["chunks"], max(1, generation.manifest.counts["chunks"] // given.texts))
        for line in embedding([passage(chunk) for chunk in generation.catalog.chunks(rows[: given.texts])]):
            print(line, flush=True)
        for line in indexes(np.asarray(generation.vectors)) if given.postgres else ():
            print(line, flush=True)


if __name__ == "__main__":
    run_benchmark(main)
