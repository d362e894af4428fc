"""Commands out of requests: the fields of a request are the options of its command, those of all commands follow, and a `Run` prints the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from functools import cached_property, partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo

from api.bootstrap import Parts
from api.cli import exit_codes, terminal
from api.operations import Service
from api.requests import Closed, Nothing, OfLineage
from api.wire.encode import envelope
from lineage import generation as layout
from lineage import settings as configuration
from lineage.errors import LineageError, UsageError
from lineage.progress import Watch
from lineage.settings import Settings

option, argument = partial(typer.Option, show_default=False), partial(typer.Argument, show_default=False)
"""Of a default that is not shown."""
Home = Annotated[Path | None, option("--home", metavar="DIR", help="Folder of the store (or LINEAGE_HOME).")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]
Offline = Annotated[bool, typer.Option("--offline", help="Send nothing; use what the store holds (or LINEAGE_OFFLINE=1).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Words = list[str] | None
"""Text without quotes: `lineage query how is the encoder initialized?`."""


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


_Chosen = Annotated[str, option("--lineage", "-l", help="The same, as an option.", autocompletion=known)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the calls, tokens and price that the chat model would cost; send it nothing.")]
Named = Annotated[str, argument(help=OfLineage.model_fields["lineage"].description, autocompletion=known)]


@dataclass(frozen=True)
class Run:
    """A command under way: the fields of its request as they were given (`asked`), and the options that all commands have."""

    asked: dict[str, Any]
    home: Path | None = None
    offline: bool = False
    quiet: bool = False
    json: bool = False

    @cached_property
    def settings(self) -> Settings:
        """The settings that the options choose."""
        return configuration.load(home=self.home, offline=self.offline or None)

    @cached_property
    def service(self) -> Service:
        """The operations on the store that the options select."""
        return Service(Parts(self.settings))

    def watching(self) -> AbstractContextManager[Watch]:
        """Progress on stderr, unless disabled."""
        from api.cli import progress  # rich is imported only by what takes long

        return progress.watching(self.quiet)

    def told_cost(self, asking: Callable[[], object], dry_run: bool) -> bool:
        """Print what the chat model would be asked; whether that was all that is wanted."""
        from api.cli import display

        usage = self.service.model_usage(asking)
        if dry_run:
            self.put(usage, display.usage, "model_usage")
        else:
            print(display.usage(usage), file=sys.stderr)
        return dry_run

    def watching_on_a_terminal(self) -> AbstractContextManager[Watch]:
        """The same for operations of a few seconds: on a terminal only, so that a script's stderr stays empty."""
        from api.cli import progress

        return progress.watching(self.quiet or not sys.stderr.isatty())

    def put(self, value: Any, text: Callable[[Any], str], operation: str = "", *, verbatim: bool = False) -> None:
        """Print a result as the JSON envelope or as `text` renders it; `verbatim` output is meant to be copied or piped.

        The JSON is what the table of operations presents of the result, if it names the `operation`.
        """
        if self.json:
            from api.table import BY_NAME  # brings the results of all operations along

            exit_codes.say(envelope(BY_NAME[operation].present(value) if operation else value), exact=True)
        elif verbatim:
            exit_codes.say(text(value))
        else:
            exit_codes.show(_with_origin(text(value), value))


def joined(words: Words) -> str:
    """The words of a text as one line."""
    return " ".join(words or ())


def _with_origin(text: str, result: Any) -> str:
    """The text, with a line where the lineage was not built here from the public services."""
    words = getattr(getattr(result, "provenance", None), "words", "")
    return f"{text}\n\n{terminal.dim(f'origin: {words}')}" if words else text


_SHARED: Mapping[str, tuple[Any, Any]] = {"offline": (Offline, False), "home": (Home, None), "quiet": (Quiet, False), "json": (Json, False)}
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "lineage": ("--lineage", "-l"),
    "fixed": ("--fixed-strings", "-F"),
    "word": ("--word-regexp", "-w"),
    "any_case": ("--ignore-case/--case-sensitive", "-i/-s"),
    "limit": ("--limit", "-n"),
    "context": ("--context", "-C"),
}
"""Options that are called otherwise than `--field`."""
_METAVARS: Mapping[str, str] = {"lineage": "NAME", "work": "WORK", "kind": "KIND", "lines": "A-B"}
"""What the value of an option is called in help."""
_CHOSEN = "chosen"


def command(request: type[Closed] = Nothing, argument: str = "", *, offline: bool = False, quiet: bool = False) -> Callable[..., Any]:
    """Make a command of a function of a `Run` and of the options that only the command line has.

    The other fields of the request become options, the one called `argument` the argument; what the function declares itself
    takes the place of a field. A lineage that is an argument may be named by `--lineage` too.
    """
    left_out = {name for name, wanted in (("offline", offline), ("quiet", quiet)) if not wanted}
    shared = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default) for name, (kind, default) in _SHARED.items()]

    def made(function: Callable[..., None]) -> Callable[..., None]:
        own = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in signature(function, eval_str=True).parameters.values()][1:]
        declared = {parameter.name for parameter in own} | {"form"}
        kinds = get_type_hints(request)
        asked = [_parameter(name, field, kinds[name], name == argument) for name, field in request.model_fields.items() if name not in declared]
        names = {parameter.name for parameter in asked}
        chosen = [Parameter(_CHOSEN, Parameter.KEYWORD_ONLY, annotation=_Chosen, default="") for parameter in own if _is_argument(parameter)]
        parameters = [*asked, *own, *chosen, *(parameter for parameter in shared if parameter.name not in left_out)]

        @wraps(function)
        def run(**given: Any) -> None:
            values = {name: given.pop(name) for name in names}
            common = {field.name: given.pop(field.name) for field in fields(Run) if field.name in given}
            if named := given.pop(_CHOSEN, ""):
                if given["lineage"]:
                    raise UsageError("the lineage is named twice", hint="name it as the argument or by --lineage")
                given["lineage"] = named
            function(Run(values, **common), **given)

        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # inspect documents it as the way to say it
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return made


def _is_argument(parameter: Parameter) -> bool:
    """Whether a parameter is a lineage that may be left out, as an argument."""
    return parameter.name == "lineage" and parameter.default == "" and isinstance(parameter.annotation.__metadata__[0], ArgumentInfo)


def _parameter(name: str, field: Any, kind: Any, is_argument: bool) -> Parameter:
    """The option, or argument, of a field of a request."""
    choices = tuple(choice for choice in get_args(kind) if isinstance(choice, str) and choice)
    words = f"{field.description.rstrip('.')}: {', '.join(choices)}." if choices else field.description
    metavar = {"metavar": _METAVARS[name]} if name in _METAVARS else {}
    options: dict[str, Any] = {"help": words, "show_default": type(field.default) is int, **metavar}
    options |= {bound: getattr(limit, key) for limit in field.metadata for bound, key in (("min", "ge"), ("max", "le")) if hasattr(limit, key)}
    options |= {"metavar": "N"} if "min" in options or "max" in options else {}
    if name == "lineage" or choices:
        options["autocompletion"] = known if name == "lineage" else one_of(*choices)
    flags = () if is_argument else _FLAGS.get(name, (f"--{name.replace('_', '-')}",))
    default = Parameter.empty if field.is_required() else field.default
    made = typer.Argument(**options) if is_argument else typer.Option(*flags, **options)
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[str if choices else kind, made], default=default)
