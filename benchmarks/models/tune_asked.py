"""Tune the model on written questions, after the templates.

    python -m benchmarks.models.tune_asked --wheel FILE --tuned FILE.npz --share S --asked FILE [--later FILE] --pairs FILE --out FILE.npz

A batch holds ASKED written questions (of them LATER of the second round, where there is one), in runs of RUN out of one package,
each with one passage that looks like its answer and is none, and TEMPLATES pairs of `tune_granite`, so that what those taught is
not lost. It begins with the average of the stock weights and tuned ones, `--share` of the latter. Otherwise as `tune_granite`,
whose clock, rate and loss these are, with longer questions: paragraphs of a paper are among those of the second round.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from benchmarks.models.asked import kept_out
from benchmarks.models.make_granite import averaged
from benchmarks.models.network import Encoder
from benchmarks.models.pack import read_wheel
from benchmarks.models.tune_granite import Batches, Row, Tuning, load, told, train

ASKED, LATER, RUN, TEMPLATES = 30, 18, 3, 10
QUERY_TOKENS = 144


class Written:
    """Written questions in runs of one package, each once before any comes again; those of packages that are kept out never."""

    def __init__(self, path: Path, rng: Random) -> None:
        self.rng = rng
        self.by_package: dict[str, list[dict[str, Any]]] = defaultdict(list)
        with path.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if not kept_out(row["package"]):
                    self.by_package[row["package"]].append(row)
        self.rows = self._forever()

    def next(self, count: int) -> tuple[list[Row], list[str]]:
        """So many rows and a negative of each that has one."""
        drawn = [next(self.rows) for _ in range(count)]
        rows = [(row["package"], row["query"], self.rng.choice(row["passages"]), row["kind"]) for row in drawn]
        return rows, [self.rng.choice(row["negatives"]) for row in drawn if row["negatives"]]

    def _forever(self) -> Iterator[dict[str, Any]]:
        while True:
            runs = []
            for some in self.by_package.values():
                self.rng.shuffle(some)
                runs += [some[at : at + RUN] for at in range(0, len(some), RUN)]
            self.rng.shuffle(runs)
            yield from (row for some in runs for row in some)


class Mixed(Batches):
    """Written questions with pairs by template among them."""

    def __init__(self, templates: list[Row], written: Written, later: Written | None, rng: Random) -> None:
        super().__init__(templates, rng)
        self.parts = [(written, ASKED - LATER), (later, LATER)] if later else [(written, ASKED)]

    def next(self) -> tuple[list[Row], list[str]]:
        drawn = [written.next(count) for written, count in self.parts]
        rows = [row for some, _ in drawn for row in some]
        return rows + [self.anywhere() for _ in range(TEMPLATES)], [text for _, negatives in drawn for text in negatives]


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuned", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.75)
    parser.add_argument("--asked", type=Path, required=True)
    parser.add_argument("--later", type=Path, help="pairs of the second round")
    arguments = told(parser, minutes=50, rate=4e-5)
    pack = read_wheel(arguments.wheel)
    start = averaged(pack, dict(np.load(arguments.tuned)), arguments.share)
    later = Written(arguments.later, Random(arguments.seed)) if arguments.later else None
    batches = Mixed(load(arguments.pairs), Written(arguments.asked, Random(arguments.seed)), later, Random(arguments.seed))
    tokenizer = Tokenizer.from_str(pack.tokenizer.decode())
    train(Tuning(Encoder(start).train(), tokenizer, batches, arguments.rate, QUERY_TOKENS), arguments)


if __name__ == "__main__":
    main()
