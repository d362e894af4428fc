"""The command that records what was decided, lists it, takes it back and writes it to a file."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from api.cli import exit_codes
from api.cli.common import Run, argument, command, option
from api.cli.display import plain, shorten
from api.cli.files import writable
from api.cli.terminal import bold, dim
from api.requests import Deciding
from lineage.decisions import Decision, Decisions, markdown
from lineage.errors import UsageError


@command(Deciding)
def decide(
    run: Run,
    name: Annotated[str, argument(metavar="NAME", help="A detail by any of its names: lr, weight decay.")] = "",
    value: Annotated[str, argument(metavar="VALUE", help="What it is to be.")] = "",
    because: Annotated[str, option("--because", help="Citation of the lines that state it, as `query` prints it.")] = "",
    by: Annotated[str, option("--by", help="Who decides (default: your user name).")] = "",
    listed: Annotated[bool, typer.Option("--list", help="List what was decided.")] = False,
    remove: Annotated[str, option("--remove", metavar="NAME", help="Withdraw the decision on a detail.")] = "",
    export: Annotated[Path | None, option("--export", help="Write the decisions to a file, as Markdown.")] = None,
) -> None:
    """Record what you decide on a detail that the paper leaves open; the cited lines are checked to state it.

    `gaps` and `context` show it, `audit` expects it, `export` takes it along, and a rebuild keeps it.

    Examples:

      lineage decide "weight decay" 0.02 --because LTH14/mar/main_mar.py:81

      lineage decide --list

      lineage decide --export DECISIONS.md
    """
    service, lineage, who = run.service, run.asked["lineage"], by or _user()
    if [bool(name), listed, bool(remove), export is not None].count(True) != 1:
        raise UsageError("one of NAME VALUE, --list, --remove and --export is needed", hint='lineage decide "learning rate" 1e-4 --because CITATION')
    if remove:
        run.put(service.withdraw(remove, lineage=lineage, by=who), _withdrawn, "withdraw")
    elif name:
        if not (value and because):
            raise UsageError("a decision needs a value and --because CITATION", hint="`lineage query` and `lineage facts` print citations")
        made = service.decide(name, value, because, by=who, **run.asked)
        run.put(made, lambda decision: "\n".join(_lines(decision)), "decide")
    else:
        in_force = service.decisions(lineage)
        if export is None:
            run.put(in_force, _table, "decisions")
            return
        path = writable(export)
        path.write_text(markdown(in_force), encoding="utf-8")
        run.put(in_force, lambda decisions: f"{len(decisions.decisions)} decisions in {plain(str(path))}", "decisions")
        with exit_codes.concluding():
            for problem in in_force.notes:
                print(f"note: {plain(problem)}", file=sys.stderr)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name for the user's number
        return ""


def _withdrawn(decision: Decision) -> str:
    return f"withdrawn: {plain(decision.title or decision.name)} = {plain(decision.value)}"


def _table(decisions: Decisions) -> str:
    head = [dim(f"{decisions.lineage} · generation {decisions.generation}"), f"{len(decisions.decisions)} decisions"]
    head += [f"note: {plain(note)}" for note in decisions.notes]
    return "\n".join([*head, *(text for decision in decisions.decisions for text in _lines(decision))])


def _lines(decision: Decision) -> list[str]:
    """A decision with its reason and the beginning of the lines that state it."""
    note = [f"    {shorten(decision.note, 140)}"] if decision.note else []
    quote = next((text for text in decision.quote.split("\n") if text.strip()), "")
    return [
        f"  {bold(plain(decision.title or decision.name))} = {plain(decision.value)}  {dim(plain(decision.who))}",
        *note,
        f"    {plain(decision.citation)}: {shorten(quote, 110)}",
    ]
