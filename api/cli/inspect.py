"""Commands for inspection: show, graph, list, status, check, doctor, eval, demo."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from api.cli import display, display_files, exit_codes
from api.cli.common import Home, Json, Lineage, Named, NoTargetCode, Offline, Quiet, known, one_of, put, service_of, watching, watching_on_a_terminal
from api.cli.files import writable
from api.wire.encode import envelope
from lineage.errors import StoreDamaged, UsageError
from lineage.generation import Damaged
from lineage.registry import names

if TYPE_CHECKING:
    from indexer.against_source import SourceCheck
    from indexer.store.generations import Finding

FORMS = one_of(*names("renderers"))


def show(lineage: Named = "", home: Home = None, json: Json = False) -> None:
    """Show a lineage: the target, what it builds on and why, the repositories, what failed.

    Examples:

      lineage show arxiv:2504.17192

      lineage show --json
    """
    shown = service_of(home).show(lineage)
    put(shown, json, display.overview, operation="show")


def graph(
    lineage: Named = "",
    form: Annotated[str, typer.Option("--format", help=f"One of {', '.join(names('renderers'))}.", autocompletion=FORMS)] = "html",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write (default: stdout).", show_default=False)] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Draw the lineage, or export it for other tools: x = year, size = weight, color = role.

    Examples:

      lineage graph arxiv-2504.17192 -o lineage.html

      lineage graph arxiv-2504.17192 --format graphml -o lineage.graphml
    """
    text = service_of(home).graph(lineage, "json" if json else form)
    text = envelope(loads(text)) if json else text
    _written(text, out, exact=json or form == "json")


def report(
    lineage: Named = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write: .html or .md (default: stdout).", show_default=False)] = None,
    form: Annotated[
        Literal["html", "markdown", "json"] | None, typer.Option("--format", help="Default: as the file is called.", show_default=False)
    ] = None,
    no_target_code: NoTargetCode = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a report to mail or print: contradictions, decisions by part with the ancestors' answers, licenses, what was read.

    One file without scripts that loads nothing.

    Examples:

      lineage report arxiv-2504.17192 -o report.html

      lineage report --format markdown > report.md
    """
    with watching_on_a_terminal(quiet) as watch:
        made = service_of(home).report(lineage, no_target_code=no_target_code, watch=watch)
    if json or form == "json":
        put(made, True, str, operation="report")
        return
    chosen = form or ("html" if out and out.suffix in {".html", ".htm"} else "markdown")
    _written(made.text(chosen), out)


def _written(text: str, out: Path | None, *, exact: bool = False) -> None:
    """Write a text to a file, or print it."""
    if not out:
        exit_codes.say(text, exact=exact)
        return
    try:
        writable(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}", hint="choose another file") from error
    print(f"wrote {out}", file=sys.stderr)


def _fail_if_damaged(rows: Sequence[Finding | Damaged]) -> None:
    if rows:
        problems = "; ".join(row.problem for row in rows if isinstance(row, Damaged)) or f"{len(rows)} findings"
        raise StoreDamaged(problems, hint="`lineage check --repair` fetches or makes again just what is damaged")


def _fail_if_forged(rows: Sequence[SourceCheck]) -> None:
    if rows:
        names = ", ".join(row.work for row in rows)
        raise StoreDamaged(f"not what their sources hand out: {names}", hint="build it again: lineage build TARGET --refresh all")


def list_(home: Home = None, json: Json = False) -> None:
    """List the lineages of the store. Exits with 6 if one of them is damaged.

    Example:

      lineage list --home ./store
    """
    service = service_of(home)
    rows = service.lineages()
    put(rows, json, display.lineages, operation="lineages")
    with exit_codes.concluding():
        _fail_if_damaged([row for row in rows if isinstance(row, Damaged)])


def status(lineage: Named = "", home: Home = None, json: Json = False) -> None:
    """Show how complete a lineage is: totals of the ledger, and every failed or incomplete item with the reason.

    Examples:

      lineage status arxiv-2504.17192

      lineage status --json
    """
    completeness = service_of(home).status(lineage)
    put(completeness, json, display.status, operation="status")


def check(
    lineage: Annotated[str, typer.Argument(help="The lineage: name or target (default: all).", autocompletion=known)] = "",
    read_data: Annotated[bool, typer.Option("--read-data", help="Read and hash every file and row, blobs included.")] = False,
    mend: Annotated[bool, typer.Option("--repair", help="Fetch or make again just what is damaged, then verify everything.")] = False,
    against_source: Annotated[
        bool, typer.Option("--against-source", help="Fetch every pinned repository and paper of a lineage again, and compare.")
    ] = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Verify the store: hashes, ledger totals, vectors, exclusions. Exits with 6 if something is wrong.

    Examples:

      lineage check

      lineage check arxiv-2504.17192 --read-data

      lineage check --repair

      lineage check arxiv-2504.17192 --against-source
    """
    service = service_of(home)
    if against_source:
        with watching(quiet) as watch:
            checks = service.against_source(lineage, watch=watch)
        put(checks, json, display.source_checks, operation="against_source")
        with exit_codes.concluding():
            _fail_if_forged([row for row in checks if row.verdict == "differs"])
        return
    if mend:
        with watching(quiet) as watch:
            repairs = service.repair(lineage, watch=watch)
        typer.echo(display.repairs(repairs), err=True)
    findings = service.check(lineage, read_data=read_data or mend)
    put(findings, json, display.findings)
    with exit_codes.concluding():
        _fail_if_damaged(findings)


def doctor(offline: Offline = False, home: Home = None, json: Json = False) -> None:
    """Show what is configured and why: store, disk, models, keys, hosts, profiles, settings, versions. Sends nothing.

    Examples:

      lineage doctor

      LINEAGE_EMBEDDER=sentence-transformers:all-MiniLM-L6-v2 lineage doctor --json
    """
    put(service_of(home, offline).doctor(), json, display.doctor)


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
    put(checked_evaluation, json, display_files.evaluation)


def demo(
    home: Annotated[Path, typer.Option("--home", "--folder", help="Folder of the demonstration's store.")] = Path(".demo"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build the demonstration lineage against a loopback upstream and answer three questions. Sends nothing out.

    Example:

      lineage demo --home .demo
    """
    from api.cli.demo import run

    run(home, quiet, json)
