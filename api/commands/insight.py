"""Commands for what a lineage knows: facts."""

from __future__ import annotations

from typing import Annotated

import typer

from api import display_insight, wire_insight
from api.commands.common import Home, Json, Lineage, put, service_of


def facts(
    name: Annotated[str, typer.Argument(help='A detail by any of its names: lr, "weight decay", optimizer.betas.', show_default=False)] = "",
    lineage: Lineage = "",
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Leave the target's own code out.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Say what a lineage holds for a detail: every value, who holds it since when, and which one the target inherits.

    Without a name: the details that it has values for.

    Examples:

      lineage facts "weight decay"

      lineage facts lr --lineage arxiv-2504.17192 --json
    """
    service = service_of(home)
    if not name:
        listed = service.facts_table(lineage, no_target_code=no_target_code)
        put(wire_insight.tallies_to_json(listed) if json else listed, json, display_insight.tallies)
        return
    found = service.facts(name, lineage=lineage, no_target_code=no_target_code)
    put(wire_insight.consensus_to_json(found) if json else found, json, display_insight.consensus)
