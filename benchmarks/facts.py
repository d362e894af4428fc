"""Precision and recall of extracted facts, by kind, against facts that people read out of the sources themselves.

    python -m benchmarks.facts --home DIR [--home DIR] [--part tuning|held-out] [--show]

`facts.jsonl` holds places and values only. Rows with `right` are facts that were extracted and judged by eye: precision is
the share of right ones among those that are extracted still. Rows without it are facts that whole files and sections state,
annotated before the output was looked at: recall is the share that is extracted, at the line (two off in papers, whose
lines are paragraphs). Rows of the part held-out were annotated after the rules had been written; what they showed was mended
afterwards, so the first figures for them stand in benchmarks/LOG.md. The homes hold the lineages arxiv-2504.17192 and
arxiv-2004.14974, and the demonstration.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.parts import run_benchmark
from lineage.generation import open_generation
from lineage.hyperparameters.ontology import ontology
from lineage.records import Fact

HERE = Path(__file__).parent
Key = tuple[str, str]


def extracted(homes: Sequence[Path]) -> dict[Key, list[Fact]]:
    """All facts by (work, path); one place counts once, however many lineages hold it."""
    found: dict[Key, dict[tuple[Any, ...], Fact]] = defaultdict(dict)
    for home in homes:
        for folder in sorted((home / "lineages").iterdir()):
            with open_generation(home, folder.name) as generation:
                paths = {fact.chunk: chunk.path for fact in generation.catalog.facts() if (chunk := generation.catalog.chunk(fact.chunk))}
                for fact in generation.catalog.facts():
                    found[fact.work, paths[fact.chunk]][fact.line, fact.name, fact.value, fact.kind, fact.scope] = fact
    return {key: list(some.values()) for key, some in found.items()}


def matching(row: dict[str, Any], facts: dict[Key, list[Fact]]) -> Fact | None:
    """The extracted fact that a row names, if there is one."""
    same = (lambda name, one, other: one == other) if "right" in row else ontology().same
    places = [key for key in facts if key[0] == row["work"] and row["path"] in {"*", key[1]}]
    for key in places:
        for fact in facts[key]:
            near = not row["line"] or abs(fact.line - row["line"]) <= (2 if row["work"].startswith("arxiv:") else 0)
            if near and fact.name == row["name"] and same(fact.name, fact.value, row["value"]):
                return fact
    return None


def table(rows: Iterable[tuple[str, bool]], title: str) -> str:
    """Shares by kind and in all."""
    total, right = Counter[str](), Counter[str]()
    for kind, ok in rows:
        for name in (kind, "all"):
            total[name] += 1
            right[name] += ok
    lines = [
        f"{name:<10} {right[name]:>4} / {total[name]:<4} {right[name] / total[name]:.3f}" for name in sorted(total, key=lambda n: (n == "all", n))
    ]
    return "\n".join([title, *lines]) if total else f"{title}\n(no rows)"


def main() -> None:
    """Print precision and recall by kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, action="append", required=True)
    parser.add_argument("--part", default="", help="only rows of this part: tuning or held-out")
    parser.add_argument("--show", action="store_true", help="list what is missed and what is wrong")
    parser.add_argument("--rows", type=Path, default=HERE / "facts.jsonl")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.rows.read_text("utf-8").splitlines()]
    rows = [row for row in rows if not given.part or row["part"] == given.part]
    facts = extracted(given.home)
    judged = [(row, matching(row, facts)) for row in rows if "right" in row]
    stated = [(row, matching(row, facts)) for row in rows if "right" not in row]
    print(table(((row["kind"], row["right"]) for row, fact in judged if fact), "precision (judged by eye)"))
    print(table(((row["kind"], fact is not None) for row, fact in stated), "recall (annotated beforehand)"))
    if given.show:
        for row, fact in [(r, f) for r, f in stated if f is None] + [(r, f) for r, f in judged if f and not r["right"]]:
            print("missed" if fact is None else "wrong", row["work"], row["path"], row["line"], row["kind"], row["name"], row["value"])


if __name__ == "__main__":
    run_benchmark(main)
