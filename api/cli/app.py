"""The command line: every command is one method of `api.operations.Service`, printed as text or JSON.

stdout carries the answer and nothing else; progress, warnings and errors go to stderr. How a command ends, and with
which exit code, is `api.cli.exit_codes`.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from api.cli import exit_codes, terminal

_COMMANDS: dict[str, tuple[str, str]] = {
    "build": ("build.build", "Build the lineage of a paper."),
    "add": ("build.add", "Add papers or repositories to a lineage."),
    "update": ("build.update", "Look for new versions and commits."),
    "query": ("ask.query", "Search a lineage for code and passages."),
    "grep": ("ask.grep", "Find exact strings or expressions."),
    "read": ("ask.read", "Read the lines that a citation means."),
    "references": ("ask.references", "List what a paper cites, ranked."),
    "gaps": ("ask.gaps", "List what the paper leaves open, and what to use."),
    "facts": ("ask.facts", "Show every value of one setting and its sources."),
    "decide": ("decide.decide", "Record what you decide, with its evidence."),
    "audit": ("audit.audit", "Compare a generated repository with the paper."),
    "context": ("ask.context", "Collect what a task needs within a token budget."),
    "answer": ("ask.answer", "Answer a question from the evidence."),
    "report": ("inspect.report", "Write a report of the gaps, to mail or print."),
    "show": ("inspect.show", "Show a lineage: references, code, what failed."),
    "graph": ("inspect.graph", "Draw or export the citation graph."),
    "list": ("inspect.list_", "List the lineages of the store."),
    "status": ("inspect.status", "Show what failed or is incomplete."),
    "check": ("inspect.check", "Verify the integrity of the store."),
    "export": ("build.export", "Write a lineage to a file."),
    "import": ("build.import_", "Read a lineage from a file."),
    "push": ("build.push", "Put a lineage on a shelf for others."),
    "pull": ("build.pull", "Take a lineage from a shelf, or list it."),
    "migrate": ("build.migrate", "Copy lineages to another store."),
    "prune": ("build.prune", "Remove downloads that no lineage needs."),
    "doctor": ("inspect.doctor", "Show settings, models and services in use."),
    "eval": ("inspect.eval_", "Measure retrieval on questions of your own."),
    "demo": ("demo.demo", "Build and query a small example, offline."),
    "serve": ("serve.serve", "Serve the web page, REST and MCP."),
    "mcp": ("serve.mcp", "Serve coding agents over MCP."),
}
"""Of each command the function in `api.cli` and a one-line summary, short enough for a narrow terminal."""
_HIDDEN = {"search": ("ask.query", "The same as `query`.")}


class _Commands(TyperGroup):
    """The commands, each imported when it is run or its own help is asked for: the list of them needs none."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands.update(dict.fromkeys((*_COMMANDS, *_HIDDEN)))  # type: ignore[arg-type]

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        place, summary = (_COMMANDS | _HIDDEN).get(cmd_name, ("", ""))
        if place and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _command(cmd_name, place, summary)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


def _command(name: str, place: str, summary: str) -> Any:
    module, _, function = place.partition(".")
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    text = {"help": summary} if name in _HIDDEN else {"short_help": summary}
    single.command(name, **text)(getattr(import_module(f"api.cli.{module}"), function))  # type: ignore[arg-type]
    return typer.main.get_command(single)


app = typer.Typer(
    name="lineage",
    cls=_Commands,
    epilog='Start with: lineage demo   then: lineage build arxiv:2504.17192   and: lineage query "which prompt is the language model given?"',
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _said(asked: bool) -> None:
    """Print the installed version for `--version`."""
    if asked:
        from importlib.metadata import version

        exit_codes.say(f"lineage {version('paper-lineage')}")
        raise typer.Exit


def _warn_of_variables() -> None:
    """Warn of each `LINEAGE_` variable that is not a setting, with the closest match; otherwise it would be ignored silently."""
    from difflib import get_close_matches

    from lineage import settings as configuration

    variables = (variable for name in configuration.Settings.model_fields for variable in configuration.variables(name))
    known = {"LINEAGE_CONFIG", *(variable for variable in variables if variable.startswith("LINEAGE_"))}
    for name in sorted(name for name in os.environ if name.upper().startswith("LINEAGE_") and name.upper() not in known):
        near = get_close_matches(name.upper().removeprefix("LINEAGE_"), [setting.removeprefix("LINEAGE_") for setting in known], n=1)
        meant = f"is LINEAGE_{near[0]} meant?" if near else "`lineage doctor` lists the settings"
        print(f"warning: {terminal.one_line(name)} is not a setting of lineage; {meant}", file=sys.stderr)


@app.callback()
def options(
    version_: Annotated[bool, typer.Option("--version", help="Which version this is.", callback=_said, is_eager=True, show_default=False)] = False,
) -> None:
    """Index the papers and code that a paper builds on, and answer questions about it with citations."""
    if any(name.upper().startswith("LINEAGE_") for name in os.environ):
        _warn_of_variables()


def main() -> None:
    """Entry point: run the command and turn every outcome into an exit code and one clear line."""
    exit_codes.run(app)
