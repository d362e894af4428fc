"""How near to what this machine can do: the packaged embedder beside peers and a bare product of integers, pgvector beside FAISS.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.limits --home HOME LINEAGE [--texts 400] [--postgres] [--results FILE]

One thread, processor time, in turns, the median of some rounds. The product is onnxruntime's `MatMulInteger` (uint8 by int8), the best of three
shapes. An operation is a multiplication or an addition; of a model those of its linear layers and of attention are counted, over the tokens that
texts have, so that padding counts as loss. The peers embed the same texts: onnxruntime with the packaged file as it is used by default (batches of 32
as they come), and, where it is installed, sentence-transformers with a float32 model of the same shape and random weights, which take as long.
onnxruntime's own profile tells which share of the embedder's time each kind of operator takes. With --postgres the lineage's vectors are also put
into a PostgreSQL server of its own, and all indexes asked for the first ten of 50 rows; processor time is that of the process asked, without
its parallel workers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime

from benchmarks.parts import record, run_benchmark
from benchmarks.search_speed import recall
from indexer.documents import passage
from indexer.embedders.packaged import FOLDER, PASSAGE_TOKENS, Packaged, embed, prepared, tokenizer
from indexer.vectors import faiss, pgvector
from lineage.generation import open_generation

_LAYERS, _WIDTH, _INNER = 6, 384, 1536
_SHAPES = ((2048, 384, 1536), (2048, 1536, 384), (2048, 1024, 1024))
_OWN = ((4, (2048, 384, 384)), (1, (2048, 384, 1536)), (1, (2048, 1536, 384)))
"""How often a layer of the embedder has a product of each shape."""
_ROUNDS, _ASKED, _FIRST, _BATCH = 5, 50, 10, 32


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


def peers(texts: list[str], tokens: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """What embeds the same texts otherwise."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(FOLDER / "model.onnx", options, providers=["CPUExecutionProvider"])

    def plain() -> None:
        rows = [ids for ids, _ in prepared(tokens, texts, PASSAGE_TOKENS)]
        for start in range(0, len(rows), _BATCH):
            embed(session, rows[start : start + _BATCH], batch=_BATCH)

    yield "onnxruntime, batches of 32", plain
    if find_spec("sentence_transformers"):
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
        from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

        torch.set_num_threads(1)
        sizes = {"hidden_size": _WIDTH, "num_hidden_layers": _LAYERS, "num_attention_heads": 12, "intermediate_size": _INNER}
        with TemporaryDirectory() as folder:
            RobertaModel(RobertaConfig(vocab_size=50265, max_position_embeddings=514, **sizes)).save_pretrained(folder)
            PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizer.json"), pad_token="<pad>").save_pretrained(folder)
            model = SentenceTransformer(modules=[Transformer(folder, max_seq_length=PASSAGE_TOKENS), Pooling(_WIDTH)], device="cpu")
        yield "sentence-transformers, float32", lambda: model.encode(texts, batch_size=_BATCH, show_progress_bar=False)


def embedding(texts: list[str], results: Path | None) -> Iterator[str]:
    """The rates of the embedder, its peers and the product, over some rounds in turns."""
    embedder, tokens, texts = Packaged(threads=1), tokenizer(), [re.sub(r"[ \t]{2,}", " ", text) for text in texts]
    embedder.passages(texts[:8])
    wanted = operations([len(ids) for ids, _ in prepared(tokens, texts, PASSAGE_TOKENS)])
    products = [(2.0 * rows * inner * columns, product(rows, inner, columns)) for rows, inner, columns in _SHAPES]
    of_layer = [(times, 2.0 * times * np.prod(shape), product(*shape)) for times, shape in _OWN]
    ways = {"Lineage": lambda: embedder.passages(texts), **dict(peers(texts, tokens))}
    rates, cutting = defaultdict[str, list[float]](list), 9e9
    for _ in range(_ROUNDS):
        rates["its own products"].append(sum(count for _, count, _ in of_layer) / sum(times * least(run, 10) for times, _, run in of_layer) / 1e9)
        rates["product of integers"].append(max(count / least(run, 10) / 1e9 for count, run in products))
        for name, run in ways.items():
            rates[name].append(wanted / least(run) / 1e9)
        cutting = min(cutting, least(lambda: prepared(tokens, texts, PASSAGE_TOKENS)))
    middle = {name: round(float(np.median(found)), 1) for name, found in rates.items()}
    for name, rate in middle.items():
        share, chunks = rate / middle["product of integers"], len(texts) * rate * 1e9 / wanted
        yield f"{name}: {rate} GOP/s (best {max(rates[name]):.1f}), {share:.2f} of the product, {chunks:.1f} chunks/s"
    yield "of the embedder's time: " + ", ".join(f"{name} {share:.2f}" for name, share in shares(texts[:100]))
    yield f"cutting into tokens takes {cutting / (wanted / middle['Lineage'] / 1e9):.1%} of the time"
    record(results, "embedding", {name: [rate, round(len(texts) * rate * 1e9 / wanted, 1)] for name, rate in middle.items()})


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


def indexes(vectors: Any, results: Path | None) -> Iterator[str]:
    """FAISS, and pgvector comparing all rows and by its index, over the same rows."""
    from lineage.catalog.postgres import Session, StoredRows, create_vectors
    from tests.fakes.postgres import Postgres, binaries

    if not (folder := binaries()):
        yield "no PostgreSQL with pgvector on this machine"
        return
    asked = vectors[:: max(1, len(vectors) // _ASKED)][:_ASKED]
    made: dict[str, tuple[Any, int]] = {"FAISS": (faiss.create(vectors), os.getpid())}
    with Postgres(folder) as server:
        for name, indexed_from in {"pgvector, all rows": len(vectors) + 1, "pgvector, HNSW": 0}.items():
            session, start = Session(server.database()), time.perf_counter()
            with session.transaction() as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                create_vectors(connection, vectors, indexed_from)
            yield f"{name}: {len(vectors):,} vectors stored in {time.perf_counter() - start:.1f} s"
            made[name] = pgvector.create(StoredRows(session, *vectors.shape)), session.rows("SELECT pg_backend_pid()")[0][0]
        rows = []
        for name, (index, process) in made.items():
            found = recall(lambda row, index=index: index.search(row, _FIRST)[0][0], asked, vectors)  # type: ignore[misc]  # gets warm too
            processor, walls = _processor(process), [_wall(lambda index=index, row=row: index.search(row[None], _FIRST)) for row in asked]  # type: ignore[misc]
            mean, p50 = 1000 * (_processor(process) - processor) / len(asked), 1000 * float(np.median(walls))
            rows.append({"way": name, "chunks": len(vectors), "cpu": round(mean, 2), "wall_p50": round(p50, 1), "recall": round(found, 3)})
            yield f"{name}: {mean:.1f} ms of processor time, p50 {p50:.1f} ms of wall time, recall@10 {found:.3f}"
    record(results, f"indexes {len(vectors)}", rows)


def _processor(process: int) -> float:
    """Seconds of processor time of a process so far, as Linux counts them."""
    return sum(int(thread.read_text().split()[0]) for thread in Path(f"/proc/{process}/task").glob("*/schedstat")) / 1e9


def _wall(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lineage")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=400, help="0: nothing is embedded")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    with open_generation(given.home, given.lineage) as generation:
        count = generation.manifest.counts["chunks"]
        texts = [passage(chunk) for chunk in generation.catalog.chunks(range(0, count, max(1, count // max(1, given.texts)))[: given.texts])]
        for line in embedding(texts, given.results) if texts else ():
            print(line, flush=True)
        for line in indexes(np.asarray(generation.vectors), given.results) if given.postgres else ():
            print(line, flush=True)


if __name__ == "__main__":
    run_benchmark(main)
