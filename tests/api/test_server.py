"""`lineage serve` as a process: where it listens, who holds the port, slow clients, and how it ends."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from api.client import Lineage
from api.server import server
from api.server.journal import Journal
from lineage.errors import LineageError
from tests.crash import children, gone
from tests.serving import Serving

ROOT = Path(__file__).resolve().parents[2]
LONG = 60.0
PROGRAM = [sys.executable, "-c", "from api.cli.app import main; main()", "serve"]


def started(home, *words, **env):
    """A server process and what it said on stdout when it was up."""
    told = os.environ | {"LINEAGE_HOME": str(home), "LINEAGE_CONFIG": os.devnull, **env}
    process = subprocess.Popen(
        [*PROGRAM, "--port", "0", "--json", *words], cwd=ROOT, env=told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    return process, json.loads(process.stdout.readline() or "{}")


def ended(process, number=signal.SIGTERM):
    process.send_signal(number)
    out, err = process.communicate(timeout=LONG)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_says_where_it_is_and_ends_in_peace(tmp_path, number):
    process, said = started(tmp_path)
    url = said["data"]["url"]
    assert said == {"schema_version": "1", "data": {"url": url, "home": str(tmp_path), "token": False}}
    assert httpx2.get(url + "/healthz", trust_env=False, timeout=LONG).status_code == 200
    names = list((tmp_path / "servers").iterdir())
    assert [path.name for path in names] == [f"{url.rpartition(':')[2]}.json"]
    code, out, err = ended(process, number)
    assert (code, out) == (0, "")
    assert err.startswith(f"listening on {url} ")
    assert "Traceback" not in err
    assert list((tmp_path / "servers").iterdir()) == []


@pytest.mark.parametrize("gap", [0.0, 0.2])
def test_a_server_that_is_told_to_stop_three_times_ends_without_a_traceback(tmp_path, gap):
    process, _ = started(tmp_path)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(gap)
    code, out, err = ended(process)
    assert (code, out) == (0, "")
    assert "Traceback" not in err


def test_signals_are_ignored_from_the_shutdown_on(monkeypatch):
    monkeypatch.setattr("sse_starlette.sse.AppStatus.should_exit", False)  # set for the whole process, it would end every later stream at once
    made = server.made(lambda *_: None, lambda: None)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with made.capture_signals():
            signal.raise_signal(signal.SIGTERM)
        assert made.should_exit
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_server_that_builds_keeps_its_store_to_its_owner_and_stops_with_what_it_started(tmp_path):
    process, said = started(tmp_path, LINEAGE_MIRROR="http://127.0.0.1:9")  # a mirror that nobody answers for: the build waits
    job = httpx2.post(said["data"]["url"] + "/api/v1/lineages", json={"target": "arxiv:9912.00001"}, trust_env=False, timeout=LONG).json()
    until = time.monotonic() + LONG
    while httpx2.get(f"{said['data']['url']}/api/v1/jobs/{job['id']}", trust_env=False, timeout=LONG).json()["state"] == "queued":
        assert time.monotonic() < until
        time.sleep(0.05)
    assert [path for path in tmp_path.rglob("*") if path.stat().st_mode & 0o077] == []
    under = children(process.pid)
    code, _, err = ended(process)
    assert code == 0
    assert "Traceback" not in err
    while not all(gone(pid) for pid in under):
        assert time.monotonic() < until + LONG
        time.sleep(0.05)
    assert not Journal(tmp_path).get(job["id"]).finished


def test_a_second_server_on_the_same_store_and_port_says_who_holds_it(tmp_path):
    process, said = started(tmp_path)
    port = said["data"]["url"].rpartition(":")[2]
    second = subprocess.run([*PROGRAM, "--port", port, "--home", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=LONG, check=False)
    ended(process)
    assert second.returncode == 2
    assert f"error: port {port} is held by lineage serve, process {process.pid} since 2" in second.stderr
    assert "over the same store" in second.stderr


def test_a_port_that_another_program_holds_is_said_so(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        (tmp_path / "servers").mkdir()
        (tmp_path / "servers" / f"{port}.json").write_text('{"pid": 999999999, "since": "2026"}')
        assert server.holder(tmp_path, port) == "another program (not a server of this store)"


@pytest.mark.parametrize(
    ("words", "env", "part"),
    [
        (["--host", "0.0.0.0"], {}, "no token is set"),
        (["--host", "192.0.2.1"], {"LINEAGE_TOKEN": "x"}, "192.0.2.1:0 cannot be listened on"),
        (["--host", "no.such.host.invalid"], {"LINEAGE_TOKEN": "x"}, "cannot be listened on"),
    ],
)
def test_an_address_that_it_should_not_or_cannot_listen_on_is_refused(tmp_path, words, env, part):
    process, said = started(tmp_path, *words, **env)
    _, err = process.communicate(timeout=LONG)
    assert process.returncode == 2
    assert said["error"]["exit_code"] == 2
    assert part in err


def test_two_servers_share_a_store_on_two_ports(tmp_path):
    first, _ = started(tmp_path)
    second, two = started(tmp_path)
    try:
        detail = httpx2.get(two["data"]["url"] + "/healthz", trust_env=False, timeout=LONG).json()["checks"]["queue"]
        assert detail["ok"] is True
        assert f"process {first.pid} " in detail["detail"]
    finally:
        ended(first)
        ended(second)


# -- what no client library sends


@pytest.fixture
def live(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "KEEP_ALIVE", 1)
    with Serving(tmp_path, {"patience": 0.2}) as running:
        yield running


def raw(port, data, parts=()):
    """What the server answers to these bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", port), LONG) as line:
        line.sendall(data)
        for part in parts:
            time.sleep(0.02)
            line.sendall(part)
        answer = b""
        with contextlib.suppress(ConnectionResetError):  # what was not read when it closed
            while piece := line.recv(65536):
                answer += piece
    return answer


def test_what_is_no_http_gets_a_problem_document(live):
    answer = raw(live.port, b"\x16\x03\x01\x02\x00GARBAGE\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"application/problem+json" in answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] == 400


def test_a_head_that_does_not_arrive_is_not_waited_for(live, monkeypatch):
    monkeypatch.setattr(server, "HEAD", 0.2)
    assert raw(live.port, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ") == b""
    assert raw(live.port, b"") == b""
    whole = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    assert raw(live.port, whole + b"GET /again HT").startswith(b"HTTP/1.1 200")


def test_a_body_that_drips_is_cut_off(live):
    head = f"POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    answer = raw(live.port, head.encode() + b"{")
    assert answer.startswith(b"HTTP/1.1 408")


def test_other_clients_are_served_while_many_are_slow(live):
    slow = [socket.create_connection(("127.0.0.1", live.port), LONG) for _ in range(100)]
    for line in slow:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: ")
    assert httpx2.get(live.url + "/healthz", trust_env=False, timeout=LONG).status_code == 200
    for line in slow:
        line.close()


def never_reading(running, address="127.0.0.1"):
    """A connection that asks for far more than the kernel buffers, and reads nothing."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.bind((address, 0))
    line.connect(("127.0.0.1", running.port))
    line.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        line.sendall(f"GET /web/page.css HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode() * 600)
    return line


def test_a_client_that_never_reads_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "STALL", 0.2)
    with Serving(tmp_path, {"rate": 1e9, "burst": 10**9}) as running, never_reading(running):
        for count in (1, 0):
            until = time.monotonic() + LONG
            while running.connections != count and time.monotonic() < until:
                time.sleep(0.01)
            assert running.connections == count


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_crooked_heads_are_refused(live, head):
    answer = raw(live.port, head[:-2] + b"Connection: close\r\n\r\n")
    assert answer[9:12] in {b"400", b"421"}, answer[:200]


def test_a_head_without_end_is_cut_off(live):
    answer = raw(live.port, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


def test_an_upgrade_to_a_websocket_is_not_followed(live):
    head = b"GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n"
    assert raw(live.port, head).startswith(b"HTTP/1.1 200")


# -- many connections


@pytest.mark.skipif(sys.platform != "linux", reason="the whole of 127.0.0.0/8 is here on Linux")
def test_sixty_six_clients_that_never_read_hold_up_nobody_else_and_not_the_end(tmp_path, caplog):
    with contextlib.ExitStack() as lines, Serving(tmp_path) as running:
        for _ in range(66):
            lines.enter_context(never_reading(running, "127.0.0.2"))
        for _ in range(5):
            assert httpx2.get(running.url + "/", trust_env=False, timeout=10).status_code == 200
    assert caplog.records == []


def test_the_next_request_of_a_client_waits_until_it_has_read_the_answer_before(tmp_path):
    with Serving(tmp_path, {"rate": 1e9, "burst": 10**9}) as running, never_reading(running) as line:
        until = time.monotonic() + LONG
        while not (running.unread and not running.tasks) and time.monotonic() < until:
            time.sleep(0.01)
        assert (running.unread, running.tasks) == (1, 0)
        line.settimeout(LONG)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        left = 300 * len((ROOT / "api" / "web" / "page.css").read_bytes())  # half of what it asked for
        while left > 0:
            left -= len(line.recv(1 << 20)) or left
        assert left < 0


def test_one_address_has_a_share_of_the_connections(live, monkeypatch):
    monkeypatch.setattr(server, "OF_ONE", 3)
    lines = [socket.create_connection(("127.0.0.1", live.port), LONG) for _ in range(4)]
    assert lines[-1].recv(1) == b""
    assert live.connections == 3
    for line in lines:
        line.close()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_private_server_asks_for_a_token_that_the_owners_clients_find(tmp_path, monkeypatch):
    process, said = started(tmp_path, "--private")
    url = said["data"]["url"]
    try:
        assert httpx2.get(url + "/api/v1/jobs", trust_env=False, timeout=LONG).status_code == 401
        monkeypatch.setenv("LINEAGE_HOME", str(tmp_path / "another"))
        with Lineage(url) as stranger, pytest.raises(LineageError, match="a token is needed"):
            stranger.jobs()
        monkeypatch.setenv("LINEAGE_HOME", str(tmp_path))
        with Lineage(url) as owner:
            owner.jobs()
        kept = next((tmp_path / "servers").iterdir())
        token = json.loads(kept.read_bytes())["token"]
        assert (kept.stat().st_mode & 0o777, tmp_path.stat().st_mode & 0o777) == (0o600, 0o700)
    finally:
        _, _, err = ended(process)
    assert f"listening on {url}/#?token={token} " in err


_HEAPS = """
import ctypes, sys, tempfile, threading
from pathlib import Path
from api.server.server import share_heap

if sys.argv[1] == "shared":
    share_heap()
meet = threading.Barrier(4)

def work():
    meet.wait()
    kept = [bytes(5_000) for _ in range(1_000)]
    meet.wait()

threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
c = ctypes.CDLL(None)
c.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as said:
    stream = ctypes.c_void_p(c.fopen(said.name.encode(), b"w"))
    c.malloc_info(0, stream)
    c.fclose(stream)
    print(Path(said.name).read_text().count("<heap "))
"""


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_info"), reason="asks glibc")
def test_threads_of_a_server_share_a_heap():
    def heaps(how):
        return int(subprocess.run([sys.executable, "-c", _HEAPS, how], cwd=ROOT, capture_output=True, text=True, timeout=LONG, check=True).stdout)

    assert heaps("apart") > 1
    assert heaps("shared") == 1


def test_a_server_shares_its_heap_before_it_answers(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr(server, "share_heap", lambda: order.append("shared"))
    with pytest.raises(LineageError):
        server.serve(None, tmp_path, "192.0.2.1", 0, order.append)  # an address of nobody's
    assert order == ["shared"]
