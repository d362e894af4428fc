"""Train the table of the first tier: `python -m benchmarks.models.train_static --pairs FILE [--out DIR]`.

A vector a word, of the words that the lexical index knows too (`lineage.text.tokens`: stems, parts of identifiers, identifiers
whole), and two weights a word, one in questions and one in passages; a text's vector is the weighted sum, a word that
occurs n times counting 1 + log n. The table begins as the packaged transformer's vectors of the words alone, reduced by
principal components, and is trained contrastively on the same pairs as the transformer, in batches of whole packages so
that negatives are hard. Minutes on two cores. The same pairs and seed give the same table up to the order of sums.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.models.samples import SELF_TEST
from indexer.embedders.static import FOLDER, SELF_TEST_FILE, TABLE, WordTable, bag
from lineage.text.tokens import tokens

CARD = """# static-256

One vector of {dim} dimensions a word and two weights, one for questions and one for passages: {count} words of the lexical index
(`lineage.text.tokens`: stems, parts of identifiers, whole identifiers). A text's vector is the weighted sum of its words' vectors, a
word that occurs n times counting 1 + log n, normalised. English text and code.

- Begun as the vectors that the packaged transformer ({teacher}) gives the words alone, reduced by principal components,
  then trained contrastively by `python -m benchmarks.models.train_static` on pairs of questions and passages made by
  template from the docstrings, comments, option texts and documentation of packages under permissive licences:
  `benchmarks/models/README.md` has the command and figures, `benchmarks/models/LICENCES.md` every package. Packages that the
  evaluation asks about, and passages that share six lines with any file of it, are not among them.
- {pairs} pairs (SHA-256 `{source}`), {epochs} passes, seed {seed}.
- table.npz: {size:.1f} MB: codes of 8 bits, the rows' scales in the weights; no pickle. SHA-256 `{sha256}`

`selftest.json` holds texts and their vectors: were words cut otherwise than in training, the embedder would refuse to work.
"""
NOTICE = """static-256
Part of lineage, under its licence.

Begun as vectors of granite-embedding-30m-english, Copyright IBM, Apache License, Version 2.0
(`../granite30m/LICENSE`), see CARD.md.
"""
BATCH, BLOCK = 1024, 32
LEAST = 12
"""Occurrences a word needs in all pairs, and it has to occur in three packages."""
PACKAGES = 3


@dataclass(frozen=True)
class Bags:
    """Texts as rows of word numbers with their log counts."""

    numbers: Sequence[NDArray[np.int64]]
    counts: Sequence[NDArray[np.float32]]

    @classmethod
    def of(cls, texts: Sequence[str], places: dict[str, int]) -> Bags:
        made = [bag(text, places) for text in texts]
        return cls([numbers for numbers, _ in made], [counts for _, counts in made])

    def batch(self, rows: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Word numbers, counts and where each text begins."""
        lengths = [len(self.numbers[row]) for row in rows]
        starts = torch.tensor(np.cumsum([0, *lengths[:-1]]))
        numbers, counts = (np.concatenate([some[row] for row in rows]) for some in (self.numbers, self.counts))
        return torch.from_numpy(numbers), torch.from_numpy(counts), starts


class Static(nn.Module):
    """The table with the logarithms of its two weights."""

    def __init__(self, table: Tensor, weights: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table)
        self.weights = nn.Parameter(weights.log().repeat(2, 1))
        self.scale = nn.Parameter(torch.tensor(3.0))

    def forward(self, side: int, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Unit vectors of questions (side 0) or passages (side 1)."""
        numbers, counts, starts = batch
        weights = self.weights[side][numbers].exp() * counts
        return functional.normalize(functional.embedding_bag(numbers, self.table, starts, mode="sum", per_sample_weights=weights), dim=-1)


def words_of(rows: Sequence[dict[str, str]], most: int) -> tuple[list[str], NDArray[np.float32]]:
    """The words of the table, most frequent first, and how often each occurs."""
    count: Counter[str] = Counter()
    homes: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found = tokens(row["query"]) + tokens(row["passage"])
        count.update(found)
        for word in set(found):
            if len(homes[word]) < PACKAGES:
                homes[word].add(row["package"])
    kept = [word for word, number in count.most_common() if number >= LEAST and len(homes[word]) >= PACKAGES and len(word) <= 40][:most]
    return kept, np.array([count[word] for word in kept], np.float32)


def start(words: Sequence[str], frequency: NDArray[np.float32], dim: int) -> Static:
    """The words' vectors by the packaged transformer, their mean and all but `dim` components taken away; rare words weigh more."""
    from indexer.embedders.packaged import Packaged

    vectors = Packaged().queries(words)
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred[:: max(1, len(centred) // 8000)], full_matrices=False)
    table = centred @ axes[:dim].T
    table /= np.linalg.norm(table, axis=1, keepdims=True) + 1e-9
    smooth = 1e-4 * float(frequency.sum())
    return Static(torch.from_numpy(table.astype(np.float32)), torch.from_numpy(smooth / (smooth + frequency)))


def order(packages: Sequence[str], rng: Random) -> list[int]:
    """All rows, shuffled, in blocks of one package."""
    by_package: dict[str, list[int]] = defaultdict(list)
    for row, package in enumerate(packages):
        by_package[package].append(row)
    blocks = []
    for rows in by_package.values():
        rng.shuffle(rows)
        blocks += [rows[at : at + BLOCK] for at in range(0, len(rows), BLOCK)]
    rng.shuffle(blocks)
    return [row for block in blocks for row in block]


def train(model: Static, sides: tuple[Bags, Bags], packages: Sequence[str], epochs: int, rng: Random, rate: float) -> None:
    """Adam over so many passes, its rate falling to zero."""
    optimizer = torch.optim.Adam([{"params": [model.table], "lr": rate}, {"params": [model.weights, model.scale], "lr": 5 * rate}])
    total, begun = epochs * (len(packages) // BATCH), time.time()
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / total))
    for epoch in range(epochs):
        rows, losses = order(packages, rng), []
        for at in range(0, len(rows) - BATCH + 1, BATCH):
            some = rows[at : at + BATCH]
            scores = model(0, sides[0].batch(some)) @ model(1, sides[1].batch(some)).T * model.scale.exp()
            right = torch.arange(BATCH)
            loss = (functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)) / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        print(f"pass {epoch + 1}: loss {np.mean(losses):.3f}, {time.time() - begun:.0f} s", flush=True)


def write(folder: Path, model: Static, words: Sequence[str]) -> bytes:
    """The table as bytes with the rows' scales in the weights, the words, and the vectors of the self-test; gives the file's bytes."""
    table, weights = model.table.detach().numpy(), model.weights.detach().exp().numpy()
    steps = np.abs(table).max(axis=1) / 127 + 1e-12
    arrays: dict[str, NDArray[Any]] = {
        "table": np.round(table / steps[:, None]).astype(np.int8),
        "weights": (weights * steps).astype(np.float32),
        "words": np.frombuffer("\n".join(words).encode(), np.uint8),
    }
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / TABLE, **arrays)  # type: ignore[arg-type]
    made = WordTable.read(folder / TABLE, "")
    stored = {"texts": SELF_TEST, "vectors": [[round(float(x), 5) for x in row] for row in made.vectors(SELF_TEST, 1)]}
    (folder / SELF_TEST_FILE).write_text(json.dumps(stored) + "\n", encoding="utf-8")
    return (folder / TABLE).read_bytes()


def describe(folder: Path, data: bytes, **facts: Any) -> None:
    """Card and notice; prints the hash to pin."""
    from indexer.embedders.packaged import Packaged

    sha256 = hashlib.sha256(data).hexdigest()
    (folder / "CARD.md").write_text(CARD.format(**facts, teacher=Packaged.id, size=len(data) / 1e6, sha256=sha256), encoding="utf-8")
    (folder / "NOTICE").write_text(NOTICE, encoding="utf-8")
    print(f'{len(data) / 1e6:.1f} MB\nTABLE_SHA256 = "{sha256}"')


def main() -> None:
    """Count, start, train, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--words", type=int, default=32_000)
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    with arguments.pairs.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    words, frequency = words_of(rows, arguments.words)
    print(len(rows), "pairs", len(words), "words", flush=True)
    places = {word: place for place, word in enumerate(words)}
    sides = Bags.of([row["query"] for row in rows], places), Bags.of([row["passage"] for row in rows], places)
    kept = [row for row in range(len(rows)) if len(sides[0].numbers[row]) and len(sides[1].numbers[row])]
    sides = tuple(Bags([side.numbers[row] for row in kept], [side.counts[row] for row in kept]) for side in sides)
    model = start(words, frequency, arguments.dim)
    train(model, (sides[0], sides[1]), [rows[row]["package"] for row in kept], arguments.epochs, Random(arguments.seed), arguments.rate)
    data = write(arguments.out, model, words)
    facts = {"pairs": len(kept), "epochs": arguments.epochs, "seed": arguments.seed, "dim": arguments.dim, "count": len(words)}
    describe(arguments.out, data, source=hashlib.sha256(arguments.pairs.read_bytes()).hexdigest(), **facts)


if __name__ == "__main__":
    main()
