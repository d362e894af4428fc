"""Commands for inspection: show, graph, list, status, check, doctor, eval."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from api.cli import display, display_files, exit_codes
from api.cli.common import Named, Run, argument, command, known, one_of, option
from api.cli.files import writable
from api.requests import LogOf, Reporting
from api.wire.encode import envelope
from lineage.errors import StoreDamaged, UsageError
from lineage.generation import Damaged
from lineage.registry import names

if TYPE_CHECKING:
    from api.wire.stored import Overview
    from indexer.against_source import SourceCheck
    from indexer.store.generations import Finding

FORMS = one_of(*names("renderers"))


@command()
def show(
    run: Run, lineage: Named = "", full: Annotated[bool, typer.Option("--full", help="All of it, also in a pipe, which gets the gist.")] = False
) -> None:
    """Show a lineage: what each part comes from, the repositories with their main programs, what is missing.

    Examples:

      lineage show 2504.17192

      lineage show --full
    """
    whole = full or sys.stdout.isatty()
    run.put(run.service.show(lineage), display.overview if whole else _brief, "show", verbatim=not whole)


def _brief(shown: Overview) -> str:
    return shown.brief("next, several at once: lineage query QUESTION..., lineage grep -C 5 NAME..., lineage read PATH:3-40...; lineage gaps")


@command()
def graph(
    run: Run,
    lineage: Named = "",
    form: Annotated[str, typer.Option("--format", help=f"One of {', '.join(names('renderers'))}.", autocompletion=FORMS)] = "html",
    out: Annotated[Path | None, option("--out", "-o", help="File to write (default: stdout).")] = None,
) -> None:
    """Draw the lineage, or export it for other tools: x = year, size = weight, color = role.

    Examples:

      lineage graph arxiv-2504.17192 -o lineage.html

      lineage graph arxiv-2504.17192 --format graphml -o lineage.graphml
    """
    text = run.service.graph(lineage, "json" if run.json else form)
    text = envelope(loads(text)) if run.json else text
    _written(text, out, exact=run.json or form == "json")


@command(Reporting, quiet=True)
def report(
    run: Run,
    lineage: Named = "",
    out: Annotated[Path | None, option("--out", "-o", help="File to write: .html or .md (default: stdout).")] = None,
    form: Annotated[Literal["html", "markdown", "json"] | None, option("--format", help="Default: as the file is called.")] = None,
) -> None:
    """Write a report to mail or print: decisions by part with the ancestors' answers, licenses, what was read.

    One file without scripts that loads nothing.

    Examples:

      lineage report arxiv-2504.17192 -o report.html

      lineage report --format markdown > report.md
    """
    with run.watching_on_a_terminal() as watch:
        made = run.service.report(lineage, **run.asked, watch=watch)
    if run.json or form == "json":
        replace(run, json=True).put(made, str, "report")
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
        from indexer.store.verify import MENDABLE

        problems = "; ".join(row.problem for row in rows if isinstance(row, Damaged)) or f"{len(rows)} findings"
        others = [row.hint for row in rows if not isinstance(row, Damaged) and row.hint not in MENDABLE]
        repair = "`lineage check --repair` fetches or makes again just what is damaged"
        raise StoreDamaged(problems, hint=others[0] if len(others) == len(rows) else repair)


def _fail_if_forged(rows: Sequence[SourceCheck]) -> None:
    if rows:
        names = ", ".join(row.work for row in rows)
        raise StoreDamaged(f"differs from the source: {names}", hint="build it again: lineage build TARGET --refresh all")


@command()
def list_(run: Run) -> None:
    """List the lineages of the store. Exits with 6 if one of them is damaged.

    Example:

      lineage list --home ./store
    """
    rows = run.service.lineages()
    run.put(rows, display.lineages, "lineages")
    with exit_codes.concluding():
        _fail_if_damaged([row for row in rows if isinstance(row, Damaged)])


@command()
def status(run: Run, lineage: Named = "") -> None:
    """Show how complete a lineage is: totals of the ledger, and every failed or incomplete item with the reason.

    Examples:

      lineage status arxiv-2504.17192

      lineage status --json
    """
    run.put(run.service.status(lineage), display.status, "status")


@command(quiet=True)
def check(
    run: Run,
    lineage: Annotated[str, typer.Argument(help="The lineage: name or target (default: all).", autocompletion=known)] = "",
    read_data: Annotated[bool, typer.Option("--read-data", help="Read and hash every file and row, blobs included.")] = False,
    mend: Annotated[bool, typer.Option("--repair", help="Fetch or make again just what is damaged, then verify everything.")] = False,
    against_source: Annotated[
        bool, typer.Option("--against-source", help="Fetch every pinned repository and paper of a lineage again, and compare.")
    ] = False,
) -> None:
    """Verify the store: hashes, ledger totals, vectors, exclusions. Exits with 6 if something is wrong.

    Examples:

      lineage check

      lineage check arxiv-2504.17192 --read-data

      lineage check --repair

      lineage check arxiv-2504.17192 --against-source
    """
    if against_source:
        with run.watching() as watch:
            checks = run.service.against_source(lineage, watch=watch)
        run.put(checks, display.source_checks, "against_source")
        with exit_codes.concluding():
            _fail_if_forged([row for row in checks if row.verdict == "differs"])
        return
    if mend:
        with run.watching() as watch:
            repairs = run.service.repair(lineage, watch=watch)
        typer.echo(display.repairs(repairs), err=True)
    findings = run.service.check(lineage, read_data=read_data or mend)
    run.put(findings, display.findings)
    with exit_codes.concluding():
        _fail_if_damaged(findings)


@command(offline=True)
def doctor(run: Run) -> None:
    """Show what is configured and why: store, disk, models, keys, hosts, profiles, settings, versions. Sends nothing.

    Examples:

      lineage doctor

      LINEAGE_EMBEDDER=sentence-transformers:all-MiniLM-L6-v2 lineage doctor --json
    """
    run.put(run.service.doctor(), display.doctor)


@command(LogOf)
def eval_(
    run: Run,
    file: Annotated[Path, argument(help="A file of questions with their answers, one JSON object a line.")],
    k: Annotated[int, typer.Option("-k", min=10, max=100, help="How many hits are asked for.")] = 20,
) -> None:
    """Measure a lineage on questions whose answers you know: recall, MRR, nDCG, focus and latency, by kind and row by row.

    A line is {"id", "query", "gold"} and may have a "kind" and a "lineage" (lines of other lineages are skipped).
    Gold is one or several of: {"path", "start", "end"} with "repo" where the path alone is not enough; {"work", "quote"},
    words that stand in a paper; or the identifier of a chunk. "also" lists copies of the first.

    Example:

      lineage eval examples/demo/questions.jsonl --lineage arxiv-9912.00001
    """
    run.put(run.service.evaluate(file, k=k, **run.asked), display_files.evaluation)
