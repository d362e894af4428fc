"""The command line: every command is one method of `api.operations.Service`, printed as text or JSON.

stdout carries the answer and nothing else; progress, warnings and errors go to stderr. How a command ends, and with
which exit code, is `api.cli.exit_codes`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib.metadata import version
from typing import Annotated

import typer

from api.cli import display, exit_codes
from api.cli.commands import agents, audit, build, bundles, context, evaluation, facts, gaps, inspect, query, serve
from lineage import settings as configuration

app = typer.Typer(
    name="lineage",
    epilog='Start with: lineage demo   then: lineage build arxiv:2504.17192   and: lineage query "which prompt is the language model given?"',
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

_COMMANDS: dict[str, Callable[..., None]] = {
    "build": build.build,
    "add": build.add,
    "query": query.query,
    "references": query.references,
    "gaps": gaps.gaps,
    "facts": facts.facts,
    "audit": audit.audit,
    "context": context.context,
    "answer": context.answer,
    "show": inspect.show,
    "graph": inspect.graph,
    "list": inspect.list_,
    "status": inspect.status,
    "check": inspect.check,
    "export": bundles.export,
    "import": bundles.import_,
    "doctor": inspect.doctor,
    "eval": evaluation.eval_,
    "demo": inspect.demo,
    "serve": serve.serve,
    "mcp": agents.mcp,
}
_SUMMARIES = {
    "build": "Build the lineage of a paper.",
    "add": "Add papers or repositories to a lineage.",
    "query": "Search a lineage for code and passages.",
    "references": "List what a paper cites, ranked.",
    "gaps": "List what the paper leaves open, and what to use.",
    "facts": "Show every value of one setting and its sources.",
    "audit": "Compare a generated repository with the paper.",
    "context": "Collect what a task needs within a token budget.",
    "answer": "Answer a question from the evidence.",
    "show": "Show a lineage: references, code, what failed.",
    "graph": "Draw or export the citation graph.",
    "list": "List the lineages of the store.",
    "status": "Show what failed or is incomplete.",
    "check": "Verify the integrity of the store.",
    "export": "Write a lineage to a file.",
    "import": "Read a lineage from a file.",
    "doctor": "Show settings, models and services in use.",
    "eval": "Measure retrieval on questions of your own.",
    "demo": "Build and query a small example, offline.",
    "serve": "Serve the web page, REST and MCP.",
    "mcp": "Serve coding agents over MCP.",
}
"""One-line summaries of the commands, short enough for a narrow terminal."""

for _name, _command in _COMMANDS.items():
    app.command(_name, short_help=_SUMMARIES[_name])(_command)
app.command("search", hidden=True, help="The same as `query`.")(query.query)


def _said(asked: bool) -> None:
    """Print the installed version for `--version`."""
    if asked:
        exit_codes.say(f"lineage {version('paper-lineage')}")
        raise typer.Exit


def _warn_of_variables() -> None:
    """Warn of each `LINEAGE_` variable that is not a setting, with the closest match; otherwise it would be ignored silently."""
    variables = (variable for name in configuration.Settings.model_fields for variable in configuration.variables(name))
    known = {"LINEAGE_CONFIG", *(variable for variable in variables if variable.startswith("LINEAGE_"))}
    for name in sorted(name for name in os.environ if name.upper().startswith("LINEAGE_") and name.upper() not in known):
        near = get_close_matches(name.upper().removeprefix("LINEAGE_"), [setting.removeprefix("LINEAGE_") for setting in known], n=1)
        meant = f"is LINEAGE_{near[0]} meant?" if near else "`lineage doctor` lists the settings"
        print(f"warning: {display.plain(name)} is not a setting of lineage; {meant}", file=sys.stderr)


@app.callback()
def options(
    version_: Annotated[bool, typer.Option("--version", help="Which version this is.", callback=_said, is_eager=True, show_default=False)] = False,
) -> None:
    """Index the papers and code that a paper builds on, and answer questions about it with citations."""
    _warn_of_variables()


def main() -> None:
    """Entry point: run the command and turn every outcome into an exit code and one clear line."""
    exit_codes.run(app)
