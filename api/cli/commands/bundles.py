"""Commands to share a lineage: export and import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli import display_bundles
from api.cli.commands.common import Home, Json, Named, Offline, Quiet, put, service_of, watching
from api.wire import hits


def export(
    lineage: Named = "",
    out: Annotated[Path | None, typer.Argument(help="File to write (default: NAME.lineage).", show_default=False)] = None,
    all_texts: Annotated[bool, typer.Option("--all-texts", help="Include texts whose license forbids redistribution (own machines only).")] = False,
    lock: Annotated[bool, typer.Option("--lock", help="Write a lock file instead (default: lineage.lock).")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Write a lineage as one file that opens on another machine without a network.

    Texts whose license does not allow redistribution are excluded and listed; their sources and hashes are kept, so that
    `lineage import` can fetch them again and verify that they are identical.

    With --lock it records the answers of the services and the versions and commits that were read: `lineage build --lock FILE`
    builds the same content from it on any machine.

    Examples:

      lineage export arxiv-2504.17192 paper2code.lineage

      lineage export arxiv-2504.17192 mine.lineage --all-texts

      lineage export arxiv-2504.17192 --lock
    """
    if out is None and lineage.endswith((".lineage", ".lock")):
        lineage, out = "", Path(lineage)  # the only lineage there is, to that file
    if lock:
        locked = service_of(home).lock(lineage, out)
        put(hits.to_json(locked) if json else locked, json, display_bundles.locked)
        return
    made = service_of(home).export(lineage, out, all_texts=all_texts)
    put(hits.to_json(made) if json else made, json, display_bundles.exported)


def import_(
    file: Annotated[Path, typer.Argument(help="A bundle that `lineage export` wrote.", show_default=False)],
    name: Annotated[str, typer.Option(help="Name of the lineage here (default: the one it had).", show_default=False)] = "",
    offline: Offline = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Import a bundle: it is verified first, then written; texts excluded for their license are fetched again.

    It can be queried as soon as it is written. Run the command again to fetch what failed the first time.

    Examples:

      lineage import paper2code.lineage

      lineage import paper2code.lineage --name theirs --offline
    """
    with watching(quiet) as watch:
        made = service_of(home, offline).import_(file, name=name, watch=watch)
    put(hits.to_json(made) if json else made, json, display_bundles.imported)
