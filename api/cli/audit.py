"""The command that compares a generated repository with a paper."""

from __future__ import annotations

import json as notation
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli import display_audit, exit_codes
from api.cli.common import Home, Json, Lineage, put, service_of
from api.wire import sarif
from lineage.errors import Losses
from lineage.results import Audit


class Form(StrEnum):
    """How the findings are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    MARKDOWN = "markdown"


class FailOn(StrEnum):
    """Which findings end the command with exit code 5."""

    DEVIATION = "deviation"
    MISSING = "missing"
    NONE = "none"


_FAILING = {FailOn.DEVIATION: ("deviation",), FailOn.MISSING: ("deviation", "missing"), FailOn.NONE: ()}


def audit(
    path: Annotated[Path, typer.Argument(help="Folder of the generated repository, or an archive of it.", show_default=False)],
    lineage: Lineage = "",
    form: Annotated[Form, typer.Option("--format", help="text, json, sarif (2.1.0, for code hosts), or markdown.")] = Form.TEXT,
    fail_on: Annotated[FailOn, typer.Option(help="End with exit code 5 on any deviation, on what is missing as well, or never.")] = FailOn.NONE,
    min_score: Annotated[
        float, typer.Option("--min-score", "--fail-under", min=0, max=1, help="End with exit code 5 if less of what can be judged agrees.")
    ] = 0.0,
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Expect nothing of what only the target's own code says.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show what agrees and what cannot be judged as well.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Compare a generated repository with the paper: values that match, deviate or are missing. Runs no code.

    Examples:

      lineage audit ./generated --lineage arxiv-2504.17192

      lineage audit ./generated --fail-on deviation --min-score 0.8 --format sarif > audit.sarif
    """
    made = service_of(home).audit(path, lineage=lineage, no_target_code=no_target_code)
    _print(made, Form.JSON if json else form, everything)
    with exit_codes.concluding():
        failing = [finding for finding in made.findings if finding.verdict in _FAILING[fail_on]]
        if failing or made.score < min_score:
            few = f"{made.score:.0%} of what could be judged agrees, less than {min_score:.0%}"
            many = f"{len(failing)} of {len(made.findings)} findings deviate or are missing"
            raise Losses(many if failing else few, hint="the findings above say what differs and what is missing")


def _print(made: Audit, form: Form, everything: bool) -> None:
    if form is Form.SARIF:
        exit_codes.say(notation.dumps(sarif.to_sarif(made, display_audit.shown(everything)), indent=2), exact=True)
    elif form is Form.JSON:
        put(made, True, str, operation="audit")
    else:
        render = display_audit.markdown if form is Form.MARKDOWN else display_audit.audit
        put(made, False, lambda result: render(result, everything), verbatim=form is Form.MARKDOWN)
