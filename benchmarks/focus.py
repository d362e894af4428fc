"""Fits what tells the lines of code that answer, and writes it as data: `retrieval/data/focus.json`.

    python -m benchmarks.focus --wheels DIR | --asked FILE.jsonl [--every N] [--write]

The questions about code of `benchmarks/models/asked.jsonl`, whose passages are read out of the wheels; or a file of one's own, one JSON
object a line: `package`, `text` of a passage, `lines` [first, last] of it (from 1) that answer, `question`.

A linear model over the signs of `retrieval/search/line_scores.py`; what is minimised is the listwise loss (a right line above all others) and half
of the logistic one, so that the weights both choose and say where to stop. All questions of a style count the same together, short hints
(which have the least words to go by) twice. One package in five is held out; for their questions
stand beside each other the share of the focus that is right, the share of the right lines in it and its length, by the plain rule
(`retrieval/search/focus.py`) and by the packaged model. No question of the evaluation's data has a part in it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.models.asked import PROSE, WHOLE, passages
from benchmarks.parts import run_benchmark
from lineage import registry
from lineage.ports import Embedder
from lineage.records import Focus
from lineage.text.tokens import terms, tokens, variants
from retrieval.search.candidates import COMMON, VARIANTS
from retrieval.search.focus import focus, rarity
from retrieval.search.line_scores import focus_of_code, signs

OUT = Path(__file__).resolve().parent.parent / "retrieval" / "data" / "focus.json"
FOLDS = 5
LISTWISE, LOGISTIC = 1.0, 0.5
COUNTS = {"C": 2.0}
"""What all questions of a style count together, where it is not 1."""
STRENGTH = 1e-3
ITERATIONS = 150
Floats = NDArray[np.float64]
Told = tuple[str, str, tuple[int, int], str, str]
"""Package, passage, first and last line that answer (from 1), question and its style."""


@dataclass(frozen=True)
class Asked:
    """A question about a passage of a package, the lines of it that answer (from 0), and the rarity of its words."""

    package: str
    text: str
    first: int
    last: int
    question: str
    style: str
    worth: dict[str, float]

    @property
    def held_out(self) -> bool:
        """Whether its package is one of the fifth that is only measured on."""
        return int(hashlib.sha256(self.package.encode()).hexdigest(), 16) % FOLDS == 0


def read(path: Path) -> Iterator[Told]:
    """The rows of a file, all of one style."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["package"], row["text"], tuple(row["lines"]), row["question"], ""


def of_wheels(folder: Path) -> Iterator[Told]:
    """The committed questions about code whose packages are there."""
    for row, text in passages(folder):
        for style, first, last, question in row.asked:
            if style not in PROSE | WHOLE:
                yield row.package, text, (first, last), question, style


def asked(told: Iterable[Told]) -> list[Asked]:
    """The rows with the worth of their words, as if the passages were all that an index holds."""
    given = list(told)
    texts = {text for _, text, *_ in given}
    often = Counter(token for text in texts for token in set(tokens(text)))
    rare = rarity(often, len(texts))
    return [
        Asked(package, text, first - 1, last - 1, question, style, _worth(question, often, rare, len(texts)))
        for package, text, (first, last), question, style in given
        if first <= last <= text.count("\n") + 1
    ]


def _worth(question: str, often: Counter[str], rare: dict[str, float], documents: int) -> dict[str, float]:
    forms = {form: VARIANTS * rare[form] for form in variants(question) if 0 < often[form] <= COMMON * documents}
    return forms | {term: rare[term] for term in terms(question) if term in rare}


def fitted(some: Sequence[Asked], table_of_words: Embedder | None = None) -> dict[str, float]:
    """What each sign weighs, unscaled; under the empty name the constant."""
    tables = [signs(one.text.split("\n"), one.worth, one.question, table_of_words) for one in some]
    names = list(tables[0])
    table = np.concatenate([np.stack([found[name] for name in names], 1) for found in tables])
    right = np.concatenate([_right(one) for one in some])
    starts = np.cumsum([0, *(len(found[names[0]]) for found in tables)])[:-1]
    mean, scale = table.mean(0), table.std(0) + 1e-6
    table -= mean
    table /= scale
    best = minimize(_loss, np.zeros(len(names) + 1), (table, right, starts, _counts(some)), "L-BFGS-B", jac=True, options={"maxiter": ITERATIONS})
    weights = best.x[1:] / scale
    return {"": round(float(best.x[0] - weights @ mean), 5)} | {name: round(float(weight), 5) for name, weight in zip(names, weights, strict=True)}


def _right(one: Asked) -> Floats:
    at = np.arange(one.text.count("\n") + 1)
    return ((one.first <= at) & (at <= one.last)).astype(np.float64)


def _counts(some: Sequence[Asked]) -> Floats:
    """What each question counts, 1 in the mean."""
    often = Counter(one.style for one in some)
    counts = np.array([COUNTS.get(one.style, 1.0) / often[one.style] for one in some])
    return np.asarray(counts / counts.mean())


def _loss(weights: Floats, table: Floats, right: Floats, starts: NDArray[np.int64], counts: Floats) -> tuple[float, Floats]:
    """Listwise and logistic loss of one weight a column (the first is the constant), and the slope."""
    logits = np.clip(table @ weights[1:] + weights[0], -30, 30)
    odds = np.exp(logits)
    rows = np.diff([*starts, len(odds)])
    all_, gold = np.add.reduceat(odds, starts), np.add.reduceat(odds * right, starts)
    by_line = np.repeat(counts, rows)
    listwise = np.mean(counts * (np.log(all_) - np.log(gold)))
    likely = odds / (1 + odds)
    logistic = -np.mean(by_line * (right * np.log(likely) + (1 - right) * np.log1p(-likely)))
    first = odds * (1 / np.repeat(all_, rows) - right / np.repeat(gold, rows)) / len(starts)
    slope = by_line * (LISTWISE * first + LOGISTIC * (likely - right) / len(odds))
    value = LISTWISE * listwise + LOGISTIC * logistic + STRENGTH * float(weights[1:] @ weights[1:])
    return float(value), np.concatenate([[slope.sum()], table.T @ slope + 2 * STRENGTH * weights[1:]])


def measured(some: Sequence[Asked], rule: Callable[[Asked], Focus | None]) -> str:
    """Share of the focus that is right, share of the right lines in it (both 0 without a focus), and its mean length."""
    precision, recall, length = np.mean([_shares(one, rule(one)) for one in some], 0)
    return f"right {precision:.3f}  of the right {recall:.3f}  lines {length:.1f}"


def _shares(one: Asked, found: Focus | None) -> tuple[float, float, int]:
    if not found:
        return 0.0, 0.0, 0
    both = max(0, min(one.last, found.end_line) - max(one.first, found.start_line) + 1)
    length = found.end_line - found.start_line + 1
    return both / length, both / (one.last - one.first + 1), length


def main() -> None:
    """Fit, write where asked to, and measure on the packages held out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--wheels", type=Path)
    source.add_argument("--asked", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take one question in N")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    every = asked(of_wheels(arguments.wheels) if arguments.wheels else read(arguments.asked))
    some = [every[at] for at in sorted(Random(0).sample(range(len(every)), len(every) // arguments.every))]
    held, kept = [one for one in some if one.held_out], [one for one in some if not one.held_out]
    static, fit_on = registry.load("embedders", "static")(), len({one.package for one in kept})
    weights = {"words": fitted(kept), "vectors": fitted(kept, static)}
    if arguments.write:
        provenance = {
            "by": "benchmarks/focus.py --write",
            "on": date.today().isoformat(),
            "questions": len(kept),
            "packages": fit_on,
            "table": static.id,
        }
        OUT.write_text(json.dumps({"provenance": provenance, **weights}, indent=1) + "\n", "utf-8")
    rules: dict[str, Callable[[Asked], Focus | None]] = {
        "plain": lambda one: focus(one.text, 0, one.worth),
        "packaged, words alone": lambda one: focus_of_code(one.text, 0, one.worth, one.question),
        "packaged, with vectors": lambda one: focus_of_code(one.text, 0, one.worth, one.question, static),
    }
    for name, rule in rules.items():
        print(f"{name:22s} n={len(held)}  {measured(held, rule)}")


if __name__ == "__main__":
    run_benchmark(main)
