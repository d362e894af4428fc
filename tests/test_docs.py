"""What the documentation says exists, and what exists is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from api.cli.app import app
from docs import generate
from lineage.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "examples" / "demo" / "README.md"]
GROUP = typer.main.get_command(app)
COMMANDS = set(GROUP.commands)


def test_generated_pages_are_what_the_code_says():
    assert list(generate.stale()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists_with_the_options_named(page):
    for words in re.findall(r"(?:^|\$ |bin/|`)lineage ([a-z]+)((?: [^\n`#]*)?)", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert words[0] in COMMANDS, words
        said = CliRunner(env={"COLUMNS": "200"}).invoke(app, [words[0], "--help"]).stdout
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", words[1]):
            assert option in said, (words[0], option)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_inside_the_project_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_benchmark_command_names_a_module_that_is_there(page):
    for name in re.findall(r"python -m (benchmarks(?:\.\w+)+)|python (benchmarks/\w+\.py)", page.read_text(encoding="utf-8")):
        path = ROOT / (name[1] or name[0].replace(".", "/") + ".py")
        assert path.exists(), path


def test_every_setting_is_documented():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [name for name in Settings.model_fields if f"\n- `{name}`" not in page] == []
    assert all(field.description for field in Settings.model_fields.values())


def test_every_command_has_a_page_entry():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert [name for name in GROUP.list_commands(None) if f"## lineage {name}\n" not in page] == []


def test_the_readme_is_read_in_two_minutes():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 500
