"""What each part of retrieval brings: every set with one part taken away, or with one part alone.

    python -m benchmarks.ablation --data DIR [--corpora DIR] [--with DIR] [--embedder packaged] [--sets scireplicate,rcb]
                                  [--cache DIR] [--only NAME ...] [--home HOME --lineage NAME ...]

The sets, the options and what counts as found are those of `benchmarks/evidence.py`. Prints a table in Markdown: R@5 of
every kind of question, and the means of R@1, R@5 and MRR@10 over kinds. Windows are 40 lines, a step of 20, with their path
for a header, embedded and indexed like any chunk; they and chunks without headers are left to sets of fewer than `MOST`
chunks, which a laptop embeds in a minute. Priors mean most in a lineage: with `--home`, the questions of
`benchmarks/questions.jsonl` are asked of lineages that were built there, with each prior and without.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from api.evaluation import trial
from benchmarks import evidence
from benchmarks.evidence import Corpus
from benchmarks.parts import run_benchmark
from indexer.parsers.select import select
from lineage import registry
from lineage.catalog import reader
from lineage.generation import open_generation
from lineage.ports import Embedder
from lineage.records import Chunk
from retrieval.evaluation import Scores, case_of, scores
from retrieval.search.engine import Engine
from retrieval.search.priors import FusionWeights, fitted
from retrieval.search.query import Vocabulary, make_query

MOST = 5_000
WINDOW, STEP = 40, 20
Cut = Callable[[Path], list[Chunk]]


def windows(folder: Path) -> list[Chunk]:
    """Lines of files instead of units."""
    return [chunk for path in evidence.files(folder) for chunk in _windows(path.relative_to(folder).as_posix(), path.read_bytes())]


def _windows(path: str, data: bytes) -> Iterator[Chunk]:
    if not select(path, data).parser:
        return
    lines = data.decode("utf-8", "replace").split("\n")
    for start in range(0, max(1, len(lines) - STEP), STEP):
        part = "\n".join(lines[start : start + WINDOW])
        if part.strip():
            begin = sum(len(line) + 1 for line in lines[:start])
            name = "c_" + hashlib.sha256(f"{path}\0{start}".encode()).hexdigest()[:20]
            last = min(len(lines), start + WINDOW)
            yield Chunk(name, evidence.work_of(path), path, "code", "block", part, path, begin, begin + len(part), start + 1, last)


def headless(folder: Path) -> list[Chunk]:
    """The product's units without what their headers say."""
    return [replace(chunk, header="") for chunk in evidence.code_chunks(folder)]


@dataclass(frozen=True)
class Variant:
    """What differs from the product: how code is cut, the embedder, the engine's options, what a hit shows; `change` its weights."""

    name: str
    cut: Cut = evidence.code_chunks
    embedder: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    around: bool = True

    @property
    def builds(self) -> bool:
        """Whether it needs chunks of its own."""
        return self.cut is not evidence.code_chunks


VARIANTS = (
    Variant("everything"),
    Variant("chunks alone, nothing around them", around=False),
    Variant("no vocabulary", options={"words": Vocabulary(())}),
    Variant("no disfavour of top-level statements", change={"toplevel": 0.0}),
    Variant("no disfavour of abstracts", change={"abstract": 0.0}),
    Variant("no other passages of a paper", change={"siblings": 0.0}),
    Variant("words alone", options={"vectors": False}),
    Variant("transformer alone", change={"dense": 1.0}),
    Variant("first tier: words and static", embedder="static"),
    Variant("static alone", embedder="static", change={"dense": 1.0}),
    Variant("no headers", cut=headless),
    Variant("windows of 40 lines", cut=windows),
    Variant("windows of 40 lines, words alone", cut=windows, options={"vectors": False}),
)


@dataclass
class Bench:
    """The sets as generations, each built once for a cut and an embedder."""

    args: argparse.Namespace
    scratch: Path
    stack: ExitStack
    embedders: dict[str, Embedder | None] = field(default_factory=dict)
    built: dict[tuple[str, str, str], Corpus | None] = field(default_factory=dict)

    def corpus(self, one: evidence.Set, variant: Variant) -> Corpus | None:
        """A set for a variant; None where its corpus is missing or too large for another cut of it."""
        name = variant.embedder or self.args.embedder
        key = one.name, variant.cut.__name__, name
        if key not in self.built:
            self.built[key] = self._opened(one, variant, name)
        return self.built[key]

    def _opened(self, one: evidence.Set, variant: Variant, name: str) -> Corpus | None:
        plain = self.corpus(one, Variant("everything")) if variant.builds else None
        if variant.builds and (not plain or not plain.folders or len(plain.chunks) > MOST):
            return None
        if name not in self.embedders:
            embedder = evidence.embedder_of(name)
            self.embedders[name] = evidence.Remembering(embedder) if embedder else None
        return evidence.opened(one, self.args, self.embedders[name], self.scratch, self.stack, variant.cut)


def reached(corpus: Corpus, variant: Variant) -> dict[str, Scores]:
    """The scores of every kind of question of a set."""
    base = fitted(corpus.generation.manifest.embedder)
    engine = corpus.engine(weights=replace(base, **variant.change), **variant.options)
    found = {}
    for field_ in corpus.one.fields:
        queries = [replace(make_query(evidence.asked(q, field_), k=evidence.K), around=variant.around) for q in corpus.questions]
        places, _ = evidence.ranks(corpus.score, engine.ask_many(queries), corpus.questions)
        for kind, members in evidence.groups(corpus.questions):
            found[evidence.called(corpus.one, kind, field_)] = scores([places[n] for n in members])
    return found


def table(bench: Bench, sets: Sequence[evidence.Set], variants: Sequence[Variant]) -> None:
    """Prints a row as soon as it is there; means are over the kinds that the row has."""
    kinds: list[str] = []
    for variant in variants:
        found: dict[str, Scores] = {}
        for one in sets:
            corpus = bench.corpus(one, variant)
            found |= reached(corpus, variant) if corpus else {}
        if not kinds:
            kinds = list(found)
            print("| part | " + " | ".join(kinds) + " | mean R@1, R@5, MRR@10 |\n|---|" + "---|" * (len(kinds) + 1))
        if found:
            means = ", ".join(f"{np.mean(values):.3f}" for values in zip(*((s.recall[1], s.recall[5], s.mrr) for s in found.values()), strict=True))
            print(
                f"| {variant.name} | " + " | ".join(f"{found[kind].recall[5]:.3f}" if kind in found else "" for kind in kinds) + f" | {means} |",
                flush=True,
            )


# -- the graph, in lineages that were built


def graph(home: Path, lineages: Sequence[str], embedder: Embedder | None) -> None:
    """Prints what our own questions reach, with one prior taken away at a time."""
    asked = {file: evidence.rows(Path(__file__).parent / f"{file}.jsonl") for file in ("questions", "questions_blind", "questions_further")}
    for name, (file, questions) in product(lineages, asked.items()):
        cases = [case_of(row) for row in questions if row["lineage"] == name]
        if not cases:
            continue
        with open_generation(home, name) as generation:
            index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None
            base = fitted(generation.manifest.embedder)
            for said, weights in _opinions(base):
                made = trial(Engine(generation, (lambda: embedder) if embedder else None, index, weights), cases)
                print(f"{name} {file:15s} {said:38s} {made.all}", flush=True)


def _opinions(base: FusionWeights) -> Iterator[tuple[str, FusionWeights]]:
    yield "everything", base
    yield "no prior of the lineage", replace(base, graph=0.0)
    yield "no favour for the target's own text", replace(base, target=0.0)
    yield "no favour for the target's code", replace(base, own=0.0)
    yield "no favour for what states a value", replace(base, stated=0.0)
    yield "no disfavour of top-level statements", replace(base, toplevel=0.0)
    yield "no disfavour of abstracts", replace(base, abstract=0.0)
    yield "no other passages of a paper", replace(base, siblings=0.0)


def main() -> None:
    parser = evidence.arguments(__doc__)
    parser.add_argument("--only", action="append", help="parts to look at, by name")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--lineage", action="append", default=[])
    args = parser.parse_args()
    reader.DEADLINE = 600.0  # a busy machine must not cost a question
    if args.home:
        embedder = evidence.embedder_of(args.embedder)
        graph(args.home, args.lineage, evidence.Remembering(embedder) if embedder else None)
        return
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        table(Bench(args, scratch, stack), evidence.chosen(args.sets), [one for one in VARIANTS if not args.only or one.name in args.only])


if __name__ == "__main__":
    run_benchmark(main)
