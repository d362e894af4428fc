"""The command that compares a generated repository with a paper."""

from __future__ import annotations

import json as notation
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli import exit_codes
from api.cli.common import Home, Json, Lineage, put, service_of
from api.cli.display import plain, shorten
from api.wire import sarif
from api.wire.markup import Block, Heading, Paragraph, Table
from api.wire.markup import markdown as as_markdown
from lineage.citation import citation
from lineage.errors import Losses
from lineage.results import Audit, AuditFinding

_LEVELS = {"paper": "components of the method", "method": "details of the method", "experiment": "settings of the experiments"}
_MARKS = {"match": "ok", "deviation": "differs", "missing": "missing", "cannot judge": "?"}


class ReportFormat(StrEnum):
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
    form: Annotated[ReportFormat, typer.Option("--format", help="text, json, sarif (2.1.0, for code hosts), or markdown.")] = ReportFormat.TEXT,
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
    _print(made, ReportFormat.JSON if json else form, everything)
    with exit_codes.concluding():
        failing = [finding for finding in made.findings if finding.verdict in _FAILING[fail_on]]
        if failing or made.score < min_score:
            few = f"{made.score:.0%} of what could be judged agrees, less than {min_score:.0%}"
            many = f"{len(failing)} of {len(made.findings)} findings deviate or are missing"
            raise Losses(many if failing else few, hint="the findings above say what differs and what is missing")


def _print(made: Audit, form: ReportFormat, everything: bool) -> None:
    if form is ReportFormat.SARIF:
        exit_codes.say(notation.dumps(sarif.to_sarif(made, shown(everything)), indent=2), exact=True)
    elif form is ReportFormat.JSON:
        put(made, True, str, operation="audit")
    else:
        render = markdown if form is ReportFormat.MARKDOWN else report_text
        put(made, False, lambda result: render(result, everything), verbatim=form is ReportFormat.MARKDOWN)


def shown(everything: bool = False) -> tuple[str, ...]:
    """The verdicts that a report lists."""
    return tuple(_MARKS) if everything else ("deviation", "missing")


def report_text(made: Audit, everything: bool = False) -> str:
    """The report; with `everything` what agrees and what cannot be judged is listed as well."""
    lines = [_summary(made)]
    for level, title in _LEVELS.items():
        rows = [finding for finding in made.findings if finding.level == level]
        listed = [finding for finding in rows if finding.verdict in shown(everything)]
        if rows:
            lines += [
                "",
                f"{title} ({len(rows) - len(listed)} of {len(rows)} agree or cannot be judged; --all shows them):"
                if len(listed) < len(rows)
                else f"{title}:",
            ]
        lines += [line for finding in listed for line in _finding(finding)]
    return "\n".join([*lines, "", *(plain(note) for note in made.notes)])


def markdown(made: Audit, everything: bool = False) -> str:
    """The report as Markdown tables, one for each level, for a pull request."""
    blocks: list[Block] = [Heading(2, "Audit"), Paragraph(_summary(made))]
    for level, title in _LEVELS.items():
        rows = tuple(_row(finding) for finding in made.findings if finding.level == level and finding.verdict in shown(everything))
        blocks += [Heading(3, title.capitalize()), Table(("", "detail", "expected", "found", "where", "evidence"), rows)] if rows else []
    return as_markdown([*blocks, *(Paragraph(plain(note)) for note in made.notes)])


def _row(finding: AuditFinding) -> tuple[str, ...]:
    cells = (_MARKS[finding.verdict], finding.title, finding.expected, finding.found, finding.where, ", ".join(map(citation, finding.evidence[:1])))
    return tuple(shorten(cell, 80) for cell in cells)


def _summary(made: Audit) -> str:
    counts = [f"{sum(finding.verdict == verdict for finding in made.findings)} {verdict}" for verdict in _MARKS]
    return f"{plain(made.path)} against {made.lineage}: {made.score:.0%} of what could be judged agrees ({', '.join(counts)})"


def _finding(finding: AuditFinding) -> Iterator[str]:
    where = f"  {plain(finding.where)}" if finding.where else ""
    yield f"  {_MARKS[finding.verdict]:<8} {shorten(finding.title, 60)}{where}"
    if finding.name != "component":
        scope = f" for {shorten(finding.scope, 60)}" if finding.scope else ""
        found_text = f", found {shorten(finding.found, 60)}" if finding.found else ""
        yield f"           expected {shorten(finding.expected, 80)}{scope}{found_text}"
    yield f"           {shorten(finding.why, 120)}"
    for hit in finding.evidence[:1] if finding.verdict != "match" else ():
        yield f"           {plain(citation(hit))}"
