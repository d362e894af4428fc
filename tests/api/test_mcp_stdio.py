"""`lineage mcp` as a client starts it: a process that speaks the protocol on stdout and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters

from tests.api.mcp_desk import MODES, talk
from tests.fakes import small_lineage

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ["-c", "from api.cli.app import main; main()", "mcp", "--home"]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stdio")
    small_lineage.build(folder)
    return folder


@pytest.mark.parametrize("mode", MODES)
def test_a_stock_client_starts_it_and_asks(home, mode):
    command = StdioServerParameters(command=sys.executable, args=[*PROGRAM, str(home)], cwd=ROOT, env=dict(os.environ))

    async def use(client):
        return await client.list_tools(), await client.call_tool("lineage_search", {"query": "entropy", "limit": 1})

    listed, found = talk(command, use, mode)
    assert listed.tools[0].name == "lineage_search"
    assert found.structured_content["hits"][0]["rank"] == 1
    assert found.structured_content["notes"] == ["lexical only: this generation has no vectors yet"]


def exchange(home: Path, lines: list[bytes], ids: set[int]) -> tuple[list[dict], str, int]:
    """What the server writes until requests `ids` are answered and stdin is closed; its stderr; its exit code."""
    with subprocess.Popen(
        [sys.executable, *PROGRAM, str(home)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(b"\n".join([*lines, b""]))
        process.stdin.flush()
        told, open_ = [], set(ids)
        while open_:
            told.append(json.loads(process.stdout.readline()))
            open_.discard(told[-1].get("id"))
        rest, errors = process.communicate(timeout=30)
        told += [json.loads(line) for line in rest.splitlines()]
        return told, errors.decode(), process.returncode


def request(id_: int, method: str, params: dict | None = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}).encode()


INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
JUNK = [
    b"not json",
    b"{",
    b"[]",
    b"[" * 20_000,
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"1.0","id":70,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    b'{"jsonrpc":"2.0","id":71,"method":7}',
    b'{"jsonrpc":"2.0","id":72,"method":"no/such/method"}',
    b'{"jsonrpc":"2.0","id":73,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":74,"method":"tools/call","params":{"name":"lineage_search","arguments":"x"}}',
    b'{"jsonrpc":"2.0","id":75,"method":"tools/call","params":{"name":"lineage_search","arguments":{"query":"\\ud800"}}}',
    b'{"jsonrpc":"2.0","id":76,"method":"tools/call","params":{"name":"lineage_search","arguments":{"query":"' + b"x" * 300_000 + b'"}}}',
    b"\xff\xfe\x00garbage",
    b'{"jsonrpc":"2.0","id":77,"result":{}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}',
]


def test_it_lives_through_every_malformed_message(home):
    asked = request(99, "tools/call", {"name": "lineage_search", "arguments": {"query": "entropy", "limit": 1}})
    told, _, code = exchange(home, [request(1, "initialize", HELLO), INITIALIZED, *JUNK, asked], {1, 99})
    (answer,) = [one for one in told if one.get("id") == 99]
    assert answer["result"]["isError"] is False
    assert {one["jsonrpc"] for one in told} == {"2.0"}
    refused = {one["id"] for one in told if "error" in one or one.get("result", {}).get("isError")}
    assert {72, 74, 76} <= refused  # what is no request at all gets no answer on stdio
    assert code == 0


def test_a_client_that_vanishes_ends_it_in_peace(home):
    told, errors, code = exchange(home, [request(1, "initialize", HELLO)], {1})
    assert (len(told), errors, code) == (1, "", 0)


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_peace_while_the_client_is_still_there(home, told):
    with subprocess.Popen(
        [sys.executable, *PROGRAM, str(home)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(request(1, "initialize", HELLO) + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(told)
        assert (process.wait(30), process.stderr.read()) == (0, b"")


def test_stdout_carries_the_protocol_alone_even_if_something_prints(home):
    program = "import api.mcp.query_tools as a\nreal = a.search\ndef noisy(*x):\n    print('NOISE')\n    return real(*x)\n"
    program += "import api.mcp.tools as t\nfrom dataclasses import replace\nt.TOOLS = (replace(t.TOOLS[0], run=noisy),)\n"
    program += "import api.mcp.server as h\nh.TOOLS = t.TOOLS\nfrom api.cli.app import main\nmain()"
    lines = [request(1, "initialize", HELLO), INITIALIZED, request(2, "tools/call", {"name": "lineage_search", "arguments": {"query": "entropy"}})]
    done = subprocess.Popen(
        [sys.executable, "-c", program, "mcp", "--home", str(home)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with done:
        done.stdin.write(b"\n".join([*lines, b""]))
        done.stdin.flush()
        told = [json.loads(done.stdout.readline()), json.loads(done.stdout.readline())]
        rest, errors = done.communicate(timeout=30)
    assert [one["id"] for one in told] == [1, 2]
    assert (b"NOISE" in errors, rest) == (True, b"")
