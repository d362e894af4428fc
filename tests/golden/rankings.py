"""The rankings of the demonstration's questions: made, written, and held against the ones under version control.

    python -m tests.golden.rankings        makes rankings.json anew; look at `git diff` before it is committed

`lexical` is what words alone give and must not move at all; `vectors` has the packaged model in it, whose arithmetic
differs in the last digits between processors: two hits that scored within `SLACK` of one another may change places.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lineage.citation import pinpoint
from lineage.generation import open_generation
from lineage.reasons import words
from lineage.records import Hit
from retrieval.search.engine import Engine
from retrieval.search.query import make_query
from tests.demo import DEMO, NAME, Demo
from tests.upstream import Upstream, World

FILE = Path(__file__).resolve().parent / "rankings.json"
TOP = 5
SLACK = 0.02
Ranking = Sequence[Mapping[str, Any]]


def made(demo: Demo) -> dict[str, Any]:
    """The first hits of every question over a built demonstration, by words alone and with vectors."""
    questions = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text("utf-8").splitlines()]
    with Engine(open_generation(demo.home, NAME)) as engine:
        lexical = {row["id"]: _ranking(engine, row["query"]) for row in questions}
    with demo.service._parts.engine(NAME) as engine:
        vectors = {row["id"]: _ranking(engine, row["query"]) for row in questions}
        return {"embedder": engine.generation.manifest.embedder, "lexical": lexical, "vectors": vectors}


def _ranking(engine: Engine, question: str) -> list[dict[str, Any]]:
    return [_entry(hit) for hit in engine.ask(make_query(question, k=TOP)).hits]


def _entry(hit: Hit) -> dict[str, Any]:
    return {"hit": f"{pinpoint(hit)} {hit.chunk.symbol}".strip(), "kind": hit.chunk.kind, "score": round(hit.score, 3), "why": [*words(hit)]}


def changes(before: Ranking, after: Ranking, slack: float = 0.0) -> Iterator[str]:
    """Every hit that came, went or moved, with the reasons it had and has; with `slack` as far as no processor's last digits explain it."""
    then = {row["hit"]: (rank, row) for rank, row in enumerate(before, 1)}
    now = {row["hit"]: (rank, row) for rank, row in enumerate(after, 1)}
    for name in dict.fromkeys((*now, *then)):
        old, new = then.get(name), now.get(name)
        _, row = old or new or (0, {"score": 0.0})
        there = before[min(new[0] if new else TOP, len(before)) - 1]
        if (old and new and old[0] == new[0]) or (slack and abs(row["score"] - there["score"]) <= slack):
            continue
        yield f"{name}: {_said(old)} -> {_said(new)}"


def _said(place: tuple[int, Mapping[str, Any]] | None) -> str:
    return f"rank {place[0]} [{'; '.join(place[1]['why'])}]" if place else f"not among the first {TOP}"


def main() -> None:
    """Write the rankings as they are now."""
    with tempfile.TemporaryDirectory() as folder, Upstream(World.load(DEMO)) as running:
        demo = Demo(Path(folder), running.url, packaged=True)
        demo.report = demo.build()
        FILE.write_text(json.dumps(made(demo), indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()
