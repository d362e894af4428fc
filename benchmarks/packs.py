"""Context packs against rubrics: what share of what a reproduction must contain does a pack hold, for how many tokens?

    python -m benchmarks.packs --data DIR --home HOME [--budgets 2000,6000,16000] [--tasks 8] [--papers a,b] [--out FILE]

DIR holds `rubrics/leaves.jsonl.gz` (PaperBench's rubrics, leaf by leaf). HOME is a store with one lineage a paper, named
`pb-PAPER` (`lineage build PAPER.tar.gz --name pb-PAPER --add REPOSITORY`): the paper's own text, and the repositories that its
rubric names, never the paper's own code. A task is a group of leaves under one node of the rubric, put as the words of that
node; the task `whole` is the paper's title, planned. Only leaves of the kind Code Development count.

A leaf is covered if the evidence in the pack (not our own words, nor the task) holds two thirds of the rarity of its telling
words and all of its numbers; rarity is counted over the leaves of all papers, and words of more than a tenth of the leaves
("code", "implemented") tell nothing. Beside it stand the first hits of plain retrieval for the same task, each with its
citation, cut at the same budget by the same tokenizer. The measure is mechanical: it says that the words are there, not that
a reader would succeed with them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from api.bootstrap import Parts  # noqa: E402
from benchmarks.parts import run_benchmark  # noqa: E402
from lineage import generation as layout  # noqa: E402
from lineage import settings  # noqa: E402
from lineage.citation import citation  # noqa: E402
from lineage.records import Answer, Query  # noqa: E402
from lineage.results import Pack, Stage  # noqa: E402
from lineage.text.tokens import STOP, tokens  # noqa: E402
from retrieval.context.compose import pack  # noqa: E402
from retrieval.context.token_budget import Tokens  # noqa: E402
from retrieval.gaps.report import report  # noqa: E402
from retrieval.search.engine import Engine  # noqa: E402
from retrieval.search.query import beginning, make_query  # noqa: E402

COMMON = 0.1
SHARE = 2 / 3
_NUMBER = re.compile(r"\d")


@dataclass(frozen=True)
class Task:
    """A task with the leaves (their texts) that a pack for it should cover."""

    paper: str
    name: str
    text: str
    stage: Stage | None
    leaves: tuple[str, ...]


@dataclass(frozen=True)
class Rarity:
    """How telling the words of leaves are."""

    worth: dict[str, float]

    @classmethod
    def of(cls, leaves: Sequence[str]) -> Rarity:
        counts = Counter(word for leaf in leaves for word in set(tokens(leaf)))
        telling = {word: count for word, count in counts.items() if count <= COMMON * len(leaves) and word not in STOP}
        return cls({word: math.log(len(leaves) / count) for word, count in telling.items()})

    def covered(self, leaf: str, said: set[str]) -> bool:
        """Whether the words of a text hold what a leaf is about."""
        words = {word for word in tokens(leaf) if word in self.worth}
        numbers = {word for word in words if _NUMBER.search(word)}
        whole = sum(self.worth[word] for word in words)
        return bool(whole) and numbers <= said and sum(self.worth[word] for word in words & said) >= SHARE * whole


def leaves_of(data: Path) -> list[dict[str, object]]:
    with gzip.open(data / "rubrics" / "leaves.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def tasks_of(rows: Sequence[dict[str, object]], paper: str, most: int) -> Iterator[Task]:
    """The whole paper, and its largest groups of leaves."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    titles = set()
    for row in rows:
        if row["paper"] == paper and row["category"] == "Code Development":
            path = tuple(str(part) for part in row["path"])  # type: ignore[attr-defined]
            titles.add(path[0])
            groups[path[1:3]].append(str(row["requirement"]))
    everything = tuple(leaf for some in groups.values() for leaf in some)
    if everything:
        yield Task(paper, "whole", min(titles), "planning", everything)
    large = sorted((name for name in groups if len(groups[name]) >= 3), key=lambda name: (-len(groups[name]), name))
    for name in large[:most]:
        yield Task(paper, " > ".join(name), ". ".join(dict.fromkeys(name)), None, tuple(groups[name]))


class Remembered(Engine):
    """The engine of another, that remembers what it was asked: a task is asked the same at every budget."""

    def __init__(self, engine: Engine) -> None:
        vars(self).update(vars(engine))
        self._engine = engine
        self._answers: dict[tuple[Query, ...], list[Answer]] = {}

    def ask_many(self, queries: Sequence[Query]) -> list[Answer]:
        key = tuple(queries)
        if key not in self._answers:
            self._answers[key] = self._engine.ask_many(queries)
        return self._answers[key]


def plain(engine: Engine, task: Task, allowed: int, count: Tokens) -> tuple[str, int]:
    """The first hits with their citations, cut at the budget."""
    answer = engine.ask(make_query(beginning(task.text)[0], k=100))
    text = "\n\n".join(f"{citation(hit)} {hit.work.license or ''}\n{hit.chunk.text}" for hit in answer.hits)
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count.count(text[:middle]) <= allowed else (low, middle - 1)
    return text[:low], count.count(text[:low])


def evidence_of(made: Pack) -> str:
    """What a pack holds beside its head, which repeats the task."""
    return "\n".join(item.text for item in made.items)


Rows = list[dict[str, object]]


def measure(parts: Parts, home: Path, rows: Rows, budgets: Sequence[int], most: int, papers: Sequence[str]) -> Rows:
    rarity = Rarity.of([str(row["requirement"]) for row in rows])
    found: Rows = []
    for name in (name for name in layout.names(home) if name.startswith("pb-") and (not papers or name[3:] in papers)):
        with parts.engine(name) as opened:
            engine, gaps = Remembered(opened), report(parts.gaps_material(opened))
            for task in tasks_of(rows, name.removeprefix("pb-"), most):
                for allowed in budgets:
                    made = pack(engine, task.text, task.stage, allowed, parts.tokens, gaps=gaps)
                    cut, used = plain(engine, task, allowed, parts.tokens)
                    ours, theirs = set(tokens(evidence_of(made))), set(tokens(cut))
                    got = sum(rarity.covered(leaf, ours) for leaf in task.leaves)
                    beside = sum(rarity.covered(leaf, theirs) for leaf in task.leaves)
                    found.append({"paper": task.paper, "task": task.name, "leaves": len(task.leaves), "allowed": allowed, "used": made.used})
                    found[-1] |= {"items": len(made.items), "pack": got, "top_k": beside, "top_k_used": used}
        print(name, file=sys.stderr)
    return found


def table(found: Sequence[dict[str, object]]) -> str:
    """Shares by budget: the whole papers, the tasks, by paper."""
    lines = []
    for kind, chosen in (("whole paper", lambda row: row["task"] == "whole"), ("task", lambda row: row["task"] != "whole")):
        for allowed in sorted({int(str(row["allowed"])) for row in found}):
            rows = [row for row in found if row["allowed"] == allowed and chosen(row)]
            if rows:
                shares = [sum(float(str(row[key])) / float(str(row["leaves"])) for row in rows) / len(rows) for key in ("pack", "top_k")]
                used = sum(float(str(row["used"])) for row in rows) / len(rows) / allowed
                over = sum(int(str(row["used"])) > allowed for row in rows)
                lines.append(f"{kind:<12} {allowed:>6}  n={len(rows):<4} pack {shares[0]:.3f}  top-k {shares[1]:.3f}  used {used:.3f}  over {over}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--budgets", default="2000,6000,16000")
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--papers", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    budgets = [int(part) for part in given.budgets.split(",")]
    papers = [part for part in given.papers.split(",") if part]
    found = measure(Parts(settings.load(home=given.home)), given.home, leaves_of(given.data), budgets, given.tasks, papers)
    if given.out:
        given.out.write_text("\n".join(map(json.dumps, found)) + "\n", encoding="utf-8")
    print(table(found))
    for paper in sorted({str(row["paper"]) for row in found}):
        print(f"\n{paper}\n{table([row for row in found if row['paper'] == paper])}")


if __name__ == "__main__":
    run_benchmark(main)
