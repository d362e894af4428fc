"""Commands that ask: query and references."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import display, exit_codes
from api.cli.commands.common import Home, Json, Lineage, Offline, Quiet, Words, joined, one_of, put, service_of, watching
from api.cli.files import label
from api.wire import hits as wire
from lineage.errors import UsageError
from lineage.records import Answer

KINDS = one_of("paper", "code", "config", "docs")


def query(
    words: Annotated[Words, typer.Argument(metavar="TEXT", help="The question, with or without quotes.", show_default=False)] = None,
    lineage: Lineage = "",
    k: Annotated[int | None, typer.Option("-k", min=1, max=100, help="How many hits (10; of a batch 20).", show_default=False)] = None,
    kind: Annotated[str, typer.Option(help="Only: paper, code, config or docs.", show_default=False, autocompletion=KINDS)] = "",
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Exclude the target's own code.")] = False,
    work: Annotated[str, typer.Option(help="Only this paper or repository: its identifier, or OWNER/NAME.", show_default=False)] = "",
    batch: Annotated[
        Path | None,
        typer.Option(
            help='A file of {"id", "text"} lines, or - for standard input; prints {"id", "supported", "hits", "notes"} lines.', show_default=False
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the parts of each score.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Search a lineage: lines of code and passages, each with its citation, license and the reason it is relevant.

    Examples:

      lineage query how is the encoder initialized

      lineage query --batch - < questions.jsonl > answers.jsonl

      lineage query "learning rate schedule" --kind code -k 5 --json

      lineage query "which seeds?" --work allenai/scifact
    """
    service, text = service_of(home), joined(words)
    if batch:
        if text:
            raise UsageError("a question and --batch cannot go together", hint="put the question into the file")
        asked: dict[str, Any] = {"lineage": lineage, "k": k or 20, "kind": kind, "no_target_code": no_target_code, "work": work}
        _answer_batch(service.query_batch(batch, **asked), batch)
        return
    if not text.strip():
        raise UsageError("the question is empty", hint='for example: lineage query "how is the encoder initialized?"')
    answer = service.query(text, lineage=lineage, k=k or 10, kind=kind, no_target_code=no_target_code, work=work, explain=explain)
    put(wire.answer_to_json(answer) if json else answer, json, display.answer)


def _answer_batch(answers: Iterator[tuple[str, Answer]], batch: Path) -> None:
    """One line of JSON a question; a file without any says so."""
    empty = True
    for name, answer in answers:
        empty = False
        hits = [wire.hit_to_json(hit) for hit in answer.hits]
        exit_codes.say(wire.dumps({"id": name, "supported": answer.supported, "hits": hits, "notes": list(answer.notes)}), exact=True)
    if empty:
        print(f"note: {label(batch)} holds no questions", file=sys.stderr)


def references(
    target: Annotated[str, typer.Argument(help="A lineage, a target, or a local .tex, e-print or .pdf file.")],
    top: Annotated[int, typer.Option("--top", min=0, help="Only the first N (0: all).")] = 0,
    offline: Offline = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List what a paper cites: each reference with its identifiers, mentions, roles, score and why.

    Examples:

      lineage references arxiv-2504.17192 --top 10

      lineage references ./paper.tar.gz --json
    """
    with watching(quiet) as watch:
        listed = service_of(home, offline).references(target, watch=watch)
    put(wire.references_to_json(listed, top) if json else listed, json, lambda value: display.references(value, top))
