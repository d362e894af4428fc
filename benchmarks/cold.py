"""What commands cost from cold, beside Python that does nothing and `rg` over the same texts.

    python -m benchmarks.cold --home HOME [--rounds 6] [LINEAGE ...]

Prints the least processor time and the least wall time of each command over so many rounds, in which all take turns, of each lineage
(default: all), and the most of all lineages.
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
from lineage.generation import names, open_generation

_QUESTION, _WORD = "how is the learning rate scheduled?", "weight_decay"
_ENDS = {False: {0, 3}, True: {0, 1}}
"""How commands may end, and `rg`: where the word stands nowhere, nothing is found."""


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
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # an installation has its bytecode
    done = subprocess.run(command, env={**kept, "LINEAGE_HOME": str(home)}, capture_output=True, check=False)
    if done.returncode not in _ENDS[command[0] == "rg"]:
        done.check_returncode()
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measured(lineage: str, home: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """The least processor time and wall time of each command."""
    costs = defaultdict[str, list[tuple[float, float]]](list)
    with tempfile.TemporaryDirectory() as folder:
        with open_generation(home, lineage) as generation:
            for row, text in generation.catalog.texts() if shutil.which("rg") else ():
                (Path(folder) / f"{row}.txt").write_text(text, "utf-8")
        for _ in range(rounds):
            for name, command in commands(lineage, Path(folder)).items():
                costs[name].append(seconds(command, home))
    return {name: (min(cpu for cpu, _ in values), min(wall for _, wall in values)) for name, values in costs.items()}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lineages", nargs="*")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    slowest: dict[str, tuple[float, float]] = {}
    for lineage in given.lineages or names(given.home):
        least = measured(lineage, given.home, given.rounds)
        print(lineage, *(f"{name} {processor:.2f}/{wall:.2f}" for name, (processor, wall) in least.items()), sep=", ", flush=True)
        slowest = {name: max(cost, slowest.get(name, cost)) for name, cost in least.items()}
    for name, (processor, wall) in slowest.items():
        print(f"{name:<16} processor {processor:.2f} s, wall {wall:.2f} s at most")


if __name__ == "__main__":
    run_benchmark(main)
