"""Every block of docs/mcp.md does what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.app import app
from api.mcp.clients import CLIENTS, config
from tests.fakes import small_lineage

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


def test_no_block_is_of_a_kind_that_nobody_runs():
    assert {kind for kind, _ in BLOCKS} == {"toml", "bash", "json", "python"}


def test_every_client_has_its_row():
    assert set(re.findall(r"--print-config (\w+)", PAGE)) == set(CLIENTS)


def test_what_codex_gets_is_what_is_shown(monkeypatch):
    for name in [name for name in os.environ if name.startswith("LINEAGE_")]:
        monkeypatch.delenv(name)
    (shown,) = blocks("toml")
    said, told = tomllib.loads(shown)["mcp_servers"]["lineage"], tomllib.loads(config("codex"))["mcp_servers"]["lineage"]
    assert {**said, "command": "", "args": ""} == {**told, "command": "", "args": ""}


@pytest.mark.parametrize("block", blocks("json"))
def test_json_is_json(block):
    assert "lineage" in json.loads(block)["mcpServers"]


@pytest.mark.parametrize("line", [line for block in blocks("bash") for line in block.splitlines()])
def test_shell_lines_run(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command, _, out = line.partition(" > ")
    words = shlex.split(command)
    if words[0] == "lineage":
        made = CliRunner().invoke(app, words[1:])
        assert made.exit_code == 0
        assert made.stdout.startswith("---\nname: lineage\n")
        assert out.endswith("SKILL.md")
    else:
        program = [sys.executable, *words[1:]] if words[0] == "python" else words
        subprocess.run(program, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True, timeout=60)


def test_the_program_runs(tmp_path):
    (program,) = blocks("python")
    small_lineage.build(tmp_path)
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "lineage"
    script.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom api.cli.app import main\nmain()\n")
    script.chmod(0o755)
    program = program.replace('args=["mcp"]', f'args=["mcp", "--home", {str(tmp_path)!r}]')
    env = os.environ | {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert re.match(r"\S+#\S+ \{'start_line': \d+, 'end_line': \d+\} \S+\n", done.stdout)
