"""The command line: every command is one method of `api.service.Service`, told to a person or as JSON.

stdout carries the answer and nothing else; progress, warnings and errors go to stderr. How a command ends, and with
which exit code, is `api.ending`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from api import ending
from api.commands import agents, asking, auditing, building, bundles, doors, evaluation, insight, looking, unsaid, writing

app = typer.Typer(
    name="lineage",
    epilog='Start with: lineage demo   then: lineage build arxiv:2504.17192   and: lineage query "how is the encoder initialized?"',
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

_COMMANDS: dict[str, Callable[..., None]] = {
    "build": building.build,
    "add": building.add,
    "query": asking.query,
    "references": asking.references,
    "gaps": unsaid.gaps,
    "facts": insight.facts,
    "audit": auditing.audit,
    "context": writing.context,
    "answer": writing.answer,
    "show": looking.show,
    "graph": looking.graph,
    "list": looking.list_,
    "status": looking.status,
    "check": looking.check,
    "export": bundles.export,
    "import": bundles.import_,
    "doctor": looking.doctor,
    "eval": evaluation.eval_,
    "demo": looking.demo,
    "serve": doors.serve,
    "mcp": agents.mcp,
}
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
app.command("search", hidden=True, help="The same as `query`.")(asking.query)


def _said(asked: bool) -> None:
    """`--version`, from what is installed."""
    if asked:
        ending.say(f"lineage {version('paper-lineage')}")
        raise typer.Exit


@app.callback()
def options(
    version_: Annotated[bool, typer.Option("--version", help="Which version this is.", callback=_said, is_eager=True, show_default=False)] = False,
) -> None:
    """What a paper took for granted: the papers and code it inherits from, indexed and answered with proof."""


def main() -> None:
    """Entry point: runs the command and turns every way to end into an exit code and one clear line."""
    ending.run(app)
