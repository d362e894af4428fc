"""The site of the documentation: it builds without a warning, and nothing in it is loaded from elsewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

from api.cli import app
from api.mcp_tools.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (?!capability|---)(.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "capabilities.md").read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    named = set(re.findall(r"[\w-]+\.md", str(nav)))
    assert named == {path.name for path in (ROOT / "docs").glob("*.md")}


def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("mkdocs")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site"), strict=True))
    pages = sorted((tmp_path / "site").glob("*.html"))
    assert len(pages) > 10
    loaded = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=[\"']?(https?:)?//")
    assert [page.name for page in pages if loaded.search(page.read_text(encoding="utf-8"))] == []
    elsewhere = re.compile(r"(?:@import\s+|url\()[\"']?(?:https?:)?//")
    styles = [path for path in (tmp_path / "site").rglob("*.css") if elsewhere.search(path.read_text(encoding="utf-8"))]
    assert styles == []


def _tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_every_capability_is_proved_by_tests_that_are_there(row):
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row[2])
    assert named, row
    for file, name in named:
        assert name in _tests(ROOT / file), (file, name)


def test_every_command_and_every_tool_for_agents_is_a_capability():
    ways = " ".join(way for _, way, _ in ROWS)
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if not command.hidden}
    assert sorted(name for name in commands if not re.search(rf"`lineage {name}\b", ways)) == []
    assert sorted(tool.name for tool in TOOLS if f"`{tool.name}`" not in ways) == []
