"""Build real lineages from a mirror and measure: references in = rows out, chunks, seconds by stage, memory, requests.

    python -m benchmarks.builds --data DIR --mirror http://127.0.0.1:9000 [--target ID ...] [--papers 63] [--repos 20] [--home DIR]
        [--workers 0 1 2 4 --rounds 2 --results FILE]

DIR holds lineage/{targets,references,repos}.jsonl; the mirror serves what they name. Each target is built in a home of its
own by the command line, in a process of its own, then built again, then asked a question from cold. With --workers it is instead built in turns
here (0) and on a Dask cluster of so many local processes: the least and the median of wall and processor time, and whether the content is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.parts import record, run_benchmark

QUESTION = "how is the encoder initialized?"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def lineage(*words: str, env: Mapping[str, str]) -> tuple[dict[str, Any], str, float]:
    """(data, what went to stderr, wall seconds) of one command."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", "from api.cli.app import main; main()", *words, "--json"], capture_output=True, text=True, env=env, check=False
    )
    seconds = time.monotonic() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)["data"], done.stderr, seconds


def first_answer(stderr: str) -> str:
    return next((line for line in stderr.splitlines() if "chunks answer now" in line), "at once, with vectors")


def _added(target: str, args: argparse.Namespace) -> Iterator[str]:
    """Every cited repository by hand, as a user would who knows more than the services say."""
    for row in rows(args.data / "lineage/repos.jsonl") if args.add_cited else ():
        if target in row["targets"] and row["role"] == "cited":
            yield from ("--add", row["url"])


def measured(target: str, args: argparse.Namespace, home: Path) -> Iterator[tuple[str, Any]]:
    env = {**os.environ, "LINEAGE_HOME": str(home), "LINEAGE_MIRROR": args.mirror}
    size = ("--papers", str(args.papers), "--repos", str(args.repos), *_added(target, args))
    made, said, wall = lineage("build", f"arxiv:{target}", *size, env=env)
    listed = sum(row["target"] == target for row in rows(args.data / "lineage/references.jsonl"))
    yield "references: gold list / in the ledger", f"{listed} / {made['references']['total']} {made['references']['by_status']}"
    yield "ledger", made["ledger"]
    yield "papers, repositories, chunks", (made["lineage_papers"], made["repositories"], made["chunks"])
    yield "seconds by stage", made["seconds"]
    yield "seconds of the command", round(wall, 1)
    yield "first answers", first_answer(said)
    yield "requests", made["requests"]
    yield "peak memory of the build, MB", round(made["peak_memory"] / 1e6)
    yield "peak memory of the largest child so far, MB", round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3)
    again, _, wall = lineage("build", f"arxiv:{target}", *size, env=env)
    yield "second build", f"{wall:.1f} s, {sum(again['requests'].values())} requests, unchanged {again['unchanged']}"
    walls = sorted(lineage("query", QUESTION, env=env)[2] for _ in range(5))
    yield "cold query, seconds, median of 5", round(walls[2], 2)


def on_workers(target: str, args: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """What a build costs here and on clusters of this machine."""
    costs, contents = defaultdict[int, list[tuple[float, float]]](list), set[str]()
    for count in args.workers * args.rounds:
        with tempfile.TemporaryDirectory() as home:
            env = {**os.environ, "LINEAGE_HOME": home, "LINEAGE_MIRROR": args.mirror, "LINEAGE_DASK": f"local:{count}" if count else ""}
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            made, _, wall = lineage("build", f"arxiv:{target}", "--papers", str(args.papers), "--repos", str(args.repos), env=env)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs[count].append((wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        contents.add(made["content_hash"])
    rows = []
    for count, found in costs.items():
        (wall, processor), (wall_least, least) = (np.percentile(found, part, axis=0).round(1).tolist() for part in (50, 0))
        rows.append({"workers": count, "chunks": made["chunks"], "wall": wall, "cpu": processor, "wall_least": wall_least, "cpu_least": least})
        yield f"{count} workers", f"{wall} s of wall time (least {wall_least}), {processor} of processor time (least {least})"
    yield "chunks; different contents", (made["chunks"], len(contents))
    record(args.results, "workers", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mirror", required=True)
    parser.add_argument("--target", action="append")
    parser.add_argument("--papers", type=int, default=63)
    parser.add_argument("--repos", type=int, default=20)
    parser.add_argument("--add-cited", action="store_true", help="add every cited repository by hand, linked or not")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--workers", type=int, nargs="+")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--results", type=Path)
    args = parser.parse_args()
    for target in args.target or [row["arxiv"] for row in rows(args.data / "lineage/targets.jsonl")]:
        with tempfile.TemporaryDirectory() as scratch:
            print(f"\n## {target}\n")
            made = on_workers(target, args) if args.workers else measured(target, args, (args.home or Path(scratch)) / target)
            for name, value in made:
                print(f"- {name}: {value}", flush=True)


if __name__ == "__main__":
    run_benchmark(main)
