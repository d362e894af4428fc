"""How long a question takes, warm and end to end through the operation.

    python -m benchmarks.search_speed --home HOME [--gold questions.jsonl ...] [--grow 100000 --out HOME2] LINEAGE [...]

With --grow, lineages of so many chunks are made out of these first (`benchmarks.grown`) and asked the same.
Every question of the gold files is asked once, after the first few have loaded the models. Prints p50 and p99 in milliseconds of wall
and of processor time, and SQL statements a question; two revisions are compared by running both right after each other.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from api.operations import Service
from api.server.engines import KeptParts
from benchmarks.grown import grown
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.catalog.reader import Catalog

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
    calls = [0]
    counted(calls)
    service = Service(KeptParts(settings.load(home=given.home)))
    for lineage, texts in asked.items():
        calls[0] = 0
        seconds = np.array(list(timed(service, lineage, texts)))[_WARM:]
        (wall, cpu), (worst, worst_cpu) = 1000 * np.percentile(seconds, 50, axis=0), 1000 * np.percentile(seconds, 99, axis=0)
        print(
            f"{lineage}: {len(texts)} questions, p50 {wall:.1f} ms (processor {cpu:.1f}), p99 {worst:.1f} ({worst_cpu:.1f}),"
            f" {calls[0] / (len(texts) + _WARM):.1f} statements a question",
            flush=True,
        )


if __name__ == "__main__":
    run_benchmark(main)
