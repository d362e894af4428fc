"""Build what MCP clients and registries install, out of this source tree.

python -m integrations.bundle --out dist

    dist/lineage.mcpb        the server as one file (MCPB 0.4, type uv: the client's uv installs the dependencies)
    dist/server.json         the MCP registry's manifest (schema 2025-12-11)
    dist/skills/lineage/SKILL.md

The same tree gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api.mcp.clients import skill
from api.mcp.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("lineage", "indexer", "retrieval", "api")
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
NAME = "io.github.paper-lineage/lineage"
"""The name in the registry; whoever publishes needs the right to its namespace."""
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
ENTRY = '''"""Starts the MCP server of the bundle."""

import sys

from api.cli.app import main

sys.argv = ["lineage", "mcp", *sys.argv[1:]]
main()
'''
_ENTRY_POINT = "server.py"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_SHORT = "What a paper took for granted: the papers and code it inherits from, with proof"

SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "home": ("LINEAGE_HOME", {"type": "directory", "title": "Store", "description": "Folder for lineages; empty for the usual place."}),
    "s2_api_key": ("S2_API_KEY", {"type": "string", "title": "Semantic Scholar key", "description": "Optional.", "sensitive": True}),
    "github_token": (
        "GITHUB_TOKEN",
        {"type": "string", "title": "GitHub token", "description": "Optional; more requests.", "sensitive": True},
    ),
}
"""What a client asks its user for: the variable that it becomes, and how it is asked.

All may stay empty, and then become empty variables, which count as not set; without a default they would become
the literal `${user_config.home}`.
"""


def project() -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def manifest() -> dict[str, Any]:
    """The bundle's manifest.json (MCPB specification, version 0.4)."""
    said = project()
    env = {variable: f"${{user_config.{name}}}" for name, (variable, _) in SETTINGS.items()}
    command = {"command": "uv", "args": ["run", "--directory", "${__dirname}", _ENTRY_POINT], "env": env}
    return {
        "manifest_version": "0.4",
        "name": "lineage",
        "display_name": "Lineage",
        "version": said["version"],
        "description": said["description"],
        "author": {"name": "The Lineage authors"},
        "license": said["license"],
        "keywords": said["keywords"],
        "server": {"type": "uv", "entry_point": _ENTRY_POINT, "mcp_config": command},
        "tools": [{"name": tool.name, "description": tool.description} for tool in TOOLS],
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": said["requires-python"]}},
        "user_config": {name: {**asked, "required": False, "default": ""} for name, (_, asked) in SETTINGS.items()},
    }


def server_json() -> dict[str, Any]:
    """The registry's manifest: how to start the published package."""
    said = project()
    asked = [
        {"name": variable, "description": one["description"], "isRequired": False, "isSecret": one.get("sensitive", False)}
        for variable, one in SETTINGS.values()
    ]
    package = {
        "registryType": "pypi",
        "identifier": said["name"],
        "version": said["version"],
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "environmentVariables": asked,
    }
    return {"$schema": SCHEMA, "name": NAME, "title": "Lineage", "description": _SHORT, "version": said["version"], "packages": [package]}


def members() -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of everything in the bundle, in order."""
    yield "manifest.json", _json(manifest())
    yield _ENTRY_POINT, ENTRY.encode()
    for name in BESIDE:
        yield name, (ROOT / name).read_bytes()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_bytes()


def write(out: Path) -> list[Path]:
    """Write bundle, manifest and skill below `out`; their paths."""
    paths = [out / "lineage.mcpb", out / "server.json", out / "skills" / "lineage" / "SKILL.md"]
    paths[2].parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(paths[0], "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in members():
            packed = zipfile.ZIP_STORED if name.endswith(".onnx") else zipfile.ZIP_DEFLATED  # weights do not get smaller
            bundle.writestr(zipfile.ZipInfo(name, _EPOCH), content, packed)
    paths[1].write_bytes(_json(server_json()))
    paths[2].write_text(skill(), encoding="utf-8")
    return paths


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("dist"))
    for path in write(parser.parse_args().out):
        print(f"wrote {path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
