"""How long a question takes, warm and end to end through the operation.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.search_speed --home HOME [--gold questions.jsonl ...] [--grow 100000 --out HOME2] LINEAGE [...]

With --grow, lineages of so many chunks are made out of these first (`benchmarks.grown`) and asked the same.
Every question of the gold files is asked once, after the first few have loaded the models. Prints p50 and p99 in milliseconds of wall
and of processor time, and SQL statements a question, beside the floor: SQLite's FTS5 and FAISS's flat index alone, with the question
embedded. Two revisions are compared by running both right after each other.
"""

from __future__ import annotations

import argparse
import gc
import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from api.cli.start import GARBAGE
from api.operations import Service
from api.server.engines import KeptParts
from benchmarks.grown import grown
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.catalog.reader import Catalog
from lineage.text.tokens import fts_any, terms
from retrieval.search.candidates import DEPTH

HERE = Path(__file__).resolve().parent
GOLD = tuple(HERE / f"questions{part}.jsonl" for part in ("", "_blind", "_further"))
_WARM = 3


def questions(paths: Sequence[Path], lineage: str) -> list[str]:
    """The distinct questions of gold files for a lineage."""
    rows = (json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines() if line.strip())
    return list(dict.fromkeys(row["query"] for row in rows if row.get("lineage") == lineage))


def timed(service: Service, lineage: str, texts: Sequence[str]) -> Iterator[tuple[float, float]]:
    """Seconds of wall and of processor time of each question."""
    for text in (*texts[:_WARM], *texts):
        wall, cpu = time.perf_counter(), time.process_time()
        service.query(text, lineage=lineage)
        yield time.perf_counter() - wall, time.process_time() - cpu


def floor(parts: KeptParts, lineage: str, texts: Sequence[str]) -> Iterator[float]:
    """Seconds of processor time of each question by FTS5 and FAISS alone."""
    import faiss

    with parts.engine(lineage) as engine, closing(sqlite3.connect(":memory:")) as db:
        generation, (embedder, _) = engine.generation, engine._dense or (None, None)  # noqa: SLF001 - the engine's own embedder
        vectors = np.ascontiguousarray(generation.vectors)
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        db.execute("CREATE VIRTUAL TABLE passages USING fts5 (text)")
        db.executemany("INSERT INTO passages VALUES (?)", ((text,) for _, text in generation.catalog.texts()))
        for text in texts:
            start = time.process_time()
            db.execute("SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?", (fts_any(terms(text)), DEPTH)).fetchall()
            if embedder:
                index.search(embedder().queries([text]), DEPTH)
            yield time.process_time() - start


def counted(calls: list[int]) -> None:
    """Count the statements that catalogs run."""
    run = Catalog._all  # noqa: SLF001 - every statement passes here

    def counting(self: Catalog, *given: object, **named: object) -> object:
        calls[0] += 1
        return run(self, *given, **named)  # type: ignore[arg-type]

    Catalog._all = counting  # type: ignore[method-assign,assignment]  # noqa: SLF001


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lineages", nargs="+")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--gold", type=Path, nargs="*", default=GOLD)
    parser.add_argument("--grow", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    asked = {lineage: questions(given.gold, lineage) for lineage in given.lineages}
    if given.grow:
        asked = {grown(given.home, lineage, given.grow, given.out): texts for lineage, texts in asked.items()}
        given.home = given.out
    gc.set_threshold(*GARBAGE)  # as every command does, servers too
    calls = [0]
    counted(calls)
    parts = KeptParts(settings.load(home=given.home))
    service = Service(parts)
    for lineage, texts in asked.items():
        calls[0] = 0
        seconds = np.array(list(timed(service, lineage, texts)))[_WARM:]
        (wall, cpu), (worst, worst_cpu) = 1000 * np.percentile(seconds, 50, axis=0), 1000 * np.percentile(seconds, 99, axis=0)
        print(
            f"{lineage}: {len(texts)} questions, p50 {wall:.1f} ms (processor {cpu:.1f}), p99 {worst:.1f} ({worst_cpu:.1f}),"
            f" {calls[0] / (len(texts) + _WARM):.1f} statements a question;"
            f" FTS5 and FAISS alone, processor: p50 {np.percentile(list(floor(parts, lineage, texts)), 50) * 1000:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    run_benchmark(main)
