"""The command that compares a generated repository with a paper, and its report as text, Markdown and SARIF."""

from __future__ import annotations

import hashlib
import json as notation
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import typer

from api.cli import exit_codes
from api.cli.common import DryRun, Run, argument, command
from api.cli.display import plain, shorten
from api.requests import OfLineage
from api.wire.markup import Block, Heading, Paragraph, Table
from api.wire.markup import markdown as as_markdown
from lineage.citation import citation
from lineage.errors import Losses
from lineage.results import Audit, AuditFinding
from lineage.text.tokens import counted

_LEVELS = {"method": "details of the method", "experiment": "settings of the experiments"}
_MARKS = {"match": "ok", "deviation": "differs", "missing": "missing", "cannot judge": "?"}


_FAILING = {"deviation": ("deviation",), "missing": ("deviation", "missing"), "none": ()}
"""Which findings end the command with exit code 5."""


@command(OfLineage)
def audit(
    run: Run,
    path: Annotated[Path, argument(help="Folder of the generated repository, or an archive of it.")],
    form: Annotated[
        Literal["text", "json", "sarif", "markdown"], typer.Option("--format", help="text, json, sarif (2.1.0, for code hosts), or markdown.")
    ] = "text",
    fail_on: Annotated[
        Literal["deviation", "missing", "none"], typer.Option(help="End with exit code 5 on any deviation, on what is missing as well, or never.")
    ] = "none",
    min_score: Annotated[
        float, typer.Option("--min-score", "--fail-under", min=0, max=1, help="End with exit code 5 if less of what can be judged agrees.")
    ] = 0.0,
    everything: Annotated[bool, typer.Option("--all", help="Show what agrees and what cannot be judged as well.")] = False,
    model: Annotated[bool, typer.Option("--model", help="Let the configured chat model compare text and code as well (LINEAGE_LLM_MODEL).")] = False,
    dry_run: DryRun = False,
) -> None:
    """Compare a generated repository with the paper: values that match, deviate or are missing. Runs no code.

    Examples:

      lineage audit ./generated --lineage arxiv-2504.17192

      lineage audit ./generated --fail-on deviation --min-score 0.8 --format sarif > audit.sarif
    """
    if (model or dry_run) and run.told_cost(lambda: run.service.audit(path, **run.asked, model=True), dry_run):
        return
    with run.watching_on_a_terminal() as watch:
        made = run.service.audit(path, **run.asked, model=model, watch=watch)
    _print(run, made, "json" if run.json else form, everything)
    with exit_codes.concluding():
        failing = [finding for finding in made.findings if finding.verdict in _FAILING[fail_on]]
        if failing or made.score < min_score:
            few = f"{made.score:.0%} of what could be judged agrees, less than {min_score:.0%}"
            many = f"{len(failing)} of {len(made.findings)} findings deviate or are missing"
            raise Losses(many if failing else few, hint="the findings above say what differs and what is missing")


def _print(run: Run, made: Audit, form: str, everything: bool) -> None:
    if form == "sarif":
        exit_codes.say(notation.dumps(to_sarif(made, shown(everything)), indent=2), exact=True)
        return
    render = markdown if form == "markdown" else report_text
    replace(run, json=form == "json").put(made, lambda result: render(result, everything), "audit", verbatim=form == "markdown")


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
            rest = f" ({len(rows) - len(listed)} of {len(rows)} agree or cannot be judged; --all shows them)" if len(listed) < len(rows) else ""
            lines += ["", f"{title}{rest}{':' if listed else ''}"]
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
    count = Counter(finding.verdict for finding in made.findings)
    counts = f"{count['match']} agree, {counted(count['deviation'], 'deviation')}, {count['missing']} missing, {count['cannot judge']} not judged"
    return f"{plain(made.path)} against {made.lineage}: {made.score:.0%} of what could be judged agrees ({counts})"


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


# -- as SARIF 2.1.0, the format that code hosts and editors read as findings of static analysis

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_KINDS = {"match": ("pass", "none"), "deviation": ("fail", "error"), "missing": ("fail", "warning"), "cannot judge": ("open", "none")}
"""The kind and level of a result by verdict; only what fails may have a level."""
_WHERE = re.compile(r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?\Z")
_LEVEL_TITLES = {"method": "Detail of the method", "experiment": "Setting of an experiment"}


def to_sarif(made: Audit, verdicts: Iterable[str] = ("deviation", "missing")) -> dict[str, Any]:
    """The log of one run with the findings of these verdicts, one rule for each detail."""
    shown = [finding for finding in made.findings if finding.verdict in set(verdicts)]
    rules = {_rule_id(finding): finding for finding in shown}
    driver = {"name": "lineage", "version": version("paper-lineage"), "rules": [_rule(*item) for item in rules.items()]}
    properties = {"lineage": made.lineage, "generation": made.generation, "score": made.score, "notes": list(made.notes)}
    run = {"tool": {"driver": driver}, "results": [_result(finding, list(rules)) for finding in shown], "properties": properties}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule_id(finding: AuditFinding) -> str:
    return f"{finding.level}/{finding.name}"


def _rule(identifier: str, finding: AuditFinding) -> dict[str, Any]:
    return {
        "id": identifier,
        "shortDescription": {"text": f"{_LEVEL_TITLES[finding.level]}: {finding.title}"},
        "properties": {"level": finding.level},
    }


def _result(finding: AuditFinding, rules: list[str]) -> dict[str, Any]:
    kind, level = _SARIF_KINDS[finding.verdict]
    identifier = _rule_id(finding)
    mark = "\0".join((identifier, finding.verdict, finding.expected, finding.scope, finding.where.partition("#")[0]))
    return {
        "ruleId": identifier,
        "ruleIndex": rules.index(identifier),
        "kind": kind,
        "level": level,
        "message": {"text": _message(finding)},
        "locations": [_location(finding.where)],
        "partialFingerprints": {"lineageAudit/v1": hashlib.sha256(mark.encode()).hexdigest()},
        "rank": round(100 * finding.severity, 1),
        "properties": {"strength": finding.strength, "scope": finding.scope, "cites": [citation(hit) for hit in finding.evidence]},
    }


def _message(finding: AuditFinding) -> str:
    scope = f" for {finding.scope}" if finding.scope else ""
    instead = f", found {finding.found}" if finding.found else ""
    cites = "".join(f" ({citation(hit)})" for hit in finding.evidence[:1])
    return f"{finding.title}: expected {finding.expected}{scope}{instead}. {finding.why}{cites}"


def _location(where: str) -> dict[str, Any]:
    """A place of the repository; its root where a finding has none, since code hosts refuse results without a place."""
    place = _WHERE.match(where)
    if place is None:
        return {"physicalLocation": {"artifactLocation": {"uri": quote(where) or "."}}}
    region = {"startLine": int(place["first"]), **({"endLine": int(place["last"])} if place["last"] else {})}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(place["path"])}, "region": region}}
