"""The command that measures: eval."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli import display_evaluation
from api.cli.commands.common import Home, Json, Lineage, put, service_of
from api.wire import hits


def eval_(
    file: Annotated[Path, typer.Argument(help="A file of questions with their answers, one JSON object a line.", show_default=False)],
    lineage: Lineage = "",
    k: Annotated[int, typer.Option("-k", min=10, max=100, help="How many hits are asked for.")] = 20,
    home: Home = None,
    json: Json = False,
) -> None:
    """Measure a lineage on questions whose answers you know: recall, MRR, nDCG, focus and latency, by kind and row by row.

    A line is {"id", "query", "gold"} and may have a "kind" and a "lineage" (lines of other lineages are skipped).
    Gold is one or several of: {"path", "start", "end"} with "repo" where the path alone is not enough; {"work", "quote"},
    words that stand in a paper; or the identifier of a chunk. "also" lists copies of the first.

    Example:

      lineage eval examples/demo/questions.jsonl --lineage arxiv-9912.00001
    """
    checked_evaluation = service_of(home).evaluate(file, lineage=lineage, k=k)
    put(hits.to_json(checked_evaluation) if json else checked_evaluation, json, display_evaluation.evaluation)
