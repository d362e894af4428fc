"""The command that compares a generated repository with a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli import display_audit, exit_codes
from api.cli.commands.common import Home, Json, Lineage, put, service_of
from api.wire import audit as wire_audit
from lineage.errors import Losses


def audit(
    path: Annotated[Path, typer.Argument(help="Folder of the generated repository.", show_default=False)],
    lineage: Lineage = "",
    fail_under: Annotated[float, typer.Option(min=0, max=1, help="End with exit code 5 if less than this share of what can be judged agrees.")] = 0.0,
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Expect nothing of what only the target's own code says.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show what agrees and what cannot be judged as well.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Compare a generated repository with the paper: values that match, deviate or are missing. Runs no code.

    Examples:

      lineage audit ./generated --lineage arxiv-2504.17192

      lineage audit ./generated --fail-under 0.8 --json
    """
    made = service_of(home).audit(path, lineage=lineage, no_target_code=no_target_code)
    put(wire_audit.audit_to_json(made) if json else made, json, lambda result: display_audit.audit(result, everything))
    with exit_codes.concluding():
        if made.score < fail_under:
            raise Losses(
                f"{made.score:.0%} of what could be judged agrees, less than {fail_under:.0%}",
                hint="the findings above say what differs and what is missing",
            )
