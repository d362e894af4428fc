"""What commands cost from cold, beside Python that does nothing and `rg` over the same texts.

    python -m benchmarks.cold --home HOME [--rounds 6] LINEAGE

Prints the least processor time and the least wall time of each command over so many rounds, in which all take turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.parts import run_benchmark
from lineage.generation import open_generation

_QUESTION, _WORD = "how is the learning rate scheduled?", "weight_decay"


def commands(lineage: str, texts: Path) -> dict[str, list[str]]:
    """What is run, by its name."""
    program = [sys.executable, "-m", "api.cli.start"]
    of_lineage = {"query": [_QUESTION], "grep": [_WORD], "gaps": [], "context": ["implement the training loop"]}
    ours = {name: [*program, name, *arguments, "--lineage", lineage] for name, arguments in of_lineage.items()}
    search = {"rg": ["rg", "-c", _WORD, str(texts)]} if shutil.which("rg") else {}
    return {"python -c pass": [sys.executable, "-c", "pass"], **search, "--help": [*program, "--help"], **ours}


def seconds(command: list[str], home: Path) -> tuple[float, float]:
    """Processor and wall time of one run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env={**os.environ, "LINEAGE_HOME": str(home)}, capture_output=True, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lineage")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with open_generation(given.home, given.lineage) as generation:
            for row, text in generation.catalog.texts():
                (Path(folder) / f"{row}.txt").write_text(text, "utf-8")
        measured = defaultdict[str, list[tuple[float, float]]](list)
        for _ in range(given.rounds):
            for name, command in commands(given.lineage, Path(folder)).items():
                measured[name].append(seconds(command, given.home))
    for name, values in measured.items():
        processor, wall = map(min, zip(*values, strict=True))
        print(f"{name:<16} processor {processor:.2f} s, wall {wall:.2f} s")


if __name__ == "__main__":
    run_benchmark(main)
