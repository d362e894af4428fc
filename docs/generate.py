"""Write the pages that are made from the code: commands, settings, statuses, errors, tools, endpoints, operations.

python -m docs.generate            write them
python -m docs.generate --check    fail if they are not what the code says
python -m docs.generate --modules  print every module with its purpose
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from api.cli.app import _COMMANDS, app
from api.mcp.arguments import schema
from api.mcp.tools import TOOLS, Tool
from api.rest.app import application, document
from api.rest.pages import Endpoint
from api.rest.pages import endpoints as described
from api.server.security import AccessPolicy
from api.table import OPERATIONS, Missing, Operation, Route
from lineage import errors
from lineage import settings as configuration
from lineage.records import Role, Status, Tier
from lineage.settings import Settings

HERE = Path(__file__).resolve().parent
NOTE = "<!-- made by `python -m docs.generate`; do not edit -->\n\n"


def commands() -> str:
    """Every command as its help describes it; options that several commands share stand once."""
    runner = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
    names = list(_COMMANDS)
    helps = {name: _Help(runner.invoke(app, [name, "--help"]).stdout) for name in names}
    uses = Counter(row for one in helps.values() for row in one.rows)
    common = [row for row, count in uses.items() if count > 1 and "--help" not in row[0]]
    body = "\n".join(f"## lineage {name}\n\n{one.markdown(common)}\n" for name, one in helps.items())
    intro = "`lineage COMMAND --help` says more. Brackets: defaults; *: required. Errors end with [exit codes](ledger.md#errors-and-exit-codes)."
    return f"# Commands\n\n{NOTE}{intro}\n\n## Common options\n\nWhere a command has them:\n\n{_bullets(common)}\n\n{body}"


_TYPE = re.compile(r" <(?:str|path|list\[str\]|int range|float range)>")
_BOUNDS = re.compile(r"(?:; |(?<=\[))[\d.]*(?:<=)?x[<>]=[\d.]+(?=\])")


class _Help:
    """The printed help of a command: its paragraphs, examples, and rows of arguments and options as (names, meaning)."""

    def __init__(self, text: str) -> None:
        head, *sections = re.split(r"^(?:Arguments|Options):\n", text, flags=re.MULTILINE)
        paragraphs = [" ".join(part.split()) for part in head.partition("\n\n")[2].split("\n\n") if part.strip()]
        self.examples = [part for part in paragraphs if part.startswith(("lineage ", "LINEAGE_"))]
        self.prose = [part for part in paragraphs if part not in self.examples and part not in {"Example:", "Examples:"}]
        entries = [entry for section in sections for entry in re.split(r"\n(?=  \S)", "\n" + section) if entry.strip()]
        split = ((" ".join(names.split()), " ".join(meaning.split())) for names, meaning in map(_split, entries))
        self.rows = [(_TYPE.sub("", names), _bare(meaning)) for names, meaning in split]

    def markdown(self, common: Sequence[tuple[str, str]]) -> str:
        """The help without rows that stand elsewhere."""
        block = [f"`{example}`".replace("--max- tokens", "--max-tokens") for example in self.examples[:1]]
        rows = [row for row in self.rows if row not in common and "--help" not in row[0]]
        return "\n\n".join([*self.prose[:1], *block, *([_bullets(rows)] if rows else [])])


def _bare(meaning: str) -> str:
    """What a row means, without bounds; an asterisk marks what is required."""
    return re.sub(r"\[default: ([^\]]*)\]", r"(\1)", _BOUNDS.sub("", meaning).removesuffix(" []")).replace(" [required]", "*")


def _split(entry: str) -> tuple[str, str]:
    """Names and meaning of an entry, which stand two or more spaces or a line apart."""
    found = re.match(r"\s*(\S.*?)(?: {2,}|\n)(.*)", entry, re.DOTALL)
    return (found[1], found[2]) if found else (entry, "")


def _bullets(rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- `{names}`: {meaning}" for names, meaning in rows)


def settings() -> str:
    """Every setting with its variable, default and meaning."""
    intro = (inspect.getdoc(configuration) or "").partition("\n\n")[2].strip()
    return f"# Settings\n\n{NOTE}{intro}\n\n" + "\n".join(map(_setting, Settings.model_fields)) + "\n"


def _setting(name: str) -> str:
    field = Settings.model_fields[name]
    further = [variable for variable in configuration.variables(name) if variable != f"LINEAGE_{name.upper()}"]
    hidden = name == "home" or field.default in ("", None) or name.endswith(("_key", "token", "_password"))
    also = f" Also `{'`, `'.join(further)}`." if further else ""
    return f"- `{name}`{'' if hidden else f' ({field.default})'}: {field.description}{also}"


def ledger() -> str:
    """Every status, role and tier, and the tree of errors."""
    outcomes = dict.fromkeys(status.outcome for status in Status)
    rows = "\n".join(f"- **{outcome}**: {', '.join(_status(status) for status in Status if status.outcome == outcome)}" for outcome in outcomes)
    table = f"Every item ends with one status; * marks those that the next build tries again.\n\n{rows}"
    words = f"Roles of a reference: {', '.join(f'`{role}`' for role in Role)}.\n\nTiers of a code link: {', '.join(f'`{tier}`' for tier in Tier)}."
    tree = inspect.cleandoc(errors.__doc__ or "")
    return f"# Ledger and errors\n\n{NOTE}{table}\n\n{words}\n\n## Errors and exit codes\n\n```text\n{tree}\n```\n"


def _status(status: Status) -> str:
    return f"`{status}`{'*' if status.retryable else ''}"


def tools() -> str:
    """Every tool of the MCP server: what it is for, what a client may know of it, and its arguments."""
    shared = "Most tools take `lineage` (name or target; optional while there is one) and `no_target_code` (leave the target's own code out)."
    return f"# Agent tools\n\n{NOTE}{shared}\n\n" + "\n".join(map(_tool, TOOLS))


_EVERYWHERE = ("lineage", "no_target_code")


def _tool(tool: Tool) -> str:
    hints = ", ".join(name.removesuffix("_hint").replace("_", " ") for name, given in tool.hints if given)
    accepted = schema(tool.arguments)
    rows = "\n".join(_argument(name, one, name in accepted["required"]) for name, one in accepted["properties"].items() if name not in _EVERYWHERE)
    return f"## {tool.name}\n\n{tool.description} ({hints})\n\n{rows}\n"


def _argument(name: str, one: dict[str, Any], required: bool) -> str:
    limits = " to ".join(f"{one[key]}" for key in ("minimum", "maximum") if key in one)
    takes = ", ".join(f"`{choice}`" for choice in one["enum"] if choice) if "enum" in one else f"{one['type']} {limits}".rstrip()
    default = "; required" if required else f"; default `{one['default']}`" if "default" in one else ""
    return f"- `{name}` ({takes}{default}): {one.get('description', '')}".rstrip(": ")


def endpoints() -> str:
    """Every endpoint of `lineage serve`, out of its OpenAPI document."""
    app = application(configuration.load(home=HERE / "no-store"), AccessPolicy())
    intro = "See [REST](rest.md) for examples and errors; `/docs` of a running server explains each parameter. An asterisk marks what is required."
    shared = "Most take `lineage` (a name or a target, optional if there is one) and `no_target_code` (leaves the target's own code out)."
    return f"# Endpoints\n\n{NOTE}{intro} {shared}\n\n" + "".join(map(_endpoint, described(document(app))))


def _endpoint(endpoint: Endpoint) -> str:
    named = [f"`{name}`{'*' if required else ''}" for name, *_, required in endpoint.parameters if name not in {"lineage", "no_target_code"}]
    return (
        f"- `{endpoint.method} {endpoint.path}`: {endpoint.description.partition(chr(10) * 2)[0]}"
        + (f" Takes {', '.join(named)}." if named else "")
        + "\n"
    )


def operations() -> str:
    """Every operation with its doors, and why a door does not offer it."""
    shared = [one for one in OPERATIONS if not isinstance(one.rest, Missing)]
    reasons = list(dict.fromkeys(door.reason for one in shared for door in _doors(one) if isinstance(door, Missing)))
    rows = "\n".join(_operation(one, reasons) for one in shared)
    notes = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))
    intro = "Operation: command, REST, tool. All give the same results, the Python clients too; a number says why one does not offer an operation."
    alone = f"## Only on the command line\n\n{_only_commands()}"
    return f"# Operations\n\n{NOTE}{intro}\n\n{rows}\n\n{notes}\n\n{alone}\n"


def _doors(operation: Operation) -> tuple[Any, ...]:
    return operation.cli, operation.rest, operation.mcp


def _operation(operation: Operation, reasons: Sequence[str]) -> str:
    cells = (f"({reasons.index(door.reason) + 1})" if isinstance(door, Missing) else f"`{_door(door)}`" for door in _doors(operation))
    return f"- `{operation.name}`: {', '.join(cells)}"


def _only_commands() -> str:
    """The commands that no other door offers, by the reason."""
    by_reason: dict[str, list[str]] = {}
    for one in OPERATIONS:
        if isinstance(one.rest, Missing):
            by_reason.setdefault(one.rest.reason, []).append(f"`{one.cli}` ({one.name})" if one.cli != one.name else f"`{one.cli}`")
    return "\n".join(f"- {', '.join(names)}: {reason}" for reason, names in by_reason.items())


def _door(door: str | Route) -> str:
    return f"{door.method} {door.path}" if isinstance(door, Route) else door


def modules() -> str:
    """Every module with the first line of its docstring, as text; printed, not part of the pages."""
    return "\n".join(f"{name:60} {purpose}" for package in ("lineage", "indexer", "retrieval", "api") for name, purpose in _purposes(package))


def _purposes(package: str) -> Iterator[tuple[str, str]]:
    root = HERE.parent
    for path in sorted((root / package).rglob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        yield name, " ".join(text.partition("\n\n")[0].split())


PAGES = {
    "operations.md": operations,
    "endpoints.md": endpoints,
    "commands.md": commands,
    "settings.md": settings,
    "ledger.md": ledger,
    "tools.md": tools,
}


def stale() -> Iterator[str]:
    """Names of pages that are not what the code says."""
    for name, page in PAGES.items():
        path = HERE / name
        if not path.exists() or path.read_text(encoding="utf-8") != page():
            yield name


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--modules", action="store_true")
    chosen = parser.parse_args()
    if chosen.modules:
        print(modules())
        return
    if chosen.check:
        wrong = list(stale())
        sys.exit(f"not what the code says: {', '.join(wrong)}; run python -m docs.generate" if wrong else 0)
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
