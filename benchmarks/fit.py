#!/usr/bin/env python3
"""Fits what retrieval weighs, on the development sets, and writes it as data: `retrieval/data/{weights,support}.json`.

    python -m benchmarks.fit --data DIR --corpora CORPORA [--cache DIR] [--embedder packaged] [--write]

1. Fusion. Every question's first candidates are dumped once with the parts of their score (lexical and dense in
   deviations, whether they are statements outside of functions) and whether what a hit would show of them finds the
   gold. Coordinate ascent over the weights then costs milliseconds a step; what counts is the mean over kinds of
   questions of (R@5 + MRR@10) / 2. A weight moves only if that gains `LEAST`; beside it stands what weights fitted on
   all other sets reach on each (leave one set out), which is what a new set may expect.
2. Abstaining. Each question is asked twice: with everything in the index, and without the repository or paper that
   holds its gold (a question of another paper, asked of this lineage). A logistic regression over `retrieval.support`'s
   signs tells the two apart; the threshold is where one answerable question in twenty is called unsupported. AUROC
   stands beside it by set, fitted on the others. Questions from outside of the field are told by a floor under the
   similarity of the nearest chunk, the model's own: one question in two hundred of the sets lies below.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import evidence as base  # noqa: E402
from lineage import registry  # noqa: E402
from lineage.catalog import reader  # noqa: E402
from lineage.generation import Generation, open_generation  # noqa: E402
from lineage.model import Chunk, WorkId  # noqa: E402
from lineage.ports import Embedder, VectorIndex, Vectors  # noqa: E402
from retrieval import candidates, fuse  # noqa: E402
from retrieval.candidates import Ranked, Scope, Words  # noqa: E402
from retrieval.evaluate import scores  # noqa: E402
from retrieval.fuse import Weights  # noqa: E402
from retrieval.query import plain  # noqa: E402
from retrieval.support import Signs, likelihood, signs  # noqa: E402
from retrieval.surroundings import grown  # noqa: E402
from retrieval.vocabulary import vocabulary  # noqa: E402

DEPTH = 30
LEAST = 0.002
FALSE = 0.05
FLOOR = 0.005
STEPS = {"dense": (-0.15, -0.1, -0.05, 0.05, 0.1, 0.15), "toplevel": (-0.5, -0.25, 0.25, 0.5)}
DATA = ROOT / "retrieval" / "data"
OUTSIDE = (
    "how do I renew a passport?", "best sourdough starter ratio of flour to water", "who won the football world cup in 1998?", "capital of Mongolia",
    "how tall is the Eiffel tower?", "symptoms of vitamin D deficiency", "change a bicycle tube step by step", "which wine goes with grilled salmon?",
    "cheapest flight from Lisbon to Tokyo in May", "rules of contract bridge bidding", "how to prune an apple tree in winter",
    "mortgage interest deduction for a second home", "difference between a crocodile and an alligator", "causes of the French revolution",
    "chords of a blues in E", "train timetable between Geneva and Milan", "recipe for a vegetarian lasagne", "how does a heat pump warm a house?",
    "plot summary of Anna Karenina", "how to remove red wine from a carpet", "visa requirements for Brazil", "phases of the moon in October",
    "history of the Ottoman navy", "train a puppy to sit",
)  # fmt: skip
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Dumped:
    """One question: its family of sets and kind, its candidates' parts (n, 3: lexical, dense, top level), which find the gold,
    and the signs it leaves with and without the work that holds its gold."""

    family: str
    kind: str
    parts: Floats
    right: NDArray[np.bool_]
    held: Signs
    missing: Signs | None


@dataclass(frozen=True)
class Corpus:
    """A set's generation with what is needed to ask it."""

    one: base.Set
    score: ModuleType
    generation: Generation
    index: VectorIndex
    embedder: Embedder


def dumped(corpus: Corpus, questions: Sequence[base.Question], field: str) -> list[Dumped]:
    """Every question of a set."""
    texts = [plain(base.asked(question, field)) for question in questions]
    vectors = corpus.embedder.queries(texts)
    ending = " (no identifiers)" if field == "query_noid" else ""
    rows = zip(questions, texts, range(len(texts)), strict=True)
    return [_dumped(corpus, question, text, vectors[n : n + 1], ending) for question, text, n in rows]


def _dumped(corpus: Corpus, question: base.Question, text: str, vector: Vectors, ending: str) -> Dumped:
    catalog = corpus.generation.catalog
    words = candidates.words_of(catalog, text, corpus.generation.manifest.counts["chunks"], vocabulary())
    lexical, dense = asked(corpus, words, vector, Scope())
    lex, near = fuse.standard(lexical, Weights().pool), fuse.standard(dense, Weights().pool)
    found = fuse.fuse(lexical, dense, Weights())
    worth = {one.row: one.score for one in found}
    first = [one.row for one in found[:DEPTH]]
    chunks = dict(zip(first, catalog.chunks(first), strict=True))
    low = min(lex.values(), default=0.0), min(near.values(), default=0.0)
    parts = [(lex.get(row, low[0]), near.get(row, low[1]), float(chunk.role == "module")) for row, chunk in chunks.items()]
    shows = _shows(corpus, chunks, worth)
    right = [finds(corpus, question, shows(row)) for row in first]
    kind = f"{corpus.one.name} {question.get('kind', 'all')}{ending}"
    missing = _missing(corpus, question, words, vector)
    return Dumped(corpus.one.name, kind, np.array(parts).reshape(-1, 3), np.array(right, bool), signs(len(words.terms), lexical, dense), missing)


def foreign(corpus: Corpus) -> list[Signs]:
    """The signs of questions from outside of the field."""
    catalog, chunks = corpus.generation.catalog, corpus.generation.manifest.counts["chunks"]
    words = [candidates.words_of(catalog, text, chunks, vocabulary()) for text in OUTSIDE]
    vectors = corpus.embedder.queries(OUTSIDE)
    return [signs(len(one.terms), *asked(corpus, one, vectors[n : n + 1], Scope())) for n, one in enumerate(words)]


def asked(corpus: Corpus, words: Words, vector: Vectors, scope: Scope) -> tuple[Ranked, Ranked]:
    """Both lists, as the engine gets them."""
    lexical = candidates.lexical(corpus.generation.catalog, words, scope)
    return lexical, candidates.dense(corpus.index, vector, scope, also=[row for row, _ in lexical])


def _shows(corpus: Corpus, chunks: Mapping[int, Chunk], worth: Mapping[int, float]) -> Callable[[int], Chunk]:
    known, count = dict(chunks), corpus.generation.manifest.counts["chunks"]

    def at(row: int) -> Chunk | None:
        if row not in known and 0 <= row < count:
            known[row] = corpus.generation.catalog.chunks([row])[0]
        return known.get(row)

    return lambda row: chunks[row] if chunks[row].kind == "paper" else grown(chunks[row], row, at, lambda other: worth.get(other, -np.inf))


def finds(corpus: Corpus, question: base.Question, chunk: Chunk) -> bool:
    """Whether what is shown holds the gold."""
    if corpus.one.passages:
        return chunk.path in question["gold"]
    return bool(corpus.score.finds(chunk.path, chunk.start_line, chunk.end_line, question))


def _missing(corpus: Corpus, question: base.Question, words: Words, vector: Vectors) -> Signs | None:
    """The signs without the works that hold the gold; None where they are not works of their own (packages share questions)."""
    if corpus.one.name == "packages":
        return None
    if corpus.one.passages:
        out = frozenset({WorkId(f"arxiv:{question['arxiv']}")})
    else:
        out = frozenset(base.work_of(gold["path"]) for gold in corpus.score.golds(question))
    scope = candidates.scope_of(corpus.generation.catalog, frozenset(), out)
    return signs(len(words.terms), *asked(corpus, words, vector, scope))


# -- fusion


def reached(questions: Sequence[Dumped], weights: Weights) -> dict[str, tuple[float, float]]:
    """(R@5, MRR) by kind."""
    mix = np.array([1 - weights.dense, weights.dense, weights.toplevel])
    ranks: dict[str, list[int | None]] = {}
    for one in questions:
        order = np.argsort(-(one.parts @ mix), kind="stable") if len(one.parts) else np.array([], int)
        right = np.flatnonzero(one.right[order]) if len(order) else order
        ranks.setdefault(one.kind, []).append(int(right[0]) + 1 if len(right) else None)
    found = {kind: scores(places) for kind, places in ranks.items()}
    return {kind: (each.recall[5], each.mrr) for kind, each in found.items()}


def worth(questions: Sequence[Dumped], weights: Weights) -> float:
    return float(np.mean([(recall + mrr) / 2 for recall, mrr in reached(questions, weights).values()]))


def ascended(questions: Sequence[Dumped], start: Weights) -> Weights:
    """The weights that no single step betters by `LEAST`."""
    best, now = start, worth(questions, start)
    while True:
        near = [replace(best, **{name: round(getattr(best, name) + step, 2)}) for name, steps in STEPS.items() for step in steps]
        value, other = max(((worth(questions, one), one) for one in near), key=lambda pair: pair[0])
        if value < now + LEAST:
            return best
        best, now = other, value


def fit_fusion(questions: Sequence[Dumped]) -> tuple[Weights, dict[str, Any]]:
    """The weights for all sets; prints them beside the hand-set ones and the ones fitted on the other sets."""
    made = ascended(questions, Weights())
    by_hand, by_fit = reached(questions, Weights()), reached(questions, made)
    left_out: dict[str, tuple[float, float]] = {}
    for family in dict.fromkeys(one.family for one in questions):
        fitted = ascended([one for one in questions if one.family != family], Weights())
        left_out |= reached([one for one in questions if one.family == family], fitted)
        print(f"# without {family}: dense {fitted.dense}, toplevel {fitted.toplevel}")
    print(f"{'R@5 / MRR by growth of single candidates':52s} by hand        fitted         left out")
    for kind in by_hand:
        print(f"{kind:52s} " + "  ".join(f"{row[kind][0]:.3f} / {row[kind][1]:.3f}" for row in (by_hand, by_fit, left_out)))
    table = {name: [round(float(np.mean(column)), 4) for column in zip(*rows.values(), strict=True)] for name, rows in
             (("by hand", by_hand), ("fitted", by_fit), ("left out", left_out))}  # fmt: skip
    print(f"# mean R@5, MRR: {table}; dense {made.dense}, toplevel {made.toplevel}")
    return made, table


# -- abstaining


def matrix(some: Sequence[Signs], names: Sequence[str]) -> Floats:
    return np.array([[1.0, *(getattr(one, name) for name in names)] for one in some])


def logistic(x: Floats, y: Floats, ridge: float = 1e-3, steps: int = 50) -> Floats:
    """Weights of a logistic regression by Newton's method."""
    weights = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(weights))
        weights += np.linalg.solve(hessian, x.T @ (y - p) - ridge * weights)
    return weights


def auroc(held: Floats, missing: Floats) -> float:
    """How often a question with an answer scores above one without."""
    return float(np.mean([(held[:, None] > missing[None, :]).mean() + 0.5 * (held[:, None] == missing[None, :]).mean()]))


def fit_support(questions: Sequence[Dumped], outside: Mapping[str, Sequence[Signs]], names: Sequence[str]) -> dict[str, Any]:
    """Weights and threshold over the signs `names`; prints AUROC by set, fitted on the others, and what is abstained from."""
    usable = [one for one in questions if one.missing]

    def fitted(some: Sequence[Dumped]) -> Floats:
        both = [*(one.held for one in some), *(one.missing for one in some if one.missing)]
        return logistic(matrix(both, names), np.array([1.0] * len(some) + [0.0] * len(some)))

    areas = {}
    for family in dict.fromkeys(one.family for one in usable):
        weights = fitted([one for one in usable if one.family != family])
        own = [one for one in usable if one.family == family]
        areas[family] = auroc(*(matrix(some, names) @ weights for some in ([one.held for one in own], [one.missing for one in own if one.missing])))
    weights = fitted(usable)
    named = dict(zip(("bias", *names), (round(float(value), 3) for value in weights), strict=True))
    held = np.array([likelihood(one.held, named) for one in usable])
    missing = np.array([likelihood(one.missing, named) for one in usable if one.missing])
    threshold = round(float(np.quantile(held, FALSE)), 3)
    far = {name: float(np.mean([likelihood(one, named) < threshold for one in some])) for name, some in outside.items()}
    said = {
        "AUROC left out": {name: round(value, 3) for name, value in areas.items()}, "AUROC": round(auroc(held, missing), 3),
        "abstains wrongly": round(float((held < threshold).mean()), 3), "abstains rightly": round(float((missing < threshold).mean()), 3),
        "abstains, outside of the field": {name: round(value, 2) for name, value in far.items()}, "questions": len(usable),
    }  # fmt: skip
    print(f"# abstaining by {', '.join(names)}: {said}")
    return {"weights": named, "threshold": threshold, "measured": said}


def without_vectors(one: Signs) -> Signs:
    return replace(one, lift=0.0, agreed=0.0, near=0.0, vectors=False)


# -- the whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=Path("corpora"))
    parser.add_argument("--embedder", default="packaged")
    parser.add_argument("--sets", default=",".join(one.name for one in base.SETS))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every Nth question: a quick look")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    reader.DEADLINE = 600.0  # a busy machine must not cost a question
    embedder = base.embedder_of(args.embedder)
    if not embedder:
        raise SystemExit("an embedder is needed")
    shared = base.Remembering(embedder)
    questions: list[Dumped] = []
    outside: dict[str, list[Signs]] = {}
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for one in (one for one in base.SETS if one.name in args.sets.split(",")):
            corpus = opened(one, args, shared, scratch, stack)
            if not corpus:
                continue
            rows = base.rows(args.data / one.questions)[:: args.every]
            for field in one.fields:
                questions += dumped(corpus, rows, field)
            outside[one.name] = foreign(corpus)
            print(f"# {one.name}: dumped", flush=True)
    made, table = fit_fusion(questions)
    vectors = fit_support(questions, outside, ("gap", "terms", "lift", "agreed"))
    words = [replace(one, held=without_vectors(one.held), missing=one.missing and without_vectors(one.missing)) for one in questions]
    plainly = fit_support(words, {name: [*map(without_vectors, some)] for name, some in outside.items()}, ("gap", "terms"))
    if args.write:
        origin = {
            "by": "benchmarks/fit.py",
            "embedder": embedder.id,
            "sets": args.sets,
            "questions": len(questions),
            "made": date.today().isoformat(),
        }
        name = embedder.id.partition("@")[0]
        chosen = {key: value for key, value in asdict(made).items() if key in STEPS}
        others = json.loads((DATA / "weights.json").read_text("utf-8"))["weights"]
        written("weights", {"provenance": origin | {"mean R@5, MRR": table}, "weights": others | {"default": chosen, name: chosen}})
        floors = json.loads((DATA / "support.json").read_text("utf-8"))["floors"]
        floor = round(float(np.quantile([one.held.near for one in questions], FLOOR)), 3)
        written("support", {"provenance": origin, "vectors": vectors, "words": plainly, "floors": floors | {name: floor}})


def opened(one: base.Set, args: argparse.Namespace, embedder: base.Remembering, scratch: Path, stack: ExitStack) -> Corpus | None:
    """A set as a generation with vectors, None where its corpus is missing."""
    score = base.scorer(args.data)
    folder = None if one.passages else base.corpus_of(one, args.data, args.corpora, score, scratch)
    if folder is None and not one.passages:
        print(f"# {one.name} is skipped: no folder {args.corpora / one.name}")
        return None
    base.build(
        scratch,
        one.name,
        base.passage_chunks(args.data / one.passages) if folder is None else base.code_chunks(folder),
        embedder,
        args.cache or scratch,
    )
    generation = stack.enter_context(open_generation(scratch, one.name))
    return Corpus(one, score, generation, registry.load("vectors", "faiss")(generation.vectors), embedder)


def written(name: str, table: Mapping[str, Any]) -> None:
    (DATA / f"{name}.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
