"""Precision and recall of the contradictions that a chat model reads, against readers' lists.

    LINEAGE_LLM_MODEL=... LINEAGE_LLM_BASE_URL=... python -m benchmarks.contradictions --home HOME [--list FILE] [--show]

`contradictions.jsonl` holds what readers found in thirty papers before any program was asked: paths, lines and a short reason each. HOME
holds their lineages, built with the target's own code. A finding is counted as right if it points within five lines of a row's, so what a reader
overlooked counts as wrong: `--show` prints each, to be read by eye.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from api.bootstrap import Parts
from api.operations import Service
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.results import Conflict

LISTED = Path(__file__).with_name("contradictions.jsonl")
_NEAR = 5
_PLACE = re.compile(r"([\w./-]+\.\w+):(\d+)(?:-(\d+))?")
Row = Mapping[str, Any]


def is_right(finding: Conflict, row: Row) -> bool:
    """Whether a finding points at the lines of a row."""
    places = [(path, range(int(first) - _NEAR, int(last or first) + _NEAR + 1)) for path, first, last in _PLACE.findall(row["code"])]
    return any(side.evidence.chunk.path == path and side.fact.line in lines for side in finding.sides for path, lines in places)


def main() -> None:
    """Print precision and recall for each paper and in all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--list", type=Path, default=LISTED)
    parser.add_argument("--show", action="store_true", help="print every finding")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.list.read_text("utf-8").splitlines()]
    service = Service(Parts(settings.load(home=options.home)))
    total = [0, 0, 0, 0]
    for arxiv in dict.fromkeys(row["arxiv"] for row in rows):
        mine = [row for row in rows if row["arxiv"] == arxiv]
        found = service.gaps(lineage=f"arxiv-{arxiv}", model=True).conflicts
        right = [any(is_right(one, row) for row in mine) for one in found]
        caught = sum(any(is_right(one, row) for one in found) for row in mine)
        counts = (sum(right), len(found), caught, len(mine))
        total = [a + b for a, b in zip(total, counts, strict=True)]
        print(_line(arxiv, *counts))
        for one, ok in zip(found, right, strict=True) if options.show else ():
            code = one.sides[1]
            print(f"  {'right' if ok else '?'} {one.title}: {one.sides[0].fact.value} | {code.evidence.chunk.path}:{code.fact.line} {one.why}")
    print(_line("all", *total))


def _line(name: str, right: int, reported: int, caught: int, listed: int) -> str:
    return f"{name}: {right} of {reported} findings are on a reader's list; {caught} of {listed} rows found"


if __name__ == "__main__":
    run_benchmark(main)
