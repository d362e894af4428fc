"""How often real lineages are said not to support an answer: for questions they answer, for those of other papers, for any.

    python -m benchmarks.abstaining --data DIR --home HOME --lineage NAME [--lineage NAME] [--embedder packaged]

No fit sees these, but the signs were chosen on two such lineages (docs/benchmarks.md). A lineage's own questions are those of
`benchmarks/questions.jsonl` whose repositories it holds (to be answered, so what is said of them is a mistake); those of other
papers come from the sets of `benchmarks/evidence.py`; those from outside of the field stand in `benchmarks/fit.py`. Everything
goes through the engine, with the shipped weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import evidence, fit
from benchmarks.parts import run_benchmark
from lineage import registry
from lineage.catalog import reader
from lineage.generation import Generation, open_generation
from retrieval.engine import Engine
from retrieval.query import make_query
from retrieval.support import UNSUPPORTED

EVERY = 4
"""Of the sets' questions that many are passed over for one that is asked."""


def kinds(generation: Generation, name: str, data: Path, sets: str) -> Iterator[tuple[str, list[str]]]:
    """(what they are, questions)."""
    held = {work.id.removeprefix("repo:github.com/").lower() for work in generation.catalog.works() if work.id.startswith("repo:")}
    own = [row for row in evidence.rows(Path(__file__).parent / "questions.jsonl") if row["lineage"] == name]
    there = [any(gold["repo"].lower() in held for gold in row["gold"]) for row in own]
    yield "its own", [row["query"] for row, found in zip(own, there, strict=True) if found]
    yield "its own, repository not fetched", [row["query"] for row, found in zip(own, there, strict=True) if not found]
    for one in evidence.chosen(sets):
        rows = evidence.rows(data / one.questions)
        for kind, members in evidence.groups(rows):
            yield (
                f"of other papers: {evidence.called(one, kind, one.fields[-1])}",
                [evidence.asked(rows[n], one.fields[-1]) for n in members[::EVERY]],
            )
    yield "outside of the field", list(fit.OUTSIDE)


def share(engine: Engine, questions: Sequence[str]) -> float:
    """Of so many questions, how many are said to have no support."""
    answers = engine.ask_many([make_query(text, k=1) for text in questions])
    return sum(any(note.startswith(UNSUPPORTED) for note in answer.notes) for answer in answers) / max(1, len(answers))


def main() -> None:
    parser = evidence.arguments(__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--lineage", action="append", required=True)
    args = parser.parse_args()
    reader.DEADLINE = 600.0  # a busy machine must not cost a question
    embedder = evidence.embedder_of(args.embedder)
    for name in args.lineage:
        with open_generation(args.home, name) as generation:
            index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None
            engine = Engine(generation, (lambda: embedder) if embedder else None, index)
            for said, questions in kinds(generation, name, args.data, args.sets):
                print(f"{name:20s} {said:60s} n={len(questions):3d}  told {share(engine, questions):.2f}", flush=True)


if __name__ == "__main__":
    run_benchmark(main)
