"""Commands for writing code: context packs and answers."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from api.cli import display_packs, exit_codes
from api.cli.commands.common import Home, Json, Lineage, Quiet, joined, one_of, put, service_of, watching_on_a_terminal
from api.wire import packs

NoTargetCode = Annotated[bool, typer.Option("--no-target-code", help="Exclude the target's own code.")]


STAGES = one_of("planning", "analysis", "coding")


def context(
    words: Annotated[list[str], typer.Argument(metavar="TASK", help="What you will write; a list of files or components is taken item by item.")],
    lineage: Lineage = "",
    tokens: Annotated[int, typer.Option("--tokens", help="Budget of the whole text.")] = 6000,
    stage: Annotated[str, typer.Option("--stage", help="planning, analysis or coding.", show_default=False, autocompletion=STAGES)] = "",
    no_target_code: NoTargetCode = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Pack what a task needs into a token budget: the target's statements, its lineage's, conflicts and open details.

    Examples:

      lineage context "implement the training loop" --tokens 4000

      lineage context "reproduce the paper" --stage planning > context.md
    """
    task = joined(words)
    with watching_on_a_terminal(quiet) as watch:
        made = service_of(home).context(task, lineage=lineage, tokens=tokens, stage=stage, no_target_code=no_target_code, watch=watch)
    put(packs.pack_to_json(made) if json else made, json, display_packs.pack, verbatim=True)
    if not json:
        print(display_packs.about(made), file=sys.stderr)


def answer(
    words: Annotated[list[str], typer.Argument(metavar="TEXT", help="The question, with or without quotes.")],
    lineage: Lineage = "",
    no_target_code: NoTargetCode = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Answer a question in sentences that cite evidence for their numbers and names. Exits with 3 if nothing supports an answer.

    Extracted from the evidence; written by a language model if one is configured (LINEAGE_LLM_MODEL), and then checked.

    Examples:

      lineage answer "which optimizer and learning rate are used?"

      lineage answer "how are rationales selected?" --lineage arxiv-2004.14974 --json
    """
    service = service_of(home)
    answer_result = service.answer(joined(words), lineage=lineage, no_target_code=no_target_code)
    put(packs.written_to_json(answer_result) if json else answer_result, json, display_packs.written)
    with exit_codes.concluding():
        service.insist_supported(answer_result)
