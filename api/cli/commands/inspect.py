"""Commands for inspection: show, graph, list, status, check, doctor, demo."""

from __future__ import annotations

import sys
from json import loads
from pathlib import Path
from typing import Annotated

import typer

from api.cli import display, exit_codes
from api.cli.commands.common import Home, Json, Named, Offline, Quiet, known, one_of, put, service_of, watching
from api.cli.files import writable
from api.wire import hits
from lineage.errors import UsageError
from lineage.generation import Damaged
from lineage.registry import names

FORMS = one_of(*names("renderers"))


def show(lineage: Named = "", home: Home = None, json: Json = False) -> None:
    """Show a lineage: the target, what it builds on and why, the repositories, what failed.

    Examples:

      lineage show arxiv:2504.17192

      lineage show --json
    """
    shown = service_of(home).show(lineage)
    put(hits.overview_to_json(shown) if json else shown, json, display.overview)


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
    text = hits.envelope(loads(text)) if json else text
    if not out:
        exit_codes.say(text, exact=json or form == "json")
        return
    try:
        writable(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}", hint="choose another file") from error
    print(f"wrote {out}", file=sys.stderr)


def list_(home: Home = None, json: Json = False) -> None:
    """List the lineages of the store. Exits with 6 if one of them is damaged.

    Example:

      lineage list --home ./store
    """
    service = service_of(home)
    rows = service.lineages()
    put([hits.to_json(row) for row in rows] if json else rows, json, display.lineages)
    with exit_codes.concluding():
        service.insist_sound([row for row in rows if isinstance(row, Damaged)])


def status(lineage: Named = "", home: Home = None, json: Json = False) -> None:
    """Show how complete a lineage is: totals of the ledger, and every failed or incomplete item with the reason.

    Examples:

      lineage status arxiv-2504.17192

      lineage status --json
    """
    completeness = service_of(home).status(lineage)
    put(hits.status_to_json(completeness) if json else completeness, json, display.status)


def check(
    lineage: Annotated[str, typer.Argument(help="The lineage: name or target (default: all).", autocompletion=known)] = "",
    read_data: Annotated[bool, typer.Option("--read-data", help="Read and hash every file and row, blobs included.")] = False,
    mend: Annotated[bool, typer.Option("--repair", help="Fetch or make again just what is damaged, then verify everything.")] = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Verify the store: hashes, ledger totals, vectors, exclusions. Exits with 6 if something is wrong.

    Examples:

      lineage check

      lineage check arxiv-2504.17192 --read-data

      lineage check --repair
    """
    service = service_of(home)
    if mend:
        with watching(quiet) as watch:
            repairs = service.repair(lineage, watch=watch)
        typer.echo(display.repairs(repairs), err=True)
    findings = service.check(lineage, read_data=read_data or mend)
    put([hits.to_json(row) for row in findings] if json else findings, json, display.findings)
    with exit_codes.concluding():
        service.insist_sound(findings)


def doctor(offline: Offline = False, home: Home = None, json: Json = False) -> None:
    """Show what is configured and why: store, disk, models, keys, hosts, profiles, settings, versions. Sends nothing.

    Examples:

      lineage doctor

      LINEAGE_EMBEDDER=sentence-transformers:all-MiniLM-L6-v2 lineage doctor --json
    """
    put(service_of(home, offline).doctor(), json, display.doctor)


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
