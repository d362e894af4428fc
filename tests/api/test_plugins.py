"""The plugin folder is what the code says and what each agent's manifest may hold.

The schemas are ours, written from the public documentation of Claude Code, Codex and Cursor; none of the agents runs here.
"""

from __future__ import annotations

import json
import re
import tomllib
from itertools import pairwise

import pytest
import yaml

from api.cli.app import _COMMANDS
from api.cli.audit import report_text
from api.cli.terminal import plain
from api.mcp.tools import TOOLS
from integrations import plugins
from integrations.bundle import ROOT
from tests import demo

jsonschema = pytest.importorskip("jsonschema")
TASKS = ROOT / "integrations" / "vscode" / "tasks.json"
FOLDER = ROOT / plugins.FOLDER

TEXT = {"type": "string", "minLength": 1}
NAME = {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$"}
VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$"}
ADDRESS = {"type": "string", "pattern": "^https://"}
INSIDE = {"type": "string", "pattern": r"^\./(?!.*\.\.)"}
AUTHOR = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "email": TEXT}, "additionalProperties": False}
COMMON = {"name": NAME, "version": VERSION, "description": TEXT, "author": AUTHOR, "homepage": ADDRESS, "repository": ADDRESS, "license": TEXT}
COMMON["keywords"] = {"type": "array", "items": TEXT}


def closed(properties, *required):
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def catalog(entry, **further):
    return closed({"name": NAME, "plugins": {"type": "array", "items": entry, "minItems": 1}, **further}, "name", "plugins", *further)


POLICY = closed({"installation": {"enum": ["AVAILABLE"]}, "authentication": {"enum": ["ON_INSTALL", "ON_USE"]}}, "installation", "authentication")
LOCAL = closed({"source": {"const": "local"}, "path": INSIDE}, "source", "path")
SCHEMAS = {
    f"{plugins.FOLDER}/.claude-plugin/plugin.json": closed(COMMON, "name"),
    f"{plugins.FOLDER}/.codex-plugin/plugin.json": closed({**COMMON, "skills": INSIDE, "mcpServers": INSIDE}, "name", "version", "description"),
    f"{plugins.FOLDER}/.cursor-plugin/plugin.json": closed(
        {**COMMON, "displayName": TEXT, "skills": INSIDE, "mcpServers": INSIDE, "commands": INSIDE}, "name", "mcpServers"
    ),
    f"{plugins.FOLDER}/.mcp.json": closed(
        {"mcpServers": {"type": "object", "additionalProperties": closed({"command": TEXT, "args": {"type": "array"}}, "command")}}
    ),
    ".claude-plugin/marketplace.json": catalog(closed({"name": NAME, "source": INSIDE, "description": TEXT}, "name", "source"), owner=AUTHOR),
    ".cursor-plugin/marketplace.json": catalog(closed({"name": NAME, "source": INSIDE, "description": TEXT}, "name", "source"), owner=AUTHOR),
    ".agents/plugins/marketplace.json": catalog(
        closed({"name": NAME, "source": LOCAL, "policy": POLICY, "category": TEXT}, "name", "source", "policy", "category"),
        interface=closed({"displayName": TEXT}),
    ),
}


def test_the_folder_is_what_the_code_says():
    assert plugins.stale() == []
    there = {path.relative_to(ROOT).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert there == {name for name in plugins.files() if name.startswith(plugins.FOLDER)}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_manifest_fits_its_schema_and_names_what_is_there(name):
    manifest = json.loads((ROOT / name).read_text(encoding="utf-8"))
    jsonschema.validate(manifest, SCHEMAS[name])
    paths = [(FOLDER, manifest[part]) for part in ("skills", "mcpServers", "commands") if isinstance(manifest.get(part), str)]
    paths += [(ROOT, one["source"] if isinstance(one["source"], str) else one["source"]["path"]) for one in manifest.get("plugins", ())]
    assert [path for base, path in paths if not (base / path).exists()] == []


def test_every_json_file_of_the_plugin_has_a_schema():
    assert {name for name in plugins.files() if name.endswith(".json")} == set(SCHEMAS)


def test_the_server_starts_the_published_package():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert plugins.SERVER["args"][0] in scripts
    assert plugins.SERVER["args"][1] in set(_COMMANDS)


@pytest.mark.parametrize("name", ["commands/lineage.md", "skills/lineage/SKILL.md"])
def test_a_text_for_agents_has_a_description_and_names_tools_that_are_there(name):
    _, head, body = (FOLDER / name).read_text(encoding="utf-8").split("---\n", 2)
    assert yaml.safe_load(head)["description"]
    named = set(re.findall(r"\blineage_\w+", body))
    assert named
    assert named <= {tool.name for tool in TOOLS}


def test_the_tasks_of_vs_code_fit_its_schema_and_run_commands_that_are_there():
    """The parts that are used of https://code.visualstudio.com/docs/reference/tasks-appendix."""
    tasks = json.loads(TASKS.read_text())
    group = {"type": "integer", "minimum": 1}
    pattern = closed({"regexp": TEXT, "file": group, "line": group, "code": group, "message": group}, "regexp")
    matcher = closed(
        {
            "owner": TEXT,
            "severity": {"enum": ["error", "warning", "info"]},
            "fileLocation": {"type": "array", "prefixItems": [{"enum": ["relative", "absolute", "autoDetect", "search"]}, TEXT]},
            "pattern": {"type": "array", "items": pattern, "minItems": 1},
        },
        "pattern",
    )
    options = closed({"env": {"type": "object", "additionalProperties": {"type": "string"}}})
    task = closed(
        {
            "label": TEXT,
            "type": {"const": "process"},
            "command": TEXT,
            "args": {"type": "array"},
            "group": TEXT,
            "options": options,
            "problemMatcher": {"anyOf": [{"type": "array", "maxItems": 0}, matcher]},
        },
        "label",
        "command",
    )
    asked = closed({"id": TEXT, "type": {"const": "promptString"}, "description": TEXT}, "id", "type")
    schema = closed(
        {"version": {"const": "2.0.0"}, "tasks": {"type": "array", "items": task}, "inputs": {"type": "array", "items": asked}}, "version"
    )
    jsonschema.validate(tasks, schema)
    commands = set(_COMMANDS)
    assert {one["args"][0] for one in tasks["tasks"]} <= commands
    assert set(re.findall(r"\$\{input:(\w+)\}", json.dumps(tasks))) == {one["id"] for one in tasks["inputs"]}


def test_the_audit_task_marks_each_value_that_differs_at_its_line(built, tmp_path):
    (tmp_path / "train.py").write_text("def main():\n    return AdamW(model.parameters(), lr=1e-3)\n")
    told = report_text(built.service.audit(tmp_path, lineage=demo.NAME)).split("\n")
    (matcher,) = [one["problemMatcher"] for one in json.loads(TASKS.read_text())["tasks"] if one["problemMatcher"]]
    first, second = (re.compile(pattern["regexp"]) for pattern in matcher["pattern"])
    found = [(head, second.match(below)) for line, below in pairwise(map(plain, told)) if (head := first.match(line))]
    assert [(head[1], head[2], head[3]) for head, _ in found] == [("learning rate", "train.py", "2")]
    assert found[0][1][1].startswith("expected 0.00015")
