"""Copies of functions between repositories: precision on pairs read by eye, recall on planted copies, speed.

    python -m benchmarks.reuse --repos DIR [--json] [--verdicts FILE] [--sample N]

`--repos` holds bare repositories OWNER+NAME/repo (those that `lineage/repos.jsonl` and the rubrics name). Three parts:

* `precision`: `reuse_pairs.jsonl` holds 100 changed copies drawn at random (seed 5) from what was found in 37 such
  repositories, each read by eye. Exact copies are left out: they are equal by definition. Printed are how many of the
  pairs are still found, and how many of these are copies.
* `recall`: 200 functions are copied into a repository of their own with a share of their lines changed (30 % left out,
  30 % with a line put after them, 40 % rewritten), with and without every variable renamed, and looked for among all.
* `speed`: seconds for 10^5 functions, by repeating the functions found with their names numbered.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.parts import run_benchmark
from indexer.parsers.code.parser import parse
from lineage.code_reuse import clones
from lineage.code_reuse.derivation import DEFINITIONS, Ages, derivations
from lineage.errors import ParseError
from lineage.records import Document, WorkId

HERE = Path(__file__).resolve().parent
LARGEST = 300_000
EDITS = (0.0, 0.1, 0.3, 0.5)
_VARIABLE = re.compile(r"(?<![.\w])([a-z_]\w*)(?![\w(])")


def documents(repos: Path) -> Iterator[Document]:
    """The Python, JavaScript and Java files of every repository's head, parsed."""
    for folder in sorted(repos.glob("*+*")):
        git = ["git", "-C", str(folder / "repo")]
        listed = subprocess.run([*git, "ls-tree", "-r", "-l", "HEAD"], capture_output=True, check=False).stdout.decode("utf-8", "replace")
        for line in listed.splitlines():
            head, _, path = line.partition("\t")
            _, kind, sha, size = head.split()
            if kind == "blob" and path.endswith((".py", ".js", ".java")) and size.isdigit() and int(size) <= LARGEST:
                data = subprocess.run([*git, "cat-file", "blob", sha], capture_output=True, check=False)
                try:
                    yield parse(path, data.stdout, WorkId(f"repo:github.com/{folder.name.replace('+', '/')}"), sha)
                except ParseError:
                    continue


def precision(found: list[Any], verdicts: Path) -> dict[str, Any]:
    """How many of the pairs read by eye are found, and how many of those are copies."""
    rows = [json.loads(line) for line in verdicts.read_text(encoding="utf-8").splitlines()]
    known = {frozenset((_name(one.source), _name(one.taker))) for one in found}
    kept = [row for row in rows if frozenset((row["source"], row["taker"])) in known]
    return {"read": len(rows), "found": len(kept), "copies": sum(row["copy"] for row in kept)}


def _name(place: Any) -> str:
    return f"{place.work}/{place.path}:{place.symbol}"


def sample(found: list[Any], count: int) -> Iterator[dict[str, Any]]:
    """Changed copies to read, drawn at random."""
    changed = [one for one in found if one.kind != "exact"]
    for one in random.Random(5).sample(changed, min(count, len(changed))):
        yield {"source": _name(one.source), "taker": _name(one.taker), "similarity": one.similarity, "kind": one.kind, "copy": None}


def recall(owners: list[int], texts: list[str]) -> dict[str, float]:
    """The share of planted copies found, by the share of lines edited, without and with variables renamed."""
    chance = random.Random(1)
    fit = [n for n, text in enumerate(texts) if 8 <= text.count("\n") < 60 and len(clones.normal(text)) >= 60]
    chosen = chance.sample(fit, 200)
    said = {}
    for renamed in (False, True):
        for share in EDITS:
            copies = [edited(texts[n], share, chance) for n in chosen]
            copies = [_VARIABLE.sub(_renamed, copy) for copy in copies] if renamed else copies
            found = {(p.one, p.other) for p in clones.pairs([*owners, *[-1] * len(copies)], [*texts, *copies])}
            hits = sum((n, len(texts) + m) in found for m, n in enumerate(chosen))
            said[f"{share:.0%}{' renamed' if renamed else ''}"] = round(hits / len(chosen), 3)
    return said


def _renamed(match: re.Match[str]) -> str:
    return match[0] if match[0] in clones.KEYWORDS else f"q_{match[0]}"


def edited(text: str, share: float, chance: random.Random) -> str:
    """A function with about `share` of its lines changed."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if not line.strip() or chance.random() >= share:
            lines.append(line)
        elif (kind := chance.random()) >= 0.6:
            lines.append(f"{indent}changed_{chance.randrange(99)} = transform_{chance.randrange(99)}(a, {chance.randrange(9)}).item()")
        elif kind >= 0.3:
            lines += [line, f"{indent}extra_{chance.randrange(99)} = compute_{chance.randrange(99)}(other)"]
    return "\n".join(lines)


def speed(owners: list[int], texts: list[str]) -> dict[str, float]:
    """Seconds for 10^5 functions: those at hand, repeated with called names that differ."""
    many: list[str] = []
    whose: list[int] = []
    for turn in range(1 + 100_000 // len(texts)):
        many += [re.sub(r"(\w+)\(", rf"\1_{turn}(", text) for text in texts]
        whose += [owner + 1000 * turn for owner in owners]
    many, whose = many[:100_000], whose[:100_000]
    start, busy = time.perf_counter(), time.process_time()
    clones.pairs(whose, many)
    took = {"seconds": round(time.perf_counter() - start, 1), "cpu_seconds": round(time.process_time() - busy, 1)}
    return {"functions": len(many), "megabytes": round(sum(map(len, many)) / 1e6, 1)} | took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--verdicts", type=Path, default=HERE / "reuse_pairs.jsonl")
    parser.add_argument("--sample", type=int, default=0, help="print N changed copies to read, instead of measuring")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    parsed = list(documents(options.repos))
    found = list(derivations(parsed, Ages({}, frozenset(), {})))
    if options.sample:
        print("\n".join(json.dumps(row) for row in sample(found, options.sample)))
        return
    pairs = [(d.work, d.text[s.start : s.end]) for d in parsed for s in d.spans if s.role in DEFINITIONS]
    numbers = {work: n for n, work in enumerate(sorted({work for work, _ in pairs}))}
    owners, texts = [numbers[work] for work, _ in pairs], [text for _, text in pairs]
    kinds = {kind: sum(one.kind == kind for one in found) for kind in ("exact", "renamed", "adapted")}
    said = {
        "repositories": len(numbers),
        "functions": len(texts),
        "found": kinds,
        "precision": precision(found, options.verdicts),
        "recall": recall(owners, texts),
        "speed": speed(owners, texts),
    }
    print(json.dumps(said) if options.json else "\n".join(f"{name:<14}{value}" for name, value in said.items()))


if __name__ == "__main__":
    run_benchmark(main)
