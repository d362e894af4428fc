"""Does a lineage surface, without being asked, the places that settle what its paper leaves unsaid?

    python -m benchmarks.decisions --home HOME [--sheet FILE ...] [--near 5] [--show]

`python -m benchmarks.further --wanted benchmarks/decisions/lineages.json` makes the data of the three lineages that `further.json` lacks.
A sheet (`benchmarks/decisions/ARXIV.jsonl`) has a decision a line, written by a reader of the paper, of the authors' code and of the cited
repositories: `question`, `answer`, `cited` ("mar/main_mar.py:81-82; DiT/train.py:40", empty where nobody has it). The target's own code is kept out.
Of the decisions that a cited work holds, printed: those whose place is in the first, the first three, any offer of some row of the gap report, and
in the first and first three of the rows that a chat model, if one read it, does not set apart (`presented`); in
the planning pack of 6,000 tokens; in the whole of the first and of the first five hits for the question (`query`), and in their lines that
answer (`lines`). A place counts within `--near` lines, in whatever row, so the first figures flatter: `--show` prints the rows, to be read by eye.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from api.bootstrap import Parts
from api.operations import Service
from benchmarks.evidence import rows
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.citation import citation, pinpoint
from lineage.generation import names
from lineage.records import Hit
from lineage.results import Gaps

SHEETS = Path(__file__).parent / "decisions"
TASK = "reproduce the paper: model, training, sampling, evaluation"
_PLACE = re.compile(r"([\w.-]+)/([\w./ -]+?\.\w+):\s*([\d,\s-]+)")
_CITED = re.compile(r"github\.com/[\w.-]+/([\w.-]+)/([^\s#]+)#L(\d+)(?:-L(\d+))?")
MEASURES = ("gaps@1", "gaps@3", "gaps@any", "presented@1", "presented@3", "context", "query@1", "query@5", "lines@1", "lines@5")
_HITS = 20
"""Hits that are asked for, of which five are read: as many as a batch of questions gets, and the caps of a list depend on it."""


@dataclass(frozen=True)
class Place:
    """Lines of a file of a repository, by its name without the owner."""

    repo: str
    path: str
    first: int
    last: int

    def near(self, other: Place, lines: int) -> bool:
        """Whether both overlap, with so many lines of play."""
        return (self.repo, self.path) == (other.repo, other.path) and self.first - lines <= other.last and other.first - lines <= self.last


def places(text: str) -> list[Place]:
    """The places that a sheet names."""
    found = []
    for repo, path, lines in _PLACE.findall(text):
        for part in re.findall(r"\d+(?:-\d+)?", lines):
            first, _, last = part.partition("-")
            found.append(Place(repo.lower(), path.strip().lower(), int(first), int(last or first)))
    return found


def cited(text: str) -> list[Place]:
    """The places that citations in a text mean."""
    return [Place(m[1].lower(), m[2].lower(), int(m[3]), int(m[4] or m[3])) for m in _CITED.finditer(text)]


def _surfaced(hits: Sequence[Hit], gold: Sequence[Place], near: int, where: Callable[[Hit], str] = pinpoint) -> bool:
    return any(place.near(wanted, near) for hit in hits for place in cited(where(hit)) for wanted in gold)


def _ranks(hits: Sequence[Hit], gold: Sequence[Place]) -> Iterator[int]:
    """The rank of the first hit whose chunk, and of the first whose lines, have a place; 0 where none has."""
    for where in (citation, pinpoint):
        yield next((hit.rank for hit in hits if _surfaced([hit], gold, 0, where)), 0)


def offers(report: Gaps, gold: Sequence[Place], near: int) -> Iterator[tuple[int, str]]:
    """(number of the offer, title of the row) of every offer that has a place."""
    for gap in report.gaps:
        for number, offer in enumerate(gap.suggestions, 1):
            if _surfaced([*(occurrence.evidence for occurrence in offer.held), *offer.evidence], gold, near):
                yield number, gap.detail.title


def measured(service: Service, lineage: str, sheet: Sequence[dict[str, Any]], near: int, show: bool) -> tuple[Counter[str], int]:
    """How many decisions each way surfaces, and how many there are."""
    report = service.gaps(lineage=lineage, no_target_code=True)
    pack = cited(service.context(TASK, lineage=lineage, stage="planning", no_target_code=True).text)
    score: Counter[str] = Counter()
    presented = replace(report, gaps=tuple(gap for gap in report.gaps if gap.confirmed is not False))
    asked = [(row, gold) for row in sheet if (gold := places(row["cited"]))]
    for row, gold in asked:
        found = list(offers(report, gold, near))
        best = min((number for number, _ in found), default=0)
        shown = min((number for number, _ in offers(presented, gold, near)), default=0)
        whole, lines = _ranks(service.query(row["question"], lineage=lineage, k=_HITS, no_target_code=True).hits, gold)
        packed = any(place.near(wanted, near) for place in pack for wanted in gold)
        ways = (best == 1, 0 < best <= 3, best > 0, shown == 1, 0 < shown <= 3, packed, whole == 1, 0 < whole <= 5, lines == 1, 0 < lines <= 5)
        score.update({name: int(yes) for name, yes in zip(MEASURES, ways, strict=True)})
        if show:
            print(f"  {row['question'][:90]} => {list(dict.fromkeys(title for number, title in found if number <= 3))[:4]}")
    return score, len(asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--sheet", type=Path, action="append", help="default: every sheet whose lineage is built")
    parser.add_argument("--near", type=int, default=5)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    service = Service(Parts(settings.load(home=args.home)))
    for sheet in args.sheet or sorted(SHEETS.glob("*.jsonl")):
        if (lineage := f"arxiv-{sheet.stem}") not in names(args.home):
            print(f"{sheet.stem}: not built")
            continue
        score, count = measured(service, lineage, rows(sheet), args.near, args.show)
        print(f"{sheet.stem}: {count} decisions that a cited work holds: " + ", ".join(f"{name} {score[name] / count:.2f}" for name in MEASURES))


if __name__ == "__main__":
    run_benchmark(main)
