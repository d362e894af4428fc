"""How often a lineage is said not to support an answer: for its own questions, for those of other lineages, for those of other areas.

    python -m benchmarks.abstaining --home HOME --lineage NAME [--lineage NAME ...] [--fit NAME ...] [--write]

Every question of `benchmarks/questions*.jsonl` is asked of every lineage. A lineage's own are to be answered. Those of another lineage
are to be told as unsupported: `all` counts every pair, `apart` only those where the lineage holds no work that the question's gold
is in (lineages of one field share papers and repositories, and then the answer is there). `areas.jsonl` has questions that any paper
of an area answers ("which augmentations are applied to the images?"); `AREAS` says, written by hand, which areas each lineage is of,
and which may or may not be in it and are not counted. With `--fit` the weights of `retrieval/data/support.json` are fitted on these
lineages (five own questions in a hundred lie under the threshold) and all are measured with them; the others are kept out. A question
of an area counts `AREA` times a pair's, since there are few.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import evidence
from benchmarks.fit import DATA, FALSE, Floats, logistic, matrix
from benchmarks.parts import run_benchmark
from lineage import registry
from lineage.catalog import reader
from lineage.generation import open_generation
from lineage.ports import Embedder
from retrieval.search.concepts import Signs, likelihood, supported
from retrieval.search.engine import Engine
from retrieval.search.query import make_query

HERE = Path(__file__).parent
AREA = 2.0
CONCEPTS = ("covered", "absent", "common", "spoken", "named", "outside")
BY_MODEL = ("near", "terms", "agreed", *CONCEPTS)
BY_VECTORS = ("gap", "lift", "terms", "agreed", *CONCEPTS)
BY_WORDS = ("gap", "terms", *CONCEPTS)
AREAS: Mapping[str, tuple[str, str]] = {
    "arxiv-2504.17192": ("llm agents", "text"),
    "arxiv-2503.10622": ("training images text diffusion", "speech segmentation biology"),
    "arxiv-2405.15682": ("training images text", "speech graphs tables medicine"),
    "arxiv-2410.20626": ("training tables diffusion", "text graphs images llm"),
    "arxiv-2311.12908": ("training images text diffusion preferences", "reinforcement llm"),
    "arxiv-2004.14974": ("training text", "tables biology medicine"),
    "arxiv-2502.17437": ("training images diffusion", "text"),
    "arxiv-2504.10483": ("training images diffusion", "text"),
    "arxiv-2503.19108": ("training images segmentation", "text"),
    "arxiv-2503.08685": ("training images diffusion", "text"),
}
"""Of each lineage the areas that it is of, and those that may or may not be in it."""


@dataclass(frozen=True)
class Pair:
    """A question asked of a lineage: its signs; whether it is one that the lineage answers, one of an area, one whose gold it holds."""

    signs: Signs
    own: bool
    area: bool
    held: bool


def rows() -> list[dict[str, Any]]:
    """Every question of the lineages."""
    return [row for file in sorted(HERE.glob("questions*.jsonl")) for row in evidence.rows(file)]


def asked(home: Path, name: str, embedder: Embedder) -> tuple[str, list[Pair]]:
    """The embedder of a lineage's vectors, and every question asked of it."""
    with open_generation(home, name) as generation:
        index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None
        engine = Engine(generation, lambda: embedder, index)
        works = {work.id for work in generation.catalog.works()}
        return generation.manifest.embedder, [*_pairs(engine, name, works), *_of_areas(engine, name)]


def _pairs(engine: Engine, name: str, works: set[Any]) -> Iterator[Pair]:
    for row in rows():
        held = any((gold.get("work") or f"repo:github.com/{gold['repo']}") in works for gold in row["gold"])
        yield Pair(engine.signs(make_query(row["query"])), row["lineage"] == name, area=False, held=held)


def _of_areas(engine: Engine, name: str) -> Iterator[Pair]:
    own, maybe = (words.split() for words in AREAS.get(name, ("", "")))
    for row in evidence.rows(HERE / "areas.jsonl") if own else ():
        if row["area"] in own or row["area"] not in maybe:
            yield Pair(engine.signs(make_query(row["query"])), row["area"] in own, area=True, held=False)


def fitted(some: Sequence[Pair], names: Sequence[str]) -> dict[str, Any]:
    """Weights over the signs, both sides counting the same, and the threshold under which five own questions in a hundred lie."""
    used = [pair for pair in some if pair.own or not pair.held]
    own = np.array([pair.own for pair in used], float)
    weight = np.where(own > 0, 0.5 / own.sum(), 0.5 / (1 - own).sum()) * len(used) * np.array([AREA if pair.area else 1.0 for pair in used])
    found = _weighted(matrix([pair.signs for pair in used], names), own, weight)
    named = dict(zip(("bias", *names), (round(float(value), 3) for value in found), strict=True))
    threshold = float(np.quantile([likelihood(pair.signs, named) for pair in used if pair.own and not pair.area], FALSE))
    return {"weights": named, "threshold": round(threshold, 4)}


def _weighted(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Weights of a regression on standardized columns, for the columns as they are."""
    mean, deviation = x.mean(0), x.std(0)
    mean[0], deviation[0] = 0.0, 1.0
    deviation[deviation == 0] = 1.0
    scaled = logistic((x - mean) / deviation, y, ridge=1.0, weight=weight) / deviation
    scaled[0] -= float((scaled[1:] * mean[1:]).sum())
    return scaled


def shares(told: Sequence[bool], pairs: Sequence[Pair]) -> dict[str, float]:
    """The share told as unsupported of each kind of pair."""
    kinds = {
        "own (mistakes)": [pair.own and not pair.area for pair in pairs],
        "apart": [not pair.own and not pair.area and not pair.held for pair in pairs],
        "all pairs": [not pair.own and not pair.area for pair in pairs],
        "own area (mistakes)": [pair.own and pair.area for pair in pairs],
        "other areas": [not pair.own and pair.area for pair in pairs],
    }
    flags = np.array(told)
    return {kind: float(flags[np.array(mask)].mean()) if any(mask) else float("nan") for kind, mask in kinds.items()}


def _said(row: Mapping[str, float]) -> str:
    return "  ".join(f"{kind} {value:.3f}" for kind, value in row.items())


def fit(pairs: Mapping[str, Sequence[Pair]], names: Sequence[str], model: str, write: bool) -> None:
    """Fits on these lineages, and writes what is fitted."""
    used = [pair for name in names for pair in pairs[name]]
    made = {kind: fitted(used, signs) for kind, signs in (("model", BY_MODEL), ("vectors", BY_VECTORS), ("words", BY_WORDS))}
    for kind, one in made.items():
        for where, some in (("fitted on", names), ("kept out", [name for name in pairs if name not in names])):
            found = [shares([likelihood(p.signs, one["weights"]) < one["threshold"] for p in pairs[name]], pairs[name]) for name in some]
            print(f"# by {kind}, {where}: " + _said({key: float(np.nanmean([row[key] for row in found])) for key in found[0]} if found else {}))
    if write:
        kept = json.loads((DATA / "support.json").read_text("utf-8"))
        origin = {"by": "benchmarks/abstaining.py", "embedder": model, "lineages": list(names), "pairs": len(used)}
        table = {"provenance": origin, "models": {model.partition("@")[0]: made["model"]}, "vectors": made["vectors"], "words": made["words"]}
        (DATA / "support.json").write_text(json.dumps({**table, "floors": kept["floors"]}, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--lineage", action="append", required=True)
    parser.add_argument("--fit", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    reader.DEADLINE = 600.0  # a busy machine must not cost a question
    packaged = evidence.embedder_of("packaged")
    if not packaged:
        raise SystemExit("an embedder is needed")
    embedder, pairs, model = evidence.Remembering(packaged), dict[str, list[Pair]](), ""
    for name in args.lineage:
        model, pairs[name] = asked(args.home, name, embedder)
        print(f"{name:20} {_said(shares([not supported(pair.signs, model) for pair in pairs[name]], pairs[name]))}", flush=True)
    if args.fit:
        fit(pairs, args.fit, model, args.write)


if __name__ == "__main__":
    run_benchmark(main)
