"""Configuration for each MCP client in its own format, ready to paste.

The command is the interpreter's own `lineage`, by its full path: clients start servers without the user's shell, and
so without the user's PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage import settings as configuration
from lineage.errors import UsageError

STARTUP_SECONDS = 30
CALL_SECONDS = 60


@dataclass(frozen=True)
class McpClient:
    """A client: the location of its configuration and a function that writes it."""

    place: str
    write: Callable[[Sequence[str], dict[str, str]], str]


def config(client: str, home: Path | None = None, local: bool = False) -> str:
    """The configuration of a client and the file it belongs in. Raises `UsageError` for an unknown client."""
    known = CLIENTS.get(client)
    if not known:
        raise UsageError(f"there is no client {client[:40]!r}", hint="known: " + ", ".join(CLIENTS))
    words = [*program(), "mcp", *(["--local-files"] if local else [])]
    return known.write(words, _surroundings(home))


def _surroundings(home: Path | None) -> dict[str, str]:
    """The folders and files that a flag or a variable names here: the client starts the server elsewhere, without the user's shell."""
    made = configuration.load(home=home)
    set_here = {name for name, origin in configuration.origins(made).items() if origin.startswith("LINEAGE_")} | ({"home"} if home else set())
    values = {f"LINEAGE_{name.upper()}": getattr(made, name) for name in type(made).model_fields if name in set_here}
    paths = {name: Path(value) for name, value in values.items() if isinstance(value, Path) or (isinstance(value, str) and value.endswith(".json"))}
    if os.environ.get("LINEAGE_CONFIG"):
        paths["LINEAGE_CONFIG"] = configuration.config_file()
    return {name: str(path.resolve()) for name, path in paths.items()}


def skill() -> str:
    """The SKILL.md that tells an agent when to query and how to use the results."""
    return (Path(__file__).parent / "skill" / "SKILL.md").read_text(encoding="utf-8")


def program() -> list[str]:
    """The command that starts this installation."""
    beside = Path(sys.executable).with_name("lineage.exe" if sys.platform == "win32" else "lineage")
    if beside.is_file():
        return [str(beside)]
    executable = shutil.which("lineage")
    return [executable] if executable else [sys.executable, "-c", "from api.cli.app import main; main()"]


def _json(key: str, kind: bool) -> Callable[[Sequence[str], dict[str, str]], str]:
    """A writer for clients that list servers under `key` of a JSON file; `kind` if they need the transport named."""

    def write(words: Sequence[str], env: dict[str, str]) -> str:
        entry: dict[str, Any] = {"type": "stdio"} if kind else {}
        entry |= {"command": words[0], "args": list(words[1:])} | ({"env": env} if env else {})
        return json.dumps({key: {"lineage": entry}}, indent=2)

    return write


def _codex(words: Sequence[str], env: dict[str, str]) -> str:
    lines = ["[mcp_servers.lineage]", f"command = {_toml(words[0])}", f"args = [{', '.join(map(_toml, words[1:]))}]"]
    lines += [f"startup_timeout_sec = {STARTUP_SECONDS}", f"tool_timeout_sec = {CALL_SECONDS}"]
    if env:
        lines += ["", "[mcp_servers.lineage.env]", *(f"{name} = {_toml(value)}" for name, value in env.items())]
    return "\n".join(lines)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a basic string of TOML is one of JSON


CLIENTS = {
    "claude": McpClient(".mcp.json in the project (Claude Code), or claude_desktop_config.json", _json("mcpServers", kind=True)),
    "codex": McpClient("~/.codex/config.toml", _codex),
    "cursor": McpClient(".cursor/mcp.json in the project, or ~/.cursor/mcp.json", _json("mcpServers", kind=True)),
    "vscode": McpClient(".vscode/mcp.json in the workspace", _json("servers", kind=True)),
}
"""Clients by name."""
