"""The gaps command: details that a paper does not state."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from api.cli import display_gaps, display_gaps_brief, terminal
from api.cli.commands.common import Home, Json, Lineage, Named, Quiet, one_of, put, service_of, watching_on_a_terminal
from api.wire import gaps as wire_gaps
from lineage.results import Gaps

STATES = one_of("unspecified", "partially_specified", "specified")


def gaps(
    named: Named = "",
    lineage: Lineage = "",
    state: Annotated[str, typer.Option(help="Only: unspecified, partially_specified or specified.", show_default=False, autocompletion=STATES)] = "",
    topic: Annotated[str, typer.Option(help="Only details of one topic (optimizer, data, evaluation ...).", show_default=False)] = "",
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Exclude the target's own code.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every detail with its evidence; a terminal shows one screen otherwise.")] = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List what the paper leaves open: each detail a reproduction needs, whether it is stated, and the best value of the lineage.

    A terminal shows one screen: contradictions between sources, then the most important open decisions.

    Examples:

      lineage gaps arxiv-2504.17192

      lineage gaps arxiv:2504.17192 --full | less

      lineage gaps --state unspecified --topic optimizer --json
    """
    with watching_on_a_terminal(quiet) as watch:
        gap_report = service_of(home).gaps(lineage=lineage or named, state=state, topic=topic, no_target_code=no_target_code, watch=watch)
    short = sys.stdout.isatty() and not (full or state or topic)
    put(wire_gaps.gaps_to_json(gap_report) if json else gap_report, json, _brief if short else display_gaps.gaps)


def _brief(found: Gaps) -> str:
    return display_gaps_brief.brief(found, terminal.size()[1])
