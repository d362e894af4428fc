"""Embedders compared: quality of dense retrieval alone, and chunks a second.

    python -m benchmarks.embedders --data DIR --corpora CORPORA [--embedder packaged --embedder static ...] [--pool 3000]

The chunks and texts that the product embeds, the sets and the rule of what counts as found of `benchmarks/evidence.py`; no
lexical search, no priors. Of the packages, which have some 33,000 chunks, all that answer a question are taken and `--pool`
others, the same for every embedder. An embedder is named as in LINEAGE_EMBEDDER, e.g. `sentence-transformers:FOLDER`; `fake`
hashes words, and some of other packages are read out of their wheels (`benchmarks/carriers.py`). A row for every kind of
question, and the mean over kinds; speeds are of this machine and of what else it does.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from benchmarks import carriers, evidence
from benchmarks.evidence import Question, Set
from benchmarks.parts import run_benchmark
from indexer.documents import passage
from lineage import registry, settings
from lineage.ports import Embedder
from lineage.records import Chunk
from tests.fakes.embedder import HashingEmbedder

DEPTH, SHOWN = 10, 60
Case = tuple[Set, Sequence[Chunk], Sequence[Question], Sequence[frozenset[int]]]
"""A set, its chunks, its questions and, for each, the chunks that answer it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--embedder", action="append", help="default: packaged, static and fake")
    parser.add_argument("--sets", default=",".join(one.name for one in evidence.SETS))
    parser.add_argument("--pool", type=int, default=3000)
    arguments = parser.parse_args()
    cases = list(_cases(arguments.data, arguments.corpora, arguments.sets, arguments.pool))
    for name in arguments.embedder or ["packaged", "static", "fake"]:
        _report(_embedder(name), cases)


def _embedder(name: str) -> Embedder:
    if name == "fake":
        return HashingEmbedder(dim=256)
    if found := carriers.carried(name):
        return found
    plugin, _, model = name.partition(":")
    embedder: Embedder = registry.load("embedders", plugin)(model, settings.load())
    return embedder


def _cases(data: Path, corpora: Path, sets: str, pool: int) -> Iterator[Case]:
    score = evidence.scorer(data)
    for one in evidence.chosen(sets):
        if one.passages or (corpora / one.name).is_dir():
            chunks = evidence.passage_chunks(data / one.passages) if one.passages else evidence.code_chunks(corpora / one.name)
            questions = evidence.rows(data / one.questions)
            if one.name == "packages":
                chunks = _sample(chunks, frozenset[int]().union(*(_answers(score, question, chunks) for question in questions)), pool)
            yield one, chunks, questions, [_answers(score, question, chunks) for question in questions]


def _answers(score: ModuleType, question: Question, chunks: Sequence[Chunk]) -> frozenset[int]:
    """The chunks that a hit would show enough of the gold with."""
    gold = question["gold"]
    if isinstance(gold, list) and isinstance(gold[0], str):
        return frozenset(n for n, chunk in enumerate(chunks) if chunk.path in gold)
    shown = ((n, chunk.path, chunk.start_line, min(chunk.end_line, chunk.start_line + SHOWN - 1)) for n, chunk in enumerate(chunks))
    return frozenset(n for n, *place in shown if score.finds(*place, question))


def _sample(chunks: Sequence[Chunk], kept: frozenset[int], pool: int) -> list[Chunk]:
    others = sorted(set(range(len(chunks))) - kept, key=lambda n: hashlib.sha256(chunks[n].id.encode()).digest())
    return [chunks[n] for n in sorted([*kept, *others[:pool]])]


def _report(embedder: Embedder, cases: Sequence[Case]) -> None:
    embedder.queries(["warm up"])
    rows, spent, total = [], 0.0, 0
    for one, chunks, questions, answers in cases:
        start = time.perf_counter()
        vectors = embedder.passages([passage(chunk) for chunk in chunks])
        spent, total = spent + time.perf_counter() - start, total + len(chunks)
        for field in one.fields:
            scores = embedder.queries([evidence.asked(question, field) for question in questions]) @ vectors.T
            ranks = np.array([_rank(row, found) for row, found in zip(scores, answers, strict=True)])
            name = "" if field == "query" else " (no identifiers)"
            rows += [(f"{one.name} {kind}{name}", ranks[members]) for kind, members in evidence.groups(questions)]
    for name, ranks in rows:
        print(f"{embedder.id:36.36} {name:44} n={len(ranks):<4} R@5 {(ranks <= 5).mean():.3f}  MRR@10 {(1 / ranks).mean():.3f}")
    recall, mrr = (float(np.mean(column)) for column in zip(*(((ranks <= 5).mean(), (1 / ranks).mean()) for _, ranks in rows), strict=True))
    print(f"{embedder.id:36.36} {'mean over kinds':44} R@5 {recall:.3f}  MRR@10 {mrr:.3f}  {total / spent:.0f} chunks/s", flush=True)


def _rank(scores: np.ndarray, answers: frozenset[int]) -> float:
    best = np.argsort(-scores, kind="stable")[:DEPTH]
    return next((float(rank) for rank, n in enumerate(best, 1) if int(n) in answers), np.inf)


if __name__ == "__main__":
    run_benchmark(main)
