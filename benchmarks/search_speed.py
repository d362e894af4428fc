"""How long a question takes, warm and end to end through the operation, beside the least that one could do and beside a vector database.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.search_speed --home HOME LINEAGE [...] [--ways lineage floor lancedb]
        [--grow 1000 10000 100000 --out HOME2] [--rounds 3] [--results FILE]

With --grow, lineages of so many chunks are made out of these first (`benchmarks.grown`). In so many rounds, each way answers in a process of its
own, in turns: it opens the lineage, answers 20 questions about others to get warm, then each of 100 once, the lineage's own first. Prints the
least and the median over the rounds of p50 and p99 of processor and of wall time, what opening costs, resident memory afterwards, recall@10 of the
dense neighbors against all rows, and the exponent of the growth. The floor is FTS5 (without the texts) and FAISS's flat index alone, 300 candidates
each. LanceDB (`pip install lancedb`) gives the ten of a hybrid query, above 10,000 rows by its index IVF_FLAT with as many probes as give the recall
that a build asks of ours (.98): IVF_PQ, its default, stays at .64 of 100,000 rows. All embed the question with the model of the lineage, and what
they read is made beforehand, in OUT/peers. Two revisions are compared by running both right after each other.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from api.cli.start import GARBAGE
from api.operations import Service
from api.server.engines import KeptParts
from benchmarks.grown import grown
from benchmarks.parts import record, run_benchmark
from lineage import settings
from lineage.generation import Generation, open_generation
from lineage.ports import Vectors
from lineage.text.tokens import fts_any, terms
from retrieval.search.candidates import DEPTH

HERE = Path(__file__).resolve().parent
GOLD = tuple(HERE / f"questions{part}.jsonl" for part in ("", "_blind", "_further"))
_WARM, _ASKED, _TEN, _RECALL, _SAME = 20, 100, 10, 0.98, 1e-5
_MANY, _BATCH, _PROBES = 10_000, 5_000, (8, 16, 32, 64, 128, 256, 512, 1024)
_SHOWN = ("cpu_p50", "cpu_p99", "wall_p50", "wall_p99", "open_cpu", "open_wall", "rss_mb", "recall")
Near = Callable[[Vectors], Sequence[int]]
Way = tuple[Callable[[str], object], Near]
"""How a question is answered, and the rows of its ten nearest by its vector (1, dim)."""


def questions(lineage: str) -> tuple[list[str], list[str]]:
    """The distinct questions of the gold files: those to be asked, which are first those of the lineage, and those to get warm by."""
    rows = [json.loads(line) for path in GOLD for line in path.read_text("utf-8").splitlines() if line.strip()]
    texts = list(dict.fromkeys(row["query"] for row in sorted(rows, key=lambda row: not lineage.startswith(row["lineage"]))))
    return texts[:_ASKED], texts[-_WARM:]


def ours(parts: KeptParts, generation: Generation, folder: Path) -> Way:
    """The product."""
    service, lineage = Service(parts), generation.manifest.lineage
    with parts.engine(lineage) as engine:
        index = engine._dense[1] if engine._dense else None  # noqa: SLF001 - what the engine itself asks
    return lambda text: service.query(text, lineage=lineage), lambda row: index.search(row, _TEN)[0][0].tolist() if index else []


def floor(parts: KeptParts, generation: Generation, folder: Path) -> Way:
    """FTS5 and FAISS."""
    import faiss

    faiss.omp_set_num_threads(1)
    db, embedder, vectors = sqlite3.connect(folder / "fts.db"), embedder_of(parts, generation), np.load(generation.folder / "vectors.npy")
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    statement = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"

    def ask(text: str) -> object:
        return db.execute(statement, (fts_any(terms(text)), DEPTH)).fetchall(), index.search(embedder.queries([text]), DEPTH)

    return ask, lambda row: index.search(row, _TEN)[1][0].tolist()


def lancedb(parts: KeptParts, generation: Generation, folder: Path) -> Way:
    """A hybrid search as LanceDB's documentation shows it."""
    import lancedb as lance

    table, embedder = lance.connect(folder / "lance").open_table("chunks"), embedder_of(parts, generation)
    probes = int((folder / "probes").read_text())

    def ask(text: str) -> object:
        found = table.search(query_type="hybrid").vector(embedder.queries([text])[0]).text(" ".join(terms(text)))
        return found.distance_type("dot").nprobes(probes).limit(_TEN).to_list()

    return ask, neighbors(table, probes)


def neighbors(table: Any, probes: int) -> Near:
    """The nearest rows by a table of LanceDB."""
    return lambda row: [
        hit["row"] for hit in table.search(row[0]).distance_type("dot").nprobes(probes).limit(_TEN).select(["row", "_distance"]).to_list()
    ]


def filled(generation: Generation, folder: Path, sample: Vectors) -> None:
    """Write what the floor and LanceDB read, unless it is there."""
    if (folder / "probes").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    vectors, table = np.asarray(generation.vectors), None
    with closing(sqlite3.connect(folder / "fts.db")) as db:
        db.execute("CREATE VIRTUAL TABLE passages USING fts5 (text, content='')")
        for start in range(0, len(vectors), _BATCH):
            rows = range(start, min(len(vectors), start + _BATCH))
            texts = [chunk.text for chunk in generation.catalog.chunks(rows)]
            db.executemany("INSERT INTO passages (rowid, text) VALUES (?, ?)", zip(rows, texts, strict=True))
            table = _added(table, folder, [{"row": row, "text": text, "vector": vectors[row]} for row, text in zip(rows, texts, strict=True)])
        db.commit()
    probes = _indexed(table, vectors, sample) if table else 0
    (folder / "probes").write_text(str(probes))


def _added(table: Any, folder: Path, rows: list[dict[str, Any]]) -> Any:
    try:
        import lancedb as lance
    except ImportError:
        return None
    if table is None:
        return lance.connect(folder / "lance").create_table("chunks", rows)
    table.add(rows)
    return table


def _indexed(table: Any, vectors: Vectors, sample: Vectors) -> int:
    """Make the indexes of a table; gives how many parts of it a question must look at."""
    from lancedb.index import FTS, IvfFlat

    table.create_index("text", config=FTS())
    if len(vectors) <= _MANY:
        return 1
    table.create_index("vector", config=IvfFlat(distance_type="dot"))
    return next((probes for probes in _PROBES if recall(neighbors(table, probes), sample, vectors) >= _RECALL), _PROBES[-1])


def embedder_of(parts: KeptParts, generation: Generation) -> Any:
    """The model of a lineage's vectors."""
    return parts._reader(generation.manifest.embedder)  # noqa: SLF001 - as the engine's


def recall(near: Near, asked: Vectors, vectors: Vectors) -> float:
    """The share of the ten nearest rows that is found; of rows that are equally near any will do."""
    least = np.array([np.partition(vectors @ row, -_TEN)[-_TEN] for row in asked])
    return float(np.mean([np.mean(vectors[near(row[None])] @ row >= limit - _SAME) for row, limit in zip(asked, least, strict=True)]))


WAYS: dict[str, Callable[[KeptParts, Generation, Path], Way]] = {"lineage": ours, "floor": floor, "lancedb": lancedb}


def clocks() -> tuple[float, float]:
    """Processor and wall time now."""
    return time.process_time(), time.perf_counter()


def since(start: tuple[float, float]) -> tuple[float, float]:
    """Processor and wall time from then to now."""
    return time.process_time() - start[0], time.perf_counter() - start[1]


def measured(way: str, home: Path, lineage: str, folder: Path) -> dict[str, float]:
    """The costs of one way, in milliseconds, seconds to open and megabytes; in a process of its own."""
    gc.set_threshold(*GARBAGE)  # as every command does, servers too
    parts, (texts, others) = KeptParts(settings.load(home=home)), questions(lineage)
    with open_generation(home, lineage) as generation:
        if not way:
            return dict(filled(generation, folder, embedder_of(parts, generation).queries(others)) or {})
        start = clocks()
        ask, near = WAYS[way](parts, generation, folder)
        opening = since(start)
        seconds = []
        for text in (*others, *texts):
            start = clocks()
            ask(text)
            seconds.append(since(start))
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        vectors = np.load(generation.folder / "vectors.npy", "r")
        share = recall(near, embedder_of(parts, generation).queries(texts), vectors)
    (cpu, wall), (cpu_p99, wall_p99) = (1000 * np.percentile(seconds[_WARM:], part, axis=0) for part in (50, 99))
    values = (cpu, cpu_p99, wall, wall_p99, *opening, resident, share)
    return {name: round(float(value), 3) for name, value in zip(_SHOWN, values, strict=True)}


def rounds(given: argparse.Namespace, lineage: str) -> Iterator[dict[str, Any]]:
    """For each way, the least and the median of its costs."""
    costs: dict[str, list[dict[str, float]]] = {way: [] for way in given.ways}
    folder = (given.out or given.home) / "peers" / lineage
    for way in ([] if given.ways == ["lineage"] else [""], *([given.ways] * given.rounds)):
        for name in way:
            with get_context("spawn").Pool(1) as pool:
                made = pool.apply(measured, (name, given.home, lineage, folder))
            costs.get(name, []).append(made)
    for name, found in costs.items():
        yield {"way": name, **{key: [sorted(one[key] for one in found)[n] for n in (0, len(found) // 2)] for key in _SHOWN}}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lineages", nargs="+")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--ways", nargs="+", choices=[*WAYS], default=["lineage", "floor"])
    parser.add_argument("--grow", type=int, nargs="+", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    if given.grow:
        given.lineages = [grown(given.home, lineage, size, given.out) for lineage in given.lineages for size in given.grow]
        given.home = given.out
    results = []
    for lineage in given.lineages:
        with open_generation(given.home, lineage) as generation:
            size = generation.manifest.counts["chunks"]
        for row in rounds(given, lineage):
            results.append({"chunks": size, **row})
            print(f"{lineage} {row['way']}: " + ", ".join(f"{key} {low:g} {middle:g}" for key, (low, middle) in list(row.items())[1:]), flush=True)
    for way in given.ways if len(results) > len(given.ways) else ():
        points = [(row["chunks"], row["cpu_p50"][1]) for row in results if row["way"] == way]
        print(f"{way}: processor time grows with chunks to the power of {np.polyfit(*np.log(points).T, 1)[0]:.2f}")
    record(given.results, "search", results)


if __name__ == "__main__":
    run_benchmark(main)
