"""The confidence of offered values, fitted and checked on PaperBench's papers.

    python -m benchmarks.gap_confidence --data DIR --papers DIR --repos DIR --cache DIR [--write]

For every paper and detail that its rubric gives a value for, all values that the lineage offers for the detail's first fact
are examples, with the target's own words hidden; one is right if the rubric or the paper's own text has it. Both with and
without the paper's own repository. The logistic is fitted towards the weights that stand in the source (ridge), with the sign of each kept, and
checked by leaving each paper out. `--write` puts the parameters into `retrieval/data/confidence.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import rubric_papers  # noqa: E402
from benchmarks.gaps import Case, cases, engine_of, holds, lineage, material, shown  # noqa: E402
from lineage.details import checklist  # noqa: E402
from lineage.insight import Held  # noqa: E402
from lineage.model import Query, WorkId  # noqa: E402
from retrieval.gaps import text  # noqa: E402
from retrieval.gaps.asking import asked  # noqa: E402
from retrieval.gaps.confidence import Support  # noqa: E402
from retrieval.gaps.offers import Context, offers, passages  # noqa: E402
from retrieval.gaps.report import Material, best_links, foreign_stages, standing  # noqa: E402
from retrieval.gaps.stated import judged  # noqa: E402

Rows = NDArray[np.float64]
NAMES = tuple(field.name for field in fields(Support))
PRIOR: Mapping[str, float] = {
    "bias": -3.0, "own": 2.2, "pointed": 1.5, "role": 0.6, "score": 0.6, "run": 0.4, "agreement": 1.0, "alone": 1.2, "works": 0.8,
    "scoped": -0.6, "words": 0.2, "aside": -0.5,
}  # fmt: skip
"""What was thought before anything was measured; features that this data hardly varies (roles, scores, pointers) stay near it."""
FIXED = ("aside",)
"""Not fitted: what stands in tests, examples or another stage's files is mixed in this data with the papers' own experiments."""
RIDGE = 2.0
BINS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.001)


@dataclass(frozen=True)
class Example:
    """One offered value: its paper, what supports it, whether it is right, and whether it was the first for its detail."""

    paper: str
    support: Support
    right: bool
    detail: str
    value: str


@dataclass(frozen=True)
class Passage:
    """The first passage for a detail without facts: its score, and whether it holds a value of the rubric."""

    paper: str
    score: float
    right: bool


def examples(found: Material, name: str, some: Sequence[Case]) -> Iterator[Example | Passage]:
    """Every value that the lineage offers for the details of these cases, the target's words hidden."""
    catalog = found.engine.generation.catalog
    target = WorkId(found.engine.generation.manifest.target)
    said = text.read(catalog, target)
    held = standing(found.held)
    context = Context(said.work, best_links(catalog.links()), found.ontology.same, foreign_stages(said))
    by_detail: dict[str, list[Case]] = defaultdict(list)
    for case in some:
        by_detail[case.need.detail.name].append(case)
    pointers = {one.need.detail.name: one.pointers for one in judged([some[0].need for some in by_detail.values()], said.sentences)}
    for detail, rubric in by_detail.items():
        need = rubric[0].need
        stated = [one for fact in need.detail.facts for one in held.get(fact, ()) if one.fact.work == target]
        for offer in offers(need.detail.facts[:1], held, pointers[detail], context):
            right = any(holds(offer.suggestion.value, case.value) for case in rubric) or _stated(offer.name, offer.suggestion.value, stated, context)
            yield Example(name, offer.support, right, detail, offer.suggestion.value)
        hits, _ = asked(found.engine, [Query(need.detail.question, 12)])
        if offer := passages(hits[0], (), context):
            right = any(holds(shown(offer.evidence[0]), case.value) for case in rubric)
            yield Passage(name, offer.evidence[0].score, right)


def _stated(name: str, value: str, stated: Sequence[Held], context: Context) -> bool:
    return any(one.fact.name == name and context.same(name, one.fact.value, value) for one in stated)


def matrix(some: Sequence[Example]) -> tuple[Rows, Rows]:
    rows = np.array([[1.0, *asdict(one.support).values()] for one in some], np.float64)
    return rows, np.array([one.right for one in some], np.float64)


def fit(rows: Rows, right: Rows, prior: Rows, ridge: float = RIDGE, steps: int = 4000) -> Rows:
    """Weights of least loss, each of the sign that it had before, drawn to where it was."""
    weights, rate = prior.copy(), 1.0 / (ridge + 0.25 * float(np.linalg.norm(rows, 2)) ** 2)
    held = np.array([name in FIXED for name in ("bias", *NAMES)][: len(prior)])
    for _ in range(steps):
        wrong = 1.0 / (1.0 + np.exp(-np.clip(rows @ weights, -30, 30))) - right
        weights = weights - rate * (rows.T @ wrong + ridge * (weights - prior))
        weights = np.where(prior < 0, np.minimum(weights, 0.0), np.maximum(weights, 0.0))
        weights = np.where(held, prior, weights)
    return weights


def sure(rows: Rows, weights: Rows) -> Rows:
    made: Rows = 1.0 / (1.0 + np.exp(-np.clip(rows @ weights, -30, 30)))
    return made


def left_out(some: Sequence[Example], prior: Rows) -> Rows:
    """The probability of each example by weights that never saw its paper."""
    rows, right = matrix(some)
    papers = np.array([one.paper for one in some])
    out = np.zeros(len(some))
    for paper in np.unique(papers):
        inside = papers == paper
        out[inside] = sure(rows[inside], fit(rows[~inside], right[~inside], prior))
    return out


def table(title: str, probabilities: Rows, right: Rows) -> None:
    """Reliability by bin: what was said, what came true."""
    print(title)
    for low, high in pairwise(BINS):
        inside = (probabilities >= low) & (probabilities < high)
        if inside.any():
            said, came = probabilities[inside].mean(), right[inside].mean()
            print(f"  {low:.1f}-{min(high, 1.0):.1f}  n={int(inside.sum()):4d}  said {said:.2f}  right {came:.2f}")
    print(f"  Brier {np.mean((probabilities - right) ** 2):.3f}, of the base rate {np.mean((right.mean() - right) ** 2):.3f}")


def firsts(some: Sequence[Example], probabilities: Rows) -> NDArray[np.bool_]:
    """Which examples are the likeliest of their paper and detail."""
    best: dict[tuple[str, str], int] = {}
    for at, one in enumerate(some):
        key = (one.paper, one.detail)
        if key not in best or probabilities[at] > probabilities[best[key]]:
            best[key] = at
    chosen = np.zeros(len(some), bool)
    chosen[list(best.values())] = True
    return chosen


def gather(options: argparse.Namespace) -> tuple[list[Example], list[Passage]]:
    named = rubric_papers.named_repositories(options.data)
    by_paper: dict[str, list[Case]] = defaultdict(list)
    needs = [need for need in checklist().needs if need.detail.facts and (need.number or need.choices)]
    for case in cases(options.data, needs):
        by_paper[case.paper].append(case)
    values: list[Example] = []
    found: list[Passage] = []
    for name, some in sorted(by_paper.items()):
        lineage(options.cache, name, options, None, named.get(name, ()))
        for no_own_code in (False, True) if named.get(name) else (False,):
            with engine_of(options.cache, name, None) as engine:
                made = material(engine, no_own_code)
                for one in examples(made, f"{name}{'-' if no_own_code else ''}", some):
                    (values if isinstance(one, Example) else found).append(one)  # type: ignore[arg-type]
    return values, found


def kept(options: argparse.Namespace) -> tuple[list[Example], list[Passage]]:
    """The same, from a file where that is there."""
    if not options.examples.exists():
        values, found = gather(options)
        options.examples.write_text(json.dumps([[asdict(one) for one in values], [asdict(one) for one in found]]), encoding="utf-8")
    rows, passages_ = json.loads(options.examples.read_text("utf-8"))
    return [Example(**{**row, "support": Support(**row["support"])}) for row in rows], [Passage(**row) for row in passages_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name in ("--data", "--papers", "--repos", "--cache"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--examples", type=Path, help="keep the examples in this file, or read them from it if it is there")
    options = parser.parse_args()
    values, found = kept(options) if options.examples else gather(options)
    prior = np.array([PRIOR["bias"], *(PRIOR[name] for name in NAMES)])
    rows, right = matrix(values)
    papers = len({one.paper.rstrip("-") for one in values})
    holding = np.mean([one.right for one in found])
    print(f"{len(values)} offered values of {papers} papers, {right.mean():.2f} right; {len(found)} first passages, {holding:.2f} hold a value")
    out = left_out(values, prior)
    table("every offer, its paper left out:", out, right)
    chosen = firsts(values, out)
    table("the first offer of each detail:", out[chosen], right[chosen])
    table("by the weights before the fit, the first offers:", sure(rows, prior)[chosen], right[chosen])
    weights = fit(rows, right, prior)
    passage = _passage(found)
    parameters = {"value": dict(zip(("bias", *NAMES), (round(float(one), 3) for one in weights), strict=True)), "passage": passage}
    print(json.dumps(parameters, indent=1))
    if options.write:
        said = {
            "fitted": "python -m benchmarks.gap_confidence",
            "on": f"{len(values)} values offered for details that PaperBench's rubrics state, {papers} papers, all open while this was written",
            "how": f"logistic, ridge {RIDGE} towards weights set by hand, signs kept; roles and lineage scores hardly vary in this data, "
            "pointers are not in it at all",
            "right means": "the rubric or the paper's own text has the value",
        }
        place = ROOT / "retrieval" / "data" / "confidence.json"
        place.write_text(json.dumps({"provenance": said, "parameters": parameters}, indent=1) + "\n", encoding="utf-8")


def _passage(found: Sequence[Passage]) -> dict[str, float]:
    rows = np.array([[1.0, one.score] for one in found])
    right = np.array([float(one.right) for one in found])
    weights = fit(rows, right, np.array([-3.0, 2.5]), 1.0)
    return {"bias": round(float(weights[0]), 3), "score": round(float(weights[1]), 3)}


if __name__ == "__main__":
    main()
