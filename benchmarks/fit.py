"""Fits what retrieval weighs, on the development sets, and writes the weights as data: `retrieval/data/weights.json`.

The signs of support are printed only; `benchmarks.abstaining` fits and writes those that ship.

    python -m benchmarks.fit --data DIR --corpora CORPORA [--cache DIR] [--embedder packaged] [--every N] [--write]

1. Fusion. Every question's lists are asked for once (`benchmarks/dump.py`) and ranked anew for every step of a coordinate
   ascent over the weights; what counts is the mean over kinds of questions of (R@5 + MRR@10) / 2. A weight moves only if
   that gains `LEAST`. Beside it stands what weights fitted on all other sets reach on each (leave one set out), which is
   what a new set may expect: `--write` keeps the weights as they are unless that is better than with them.
2. Abstaining. Each question is asked twice: with everything in the index, and without the repository or paper that
   holds its gold (a question of another paper, asked of this lineage). A logistic regression over `retrieval.search.concepts`'s
   signs tells the two apart; the threshold is where one answerable question in twenty is called unsupported. AUROC
   stands beside it by set, fitted on the others. Fitted three times: for this model with the similarity of its nearest
   chunk, for unknown models without, and for words alone. For this model the questions of `outside.txt`, which no paper of
   the field answers, are among those to be called unsupported; the other signs do not tell them. Under the similarity of the
   nearest chunk lies a floor, the model's own: one question in two hundred of the sets is below. `OUTSIDE` is only measured on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import dump, evidence
from benchmarks.dump import Dumped
from benchmarks.parts import run_benchmark
from lineage.catalog import reader
from lineage.ports import Embedder
from retrieval.evaluation import scores
from retrieval.search.concepts import Signs, likelihood
from retrieval.search.priors import FusionWeights, fitted

LEAST = 0.002
FALSE = 0.05
FLOOR = 0.005
STEPS = {"dense": (-0.1, -0.05, 0.05, 0.1), "toplevel": (-0.25, 0.25), "abstract": (-0.25, 0.25), "siblings": (-0.1, 0.1)}
BY_MODEL = ("gap", "terms", "lift", "agreed", "near")
BY_VECTORS = ("gap", "terms", "lift", "agreed")
BY_WORDS = ("gap", "terms")
FOREIGN = tuple((Path(__file__).parent / "outside.txt").read_text("utf-8").splitlines())
DATA = Path(__file__).resolve().parent.parent / "retrieval" / "data"
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
Reached = Mapping[str, tuple[float, float]]
"""(R@5, MRR@10) by kind of question."""


class Ranks:
    """The rank of every question's gold under given weights, each computed once."""

    def __init__(self, questions: Sequence[Dumped]) -> None:
        self._questions = questions
        self._known: dict[FusionWeights, list[int | None]] = {}

    def reached(self, weights: FusionWeights, families: Iterable[str]) -> Reached:
        """By kind, over the questions of some sets."""
        if weights not in self._known:
            self._known[weights] = [dump.rank(one, weights) for one in self._questions]
        among, ranks = frozenset(families), dict[str, list[int | None]]()
        for one, place in zip(self._questions, self._known[weights], strict=True):
            if one.family in among:
                ranks.setdefault(one.kind, []).append(place)
        return {kind: (found.recall[5], found.mrr) for kind, found in ((kind, scores(places)) for kind, places in ranks.items())}

    def worth(self, weights: FusionWeights, families: Iterable[str]) -> float:
        """Mean over kinds of (R@5 + MRR@10) / 2."""
        return float(np.mean([(recall + mrr) / 2 for recall, mrr in self.reached(weights, families).values()]))


def ascended(ranks: Ranks, families: Sequence[str], start: FusionWeights) -> FusionWeights:
    """The weights that no single step betters by `LEAST`."""
    best, now = start, ranks.worth(start, families)
    while True:
        near = [replace(best, **{name: round(getattr(best, name) + step, 2)}) for name, steps in STEPS.items() for step in steps]
        value, other = max(((ranks.worth(one, families), one) for one in near), key=lambda pair: pair[0])
        if value < now + LEAST:
            return best
        best, now = other, value


@dataclass(frozen=True)
class Fusion:
    """Weights fitted on every set, with the mean (R@5, MRR@10) of those in use, of these, and of those fitted on the other sets."""

    weights: FusionWeights
    table: Mapping[str, tuple[float, float]]

    @property
    def better(self) -> bool:
        """Whether fitting helps on a set that was not fitted on."""
        return sum(self.table["left out"]) > sum(self.table["in use"]) + 2 * LEAST


def fit_fusion(questions: Sequence[Dumped], start: FusionWeights) -> Fusion:
    """Prints the fitted weights beside the ones in use and the ones fitted on the other sets, by kind."""
    ranks, families = Ranks(questions), list(dict.fromkeys(one.family for one in questions))
    made = ascended(ranks, families, start)
    left_out: dict[str, tuple[float, float]] = {}
    for family in families if len(families) > 1 else ():
        weights = ascended(ranks, [one for one in families if one != family], start)
        left_out |= ranks.reached(weights, [family])
        print(f"# without {family}: {_named(weights)}")
    by_name = {"in use": ranks.reached(start, families), "fitted": ranks.reached(made, families), "left out": left_out}
    print(f"{'R@5 / MRR@10':44s} " + "".join(f"{name:15s}" for name in by_name))
    for kind in by_name["in use"]:
        print(f"{kind:44s} " + "  ".join(f"{row[kind][0]:.3f} / {row[kind][1]:.3f}" for row in by_name.values() if row))
    table = {name: (_mean(row, 0), _mean(row, 1)) for name, row in by_name.items()}
    print(f"# mean: {table}; in use {_named(start)}; fitted {_named(made)}", flush=True)
    return Fusion(made, table)


def _named(weights: FusionWeights) -> dict[str, float]:
    return {name: getattr(weights, name) for name in STEPS}


def _mean(row: Reached, column: int) -> float:
    return round(float(np.mean([pair[column] for pair in row.values()])), 4) if row else 0.0


# -- abstaining


def matrix(some: Sequence[Signs], names: Sequence[str]) -> Floats:
    return np.array([[1.0, *(getattr(one, name) for name in names)] for one in some])


def logistic(x: Floats, y: Floats, ridge: float = 1e-3, steps: int = 50, weight: Floats | None = None) -> Floats:
    """Weights of a logistic regression by Newton's method; `weight` is how much each row counts."""
    weights, counts = np.zeros(x.shape[1]), np.ones(len(y)) if weight is None else weight
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        hessian = (x * (counts * p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(weights))
        weights += np.linalg.solve(hessian, x.T @ (counts * (y - p)) - ridge * weights)
    return weights


def auroc(held: Floats, missing: Floats) -> float:
    """How often a question with an answer scores above one without."""
    return float((held[:, None] > missing[None, :]).mean() + 0.5 * (held[:, None] == missing[None, :]).mean())


@dataclass(frozen=True)
class Pair:
    """A question's signs with its answer in the index and without."""

    family: str
    held: Signs
    missing: Signs


@dataclass(frozen=True)
class Outside:
    """Signs of questions from outside of the field asked of a set: those that are fitted on, and those that are measured on."""

    fitted: Sequence[Signs]
    measured: Sequence[Signs]


def fit_support(pairs: Sequence[Pair], outside: Mapping[str, Outside], names: Sequence[str]) -> dict[str, Any]:
    """Weights and threshold over the signs `names`, with what they reach; prints it."""
    told_of = outside if "near" in names else {}
    areas, told = _left_out(pairs, told_of, names)
    named = dict(zip(("bias", *names), (round(float(value), 3) for value in _regressed(pairs, told_of, names)), strict=True))
    held, missing = (np.array([likelihood(one, named) for one in some]) for some in ([p.held for p in pairs], [p.missing for p in pairs]))
    threshold = round(float(np.quantile(held, FALSE)), 3)
    far = {name: round(float(np.mean([likelihood(one, named) < threshold for one in some.measured])), 2) for name, some in outside.items()}
    said = {
        "AUROC": round(auroc(held, missing), 3), "AUROC left out": areas, "told at 5 % of each set left out": told,
        "abstains wrongly": round(float((held < threshold).mean()), 3), "abstains rightly": round(float((missing < threshold).mean()), 3),
        "abstains, outside of the field": far, "questions": len(pairs),
    }  # fmt: skip
    print(f"# abstaining by {', '.join(names)}: {said}", flush=True)
    return {"weights": named, "threshold": threshold, "measured": said}


def _regressed(pairs: Sequence[Pair], outside: Mapping[str, Outside], names: Sequence[str]) -> Floats:
    held, missing = [one.held for one in pairs], [*(one.missing for one in pairs), *(one for some in outside.values() for one in some.fitted)]
    return logistic(matrix([*held, *missing], names), np.repeat([1.0, 0.0], [len(held), len(missing)]))


def _left_out(pairs: Sequence[Pair], outside: Mapping[str, Outside], names: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """By set, with weights fitted on the others: AUROC, and the share without an answer that lies below 5 % of those with one."""
    areas, told = {}, {}
    families = list(dict.fromkeys(one.family for one in pairs))
    for family in families if len(families) > 1 else ():
        others = {name: some for name, some in outside.items() if name != family}
        weights = _regressed([one for one in pairs if one.family != family], others, names)
        own = [one for one in pairs if one.family == family]
        held, missing = (matrix(some, names) @ weights for some in ([one.held for one in own], [one.missing for one in own]))
        areas[family], told[family] = round(auroc(held, missing), 3), round(float((missing < np.quantile(held, FALSE)).mean()), 3)
    return areas, told


def without_vectors(one: Signs) -> Signs:
    """The signs as a search by words alone leaves them."""
    return Signs(one.gap, one.terms)


# -- the whole


def main() -> None:
    parser = evidence.arguments(__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every Nth question: a quick look")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    reader.DEADLINE = 600.0  # a busy machine must not cost a question
    embedder = evidence.embedder_of(args.embedder)
    if not embedder:
        raise SystemExit("an embedder is needed")
    questions, outside = _asked(args, embedder)
    fusion = fit_fusion(questions, fitted(embedder.id))
    pairs = [Pair(one.family, one.held, one.missing) for one in questions if one.missing]
    fit_support(pairs, outside, BY_MODEL)
    fit_support(pairs, outside, BY_VECTORS)
    bare = {name: Outside([*map(without_vectors, some.fitted)], [*map(without_vectors, some.measured)]) for name, some in outside.items()}
    words = [replace(one, held=without_vectors(one.held), missing=without_vectors(one.missing)) for one in pairs]
    fit_support(words, bare, BY_WORDS)
    floor = round(float(np.quantile([one.held.near for one in questions], FLOOR)), 3)
    below = {name: round(float(np.mean([one.near < floor for one in some.measured])), 2) for name, some in outside.items()}
    print(f"# floor under the nearest chunk: {floor}; below it, of the questions from outside: {below}")
    if args.write:
        origin = {"by": "benchmarks/fit.py", "embedder": embedder.id, "sets": args.sets, "questions": len(questions)}
        name = embedder.id.partition("@")[0]
        _write_weights(name, fusion, origin, default=args.embedder == "packaged")


def _asked(args: argparse.Namespace, embedder: Embedder) -> tuple[list[Dumped], dict[str, Outside]]:
    """Every question of the sets that are there, and the signs of those from outside of the field by set."""
    questions: list[Dumped] = []
    outside: dict[str, Outside] = {}
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for one in evidence.chosen(args.sets):
            corpus = evidence.opened(one, args, evidence.Remembering(embedder), scratch, stack)
            if corpus:
                pool = dump.pool_of(corpus)
                questions += dump.dumped(pool, args.every)
                outside[one.name] = Outside(dump.foreign(pool, FOREIGN), dump.foreign(pool, OUTSIDE))
                print(f"# {one.name}: dumped", flush=True)
    return questions, outside


def _write_weights(name: str, fusion: Fusion, origin: Mapping[str, Any], default: bool) -> None:
    """Writes them where fitting helped on sets that it had not seen; says so where it did not."""
    if not fusion.better:
        print("# the weights in use stay: fitted on other sets they are no better")
        return
    kept = json.loads((DATA / "weights.json").read_text("utf-8"))["weights"]
    chosen = {name: _named(fusion.weights)} | ({"default": _named(fusion.weights)} if default else {})
    _write("weights", {"provenance": {**origin, "mean R@5, MRR": fusion.table}, "weights": kept | chosen})


def _write(name: str, table: Mapping[str, Any]) -> None:
    (DATA / f"{name}.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run_benchmark(main)
