"""The facts command."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import display_facts
from api.cli.commands.common import Home, Json, Lineage, Words, joined, put, service_of
from api.wire import facts as wire_insight


def facts(
    words: Annotated[
        Words, typer.Argument(metavar="NAME", help="A detail by any of its names: lr, weight decay, optimizer.betas.", show_default=False)
    ] = None,
    lineage: Lineage = "",
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Leave the target's own code out.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show every value of a detail: where it is set, since when, and which one the target inherits.

    Without a name: the details that it has values for.

    Examples:

      lineage facts weight decay

      lineage facts lr --lineage arxiv-2504.17192 --json
    """
    service, name = service_of(home), joined(words)
    if not name:
        listed = service.facts_table(lineage, no_target_code=no_target_code)
        put(wire_insight.tallies_to_json(listed) if json else listed, json, display_facts.tallies)
        return
    consensus = service.facts(name, lineage=lineage, no_target_code=no_target_code)
    put(wire_insight.consensus_to_json(consensus) if json else consensus, json, display_facts.consensus)
