"""Shared by the commands: common options, making the service, printing results."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer

from api.bootstrap import Parts
from api.cli import exit_codes, terminal
from api.operations import Service
from api.wire.encode import envelope
from lineage import generation as layout
from lineage import settings as configuration
from lineage.errors import LineageError
from lineage.progress import Watch

Home = Annotated[Path | None, typer.Option("--home", help="Folder of the store (or LINEAGE_HOME).", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help='Print one object {"schema_version": "1", "data": …}.')]
Offline = Annotated[bool, typer.Option("--offline", help="Send nothing; use what the store holds (or LINEAGE_OFFLINE=1).")]
NoTargetCode = Annotated[bool, typer.Option("--no-target-code", help="Exclude the target's own code.")]


def known(ctx: typer.Context, incomplete: str) -> list[str]:
    """Lineage names for shell completion; empty if the store cannot be read."""
    try:
        home = configuration.load(home=ctx.params.get("home")).lineages
        return [name for name in layout.names(home) if name.startswith(incomplete)]
    except (LineageError, OSError):
        return []


def one_of(*words: str) -> Callable[[str], list[str]]:
    """A completion from a fixed list."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


_ONLY = "name or target (arXiv id, DOI, URL, title); optional while there is only one."
Lineage = Annotated[str, typer.Option("--lineage", "-l", help=f"The lineage: {_ONLY}", show_default=False, autocompletion=known)]
Named = Annotated[str, typer.Argument(help=f"The lineage: {_ONLY}", show_default=False, autocompletion=known)]
Words = list[str] | None
"""Text without quotes: `lineage query how is the encoder initialized?`."""
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def joined(words: Words) -> str:
    """The words of a text as one line."""
    return " ".join(words or ())


def service_of(home: Path | None, offline: bool = False) -> Service:
    """The operations on the store that the options select."""
    return Service(Parts(configuration.load(home=home, offline=offline or None)))


def put(value: Any, as_json: bool, text: Callable[[Any], str], *, operation: str = "", verbatim: bool = False) -> None:
    """Print a result as the JSON envelope or as `text` renders it; `verbatim` output is meant to be copied or piped.

    The JSON is what the table of operations presents of the result, if it names the `operation`.
    """
    if as_json:
        from api.table import BY_NAME  # brings the requests and results of all operations along

        exit_codes.say(envelope(BY_NAME[operation].present(value) if operation else value), exact=True)
    elif verbatim:
        exit_codes.say(text(value))
    else:
        exit_codes.show(_with_origin(text(value), value))


def _with_origin(text: str, result: Any) -> str:
    """The text, with a line where the lineage was not built here from the public services."""
    words = getattr(getattr(result, "provenance", None), "words", "")
    return f"{text}\n\n{terminal.dim(f'origin: {words}')}" if words else text


def watching(quiet: bool) -> AbstractContextManager[Watch]:
    """Progress on stderr, unless disabled."""
    from api.cli import progress  # rich is imported only by what takes long

    return progress.watching(quiet)


def watching_on_a_terminal(quiet: bool) -> AbstractContextManager[Watch]:
    """The same for operations of a few seconds: on a terminal only, so that a script's stderr stays empty."""
    return watching(quiet or not sys.stderr.isatty())
