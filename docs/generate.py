"""Write the pages that are made from the code: modules, commands, settings, statuses, errors, tools, endpoints.

python -m docs.generate            write them
python -m docs.generate --check    fail if they are not what the code says
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from api.cli.app import app
from api.mcp.arguments import schema
from api.mcp.tools import INSTRUCTIONS, TOOLS, Tool, output_schema
from api.rest.app import application, document
from api.rest.pages import markdown
from api.server.security import AccessPolicy
from api.table import OPERATIONS, Missing, Operation, Route
from lineage import errors
from lineage import settings as configuration
from lineage.records import Role, Status, Tier
from lineage.settings import Settings

HERE = Path(__file__).resolve().parent
NOTE = "<!-- made by `python -m docs.generate`; do not edit -->\n\n"


def commands() -> str:
    """The help of every command, as the command line prints it."""
    runner = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
    names = [c.name or (c.callback.__name__ if c.callback else "") for c in app.registered_commands if not c.hidden]
    pages = [(f"lineage {name}", runner.invoke(app, [name, "--help"]).stdout) for name in ("", *names)]
    pages[0] = ("lineage", runner.invoke(app, ["--help"]).stdout)
    body = "\n".join(f"## {title}\n\n```text\n{_trimmed(text)}\n```\n" for title, text in pages)
    return f"# Commands\n\n{NOTE}{body}"


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def settings() -> str:
    """Every setting with its variable, default and meaning."""
    rows = "\n".join(_setting(name) for name in Settings.model_fields)
    intro = inspect.getdoc(configuration) or ""
    intro = intro.partition("\n\n")[2].strip()
    return f"# Settings\n\n{NOTE}{intro}\n\n| setting | variable | default | meaning |\n|---|---|---|---|\n{rows}\n"


def _setting(name: str) -> str:
    field = Settings.model_fields[name]
    shown = " or ".join(f"`{variable}`" for variable in configuration.variables(name))
    default = "the platform's data folder" if name == "home" else "" if "key" in name or "token" in name else f"`{field.default}`"
    return f"| `{name}` | {shown} | {default if field.default != '' else ''} | {field.description} |"


def ledger() -> str:
    """Every status, role and tier, and the tree of errors."""
    rows = "\n".join(f"| `{status}` | {status.outcome} | {'yes' if status.retryable else ''} |" for status in Status)
    table = f"| status | counts as | tried again by the next build |\n|---|---|---|\n{rows}"
    words = f"Roles of a reference: {', '.join(f'`{role}`' for role in Role)}.\n\nTiers of a code link: {', '.join(f'`{tier}`' for tier in Tier)}."
    tree = inspect.cleandoc(errors.__doc__ or "")
    return f"# Ledger and errors\n\n{NOTE}{table}\n\n{words}\n\n## Errors and exit codes\n\n```text\n{tree}\n```\n"


def tools() -> str:
    """Every tool of the MCP server: what it is for, what a client may know of it, its arguments and what comes back."""
    return f"# Agent tools\n\n{NOTE}{INSTRUCTIONS}\n\n" + "\n".join(map(_tool, TOOLS))


def _tool(tool: Tool) -> str:
    hints = ", ".join(f"{name.replace('_', ' ')}: {'yes' if said else 'no'}" for name, said in asdict(tool.hints).items())
    asked = schema(tool.arguments)
    rows = "\n".join(_argument(name, one, name in asked["required"]) for name, one in asked["properties"].items())
    back = ", ".join(f"`{name}`" for name in output_schema(tool)["properties"])
    table = f"| argument | takes | default | meaning |\n|---|---|---|---|\n{rows}"
    return f"## {tool.name}\n\n{tool.description}\n\n({hints})\n\n{table}\n\nGives {back}.\n"


def _argument(name: str, one: dict[str, Any], required: bool) -> str:
    limits = " to ".join(f"{one[key]}" for key in ("minimum", "maximum") if key in one)
    takes = ", ".join(f"`{choice}`" for choice in one["enum"] if choice) if "enum" in one else f"{one['type']} {limits}".rstrip()
    default = "required" if required else f"`{one['default']}`" if "default" in one else ""
    return f"| `{name}` | {takes} | {default} | {one.get('description', '')} |"


def endpoints() -> str:
    """Every endpoint of `lineage serve`, out of its OpenAPI document."""
    app = application(configuration.load(home=HERE / "no-store"), AccessPolicy())
    return f"# Endpoints\n\n{NOTE}See [REST](rest.md) for examples. All endpoints share one error format.\n\n{markdown(document(app))}"


def operations() -> str:
    """Every operation with its doors, and why a door does not offer it."""
    rows = "\n".join(map(_operation, OPERATIONS))
    reasons = dict.fromkeys(door.reason for one in OPERATIONS for door in _doors(one) if isinstance(door, Missing))
    notes = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))
    heads = "| operation | command | REST | tool | client |\n|---|---|---|---|---|"
    intro = "Results are the same at every door. A number says why a door does not offer an operation."
    return f"# Operations\n\n{NOTE}{intro}\n\n{heads}\n{rows}\n\n{notes}\n"


def _doors(operation: Operation) -> tuple[Any, ...]:
    return operation.cli, operation.rest, operation.mcp, operation.client


def _operation(operation: Operation) -> str:
    reasons = list(dict.fromkeys(door.reason for one in OPERATIONS for door in _doors(one) if isinstance(door, Missing)))
    cells = (f"({reasons.index(door.reason) + 1})" if isinstance(door, Missing) else f"`{_door(door)}`" for door in _doors(operation))
    return f"| `{operation.name}` | {' | '.join(cells)} |"


def _door(door: str | Route) -> str:
    return f"{door.method} {door.path}" if isinstance(door, Route) else door


def modules() -> str:
    """Every module with the first line of its docstring, by package."""
    rows: list[str] = []
    for package in ("lineage", "indexer", "retrieval", "api"):
        rows.append(f"\n## {package}\n\n| module | purpose |\n|---|---|")
        rows += [f"| `{name}` | {purpose} |" for name, purpose in _purposes(package)]
    return f"# Modules\n\n{NOTE}[Architecture](architecture.md) explains how they fit together.\n" + "\n".join(rows) + "\n"


def _purposes(package: str) -> Iterator[tuple[str, str]]:
    root = HERE.parent
    for path in sorted((root / package).rglob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        yield name, " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|").replace("<", "&lt;")


PAGES = {
    "modules.md": modules,
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
    if parser.parse_args().check:
        wrong = list(stale())
        sys.exit(f"not what the code says: {', '.join(wrong)}; run python -m docs.generate" if wrong else 0)
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
