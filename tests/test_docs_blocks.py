"""Every block of code in the documentation runs: shell and Python against the demonstration, JSON and TOML are parsed.

A block that cannot run here says why after its language: `network` (asks public services), `key` (needs a key),
`setup` (installs), `excerpt` (stands in a file of the project, which is checked). Everything else is run, page by page and in
order, as a reader would.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.upstream import Upstream

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REASONS = {"network", "key", "setup", "excerpt"}
RUN = {"sh", "bash", "python"}
PARSED = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
SHOWN = {"text", "http"}
SERVER = "127.0.0.1:8765"
_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, the line it begins on, its language, the reason why it is not run, and the code."""

    page: Path
    line: int
    language: str
    reason: str
    code: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for one in _FENCE.finditer(text):
        language, _, reason = one[2].strip().partition(" ")
        code = re.sub(rf"^{one[1]}", "", one[3], flags=re.MULTILINE)
        found.append(Block(page, text[: one.start()].count("\n") + 1, language, reason, code))
    return found


ALL = [block for page in PAGES for block in blocks(page)]
ELSEWHERE = {"mcp.md": "tests/api/test_mcp_docs.py"}
"""Pages whose blocks another test runs."""
TYPED = sorted({block.page for block in ALL if block.language in RUN and not block.reason and block.page.name not in ELSEWHERE})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_what_it_is_and_if_it_is_not_run_why(page):
    for block in blocks(page):
        assert block.language in RUN | set(PARSED) | SHOWN, f"{page.name}:{block.line}: {block.language!r}"
        assert block.reason in {"", *REASONS}, f"{page.name}:{block.line}: {block.reason!r}"


def test_blocks_that_another_test_runs_are_run_there():
    for page, file in ELSEWHERE.items():
        assert page in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("block", [b for b in ALL if b.reason == "excerpt"], ids=lambda b: f"{b.page.name}:{b.line}")
def test_an_excerpt_stands_in_the_project_as_it_is_shown(block):
    sources = [path for folder in ("examples", "api") for path in (ROOT / folder).rglob("*.py")]
    assert any(block.code in path.read_text(encoding="utf-8") for path in sources)


def test_most_of_what_is_shown_to_be_typed_is_run():
    count = Counter(block.reason not in {"", "excerpt"} for block in ALL if block.language in RUN)
    assert count[False] > 2 * count[True], count


@pytest.mark.parametrize("block", [b for b in ALL if b.language in PARSED], ids=lambda b: f"{b.page.name}:{b.line}")
def test_what_is_shown_of_a_file_can_be_parsed(block):
    assert PARSED[block.language](block.code) is not None


@pytest.fixture
def surroundings(built, world, tmp_path):
    """A person's machine: `lineage` and `python` on the path, the demonstration in store and `.demo`, the services on loopback."""
    store, tools, folder = tmp_path / "store", tmp_path / "bin", tmp_path / "here"
    shutil.copytree(built.home, store)
    shutil.copytree(built.home, folder / ".demo")  # so that `lineage demo` finds it built
    tools.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Upstream(world) as running:
        told = {"LINEAGE_HOME": str(store), "LINEAGE_MIRROR": running.url, "LINEAGE_CONFIG": os.devnull, "NO_COLOR": "1"}
        export = " ".join(f"{name}='{value}'" for name, value in told.items())
        for name, call in (("lineage", '-c "from api.cli.app import main; main()"'), ("python", "")):
            (tools / name).write_text(f"#!/bin/sh\nexec env PYTHONPATH='{ROOT}' {export} '{sys.executable}' {call} \"$@\"\n")
            (tools / name).chmod(0o755)
        yield Surroundings(folder, tools, port, {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), **told})


@pytest.mark.parametrize("block", [b for b in ALL if b.code.startswith("$ lineage ")], ids=lambda b: f"{b.page.name}:{b.line}")
def test_what_a_command_is_shown_to_print_it_prints(block, surroundings):
    """But for the places in the lists: the last digits of a processor decide them."""
    command, *shown = block.code.splitlines()
    done = subprocess.run(
        ["sh", "-c", command.removeprefix("$ ")], cwd=surroundings.folder, env=surroundings.environment, capture_output=True, text=True, check=True
    )
    printed = done.stdout.splitlines()
    assert [line for line in shown if line.strip() and "found by:" not in line and line not in printed] == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.name)
def test_every_block_of_a_page_runs_in_order(page, surroundings):
    wanted = [block for block in blocks(page) if block.language in RUN and not block.reason]
    with surroundings.served() if any(SERVER in block.code for block in wanted) else nullcontext():
        for block in wanted:
            surroundings.run(block)


@dataclass(frozen=True)
class Surroundings:
    """Where a page's blocks run: the folder, the tools, the port of its server, the environment."""

    folder: Path
    tools: Path
    port: int
    environment: dict[str, str]

    def run(self, block: Block) -> None:
        """Run one block; a failure shows what it said."""
        code = block.code.replace(SERVER, f"127.0.0.1:{self.port}")
        tool = [str(self.tools / "python"), "-"] if block.language == "python" else ["bash", "-euo", "pipefail", "-s"]
        done = subprocess.run(tool, input=code, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=280, check=False)
        said = f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
        assert done.returncode == 0, f"{block.page.name}:{block.line} ended with {done.returncode}\n{said}"

    @contextmanager
    def served(self) -> Iterator[None]:
        """`lineage serve`, running, for a page that talks to it."""
        command = [str(self.tools / "lineage"), "serve", "--port", str(self.port)]
        with subprocess.Popen(command, env=self.environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            said = [process.stderr.readline() for _ in range(1)] if process.stderr else []
            try:
                assert str(self.port) in "".join(said), said
                yield
            finally:
                process.terminate()
