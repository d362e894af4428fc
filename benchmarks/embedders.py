"""Embedders side by side, dense only: quality on other people's gold, and chunks a second.

    python -m benchmarks.embedders --data DIR [--corpora DIR] [--embedder packaged] [--embedder fake] ...

DIR holds code/scireplicate.{jsonl,files.jsonl.gz} and questions/packages.jsonl. The second set needs the
three packages of questions/versions.json, unzipped into one folder (`pip download --no-deps`, `unzip`), given
as --corpora; its pool is every window that overlaps gold and a fixed sample of the others (--pool). Texts are
windows of 24 lines, step 12, under their path. A hit counts as in score.py: half of min(gold lines, 40) shown.

Embedders are named as in LINEAGE_EMBEDDER (`sentence-transformers:<folder>`, `openai:<model>`), or `fake`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lineage import registry, settings
from lineage.ports import Embedder
from tests.fakes.embedder import HashingEmbedder

SIZE, STEP, DEPTH = 24, 12, 10
KEPT = (".py", ".md", ".sh", ".yaml", ".yml", ".cu", ".cpp", ".h", ".json", ".toml", ".txt")


@dataclass(frozen=True)
class Window:
    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Case:
    kind: str
    question: str
    gold: tuple[Mapping[str, Any], ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--embedder", action="append", help="default: packaged and fake")
    parser.add_argument("--pool", type=int, default=4000)
    arguments = parser.parse_args()
    sets = dict(_sets(arguments.data, arguments.corpora, arguments.pool))
    for name in arguments.embedder or ["packaged", "fake"]:
        embedder = _embedder(name)
        embedder.queries(["warm up"])
        for title, (windows, cases) in sets.items():
            _row(f"{embedder.id}", title, embedder, windows, cases)


def _embedder(name: str) -> Embedder:
    if name == "fake":
        return HashingEmbedder(dim=256)
    plugin, _, model = name.partition(":")
    embedder: Embedder = registry.load("embedders", plugin)(model, settings.load())
    return embedder


def _sets(data: Path, corpora: Path | None, pool: int) -> Iterator[tuple[str, tuple[list[Window], list[Case]]]]:
    cases = _cases(data / "code/scireplicate.jsonl", "query_noid")
    with gzip.open(data / "code/scireplicate.files.jsonl.gz", "rt", encoding="utf-8") as lines:
        files = [json.loads(line) for line in lines]
    yield "scireplicate", (list(_windows((row["path"], row["text"]) for row in files)), cases)
    if corpora is not None:
        cases = _cases(data / "questions/packages.jsonl", "query")
        texts = ((str(path.relative_to(corpora)), path.read_text("utf-8", "replace")) for path in sorted(corpora.rglob("*")) if path.is_file())
        yield "questions", (_sample(list(_windows(texts)), cases, pool), cases)


def _cases(path: Path, field: str) -> list[Case]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Case(row.get("kind", "all"), row.get(field) or row["query"], _gold(row)) for row in rows]


def _gold(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    first = row["gold"] if isinstance(row["gold"], list) else [row["gold"]]
    return (*first, *row.get("also", []))


def _windows(files: Iterable[tuple[str, str]]) -> Iterator[Window]:
    for path, text in files:
        if not path.endswith(KEPT) or Path(path).name.startswith("paper."):
            continue
        lines = text.split("\n")
        for start in range(0, max(1, len(lines) - SIZE + STEP), STEP):
            shown = "\n".join(lines[start : start + SIZE])
            if shown.strip():
                yield Window(path, start + 1, min(len(lines), start + SIZE), f"{path}\n{shown}")


def _sample(windows: list[Window], cases: Sequence[Case], pool: int) -> list[Window]:
    gold = {id(window) for case in cases for window in windows if _overlap(window, case) > 0}
    others = [window for window in windows if id(window) not in gold]
    others.sort(key=lambda window: hashlib.sha256(f"{window.path}:{window.start}".encode()).digest())
    return [window for window in windows if id(window) in gold] + others[:pool]


def _overlap(window: Window, case: Case) -> float:
    """The largest share of min(gold lines, 40) that the window shows."""
    return max((_share(window, gold) for gold in case.gold if gold["path"].lower() == window.path.lower()), default=0.0)


def _share(window: Window, gold: Mapping[str, Any]) -> float:
    inside = min(window.end, gold["end"]) - max(window.start, gold["start"]) + 1
    return inside / min(gold["end"] - gold["start"] + 1, 40)


def _row(name: str, title: str, embedder: Embedder, windows: Sequence[Window], cases: Sequence[Case]) -> None:
    start = time.perf_counter()
    passages = embedder.passages([window.text for window in windows])
    rate = len(windows) / (time.perf_counter() - start)
    scores = embedder.queries([case.question for case in cases]) @ passages.T
    ranks = np.array([_rank(windows, case, row) for case, row in zip(cases, scores, strict=True)])
    kinds = sorted({case.kind for case in cases})
    for kind in kinds if len(kinds) == 1 else ["all", *kinds]:
        chosen = ranks[[kind in ("all", case.kind) for case in cases]]
        mrr, recall = (1 / chosen).mean(), (chosen <= 5).mean()
        print(
            f"{name:34.34} {title:13} {kind:11} n={len(chosen):<4} MRR@10 {mrr:.3f}  R@5 {recall:.3f}  {len(windows)} windows {rate:.1f}/s",
            flush=True,
        )


def _rank(windows: Sequence[Window], case: Case, scores: np.ndarray[Any, Any]) -> float:
    best = np.argsort(-scores, kind="stable")[:DEPTH]
    return next((float(rank) for rank, i in enumerate(best, 1) if _overlap(windows[i], case) >= 0.5), np.inf)


if __name__ == "__main__":
    main()
