"""Every block of code in the documentation runs: shell and Python against the demonstration, JSON and TOML are parsed.

A block that cannot run here says why after its language: `network` (asks public services), `key` (needs a key),
`setup` (installs). Everything else is run, page by page and in order, as a reader would.
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
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.upstream import Upstream

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REASONS = {"network", "key", "setup"}
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


def test_most_of_what_is_shown_to_be_typed_is_run():
    count = Counter(bool(block.reason) for block in ALL if block.language in RUN)
    assert count[False] > 2 * count[True], count


@pytest.mark.parametrize("block", [b for b in ALL if b.language in PARSED], ids=lambda b: f"{b.page.name}:{b.line}")
def test_what_is_shown_of_a_file_can_be_parsed(block):
    assert PARSED[block.language](block.code) is not None


@pytest.fixture(scope="module")
def surroundings(built, world, tmp_path_factory):
    """A person's machine: `lineage` and `python` on the path, the demonstration in the default store, the services on loopback."""
    home = tmp_path_factory.mktemp("reader")
    store = home / "store"
    shutil.copytree(built.home, store)
    with Upstream(world) as running, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        told = {"LINEAGE_HOME": str(store), "LINEAGE_MIRROR": running.url, "LINEAGE_CONFIG": str(home / "none.toml")}
        tools = home / "bin"
        tools.mkdir()
        export = " ".join(f"{name}='{value}'" for name, value in told.items())
        for name, call in (("lineage", '-c "from api.cli import main; main()"'), ("python", "")):
            (tools / name).write_text(f"#!/bin/sh\nexec env PYTHONPATH='{ROOT}' {export} '{sys.executable}' {call} \"$@\"\n")
            (tools / name).chmod(0o755)
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        yield {"PATH": path, "HOME": str(home), "LINEAGE_TEST_PORT": str(port), "NO_COLOR": "1", **told}


@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.name)
def test_every_block_of_a_page_runs_in_order(page, surroundings, tmp_path):
    wanted = [block for block in blocks(page) if block.language in RUN and not block.reason]
    shutil.copytree(surroundings["LINEAGE_HOME"], tmp_path / ".demo")  # so that `lineage demo` finds it built
    with served(surroundings, needed=any(SERVER in block.code for block in wanted)):
        for block in wanted:
            _run(block, surroundings, tmp_path)


def _run(block: Block, surroundings: dict[str, str], folder: Path) -> None:
    code = block.code.replace(SERVER, f"127.0.0.1:{surroundings['LINEAGE_TEST_PORT']}")
    python = str(Path(surroundings["PATH"].split(os.pathsep)[0]) / "python")
    tool = [python, "-"] if block.language == "python" else ["bash", "-euo", "pipefail", "-s"]
    done = subprocess.run(tool, input=code, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, f"{block.page.name}:{block.line} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


class served:  # noqa: N801 - reads as a verb where it is used
    """`lineage serve` on the test's port for the length of a block, where a page talks to it."""

    def __init__(self, surroundings: dict[str, str], *, needed: bool) -> None:
        self._surroundings, self._needed = surroundings, needed
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None:
        if not self._needed:
            return
        port = self._surroundings["LINEAGE_TEST_PORT"]
        lineage = str(Path(self._surroundings["PATH"].split(os.pathsep)[0]) / "lineage")
        self._process = subprocess.Popen([lineage, "serve", "--port", port], env=self._surroundings, stderr=subprocess.PIPE)
        for line in self._process.stderr or ():
            if b"127.0.0.1" in line:
                return

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(20)
