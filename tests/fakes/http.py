"""A loopback server that says word for word what a test wants said, also what no HTTP library would send."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from indexer.store.blobs import Blobs
from indexer.transport.client import Transport
from lineage.settings import Settings


@dataclass(frozen=True)
class Reply:
    """One answer. `raw` replaces everything that would be sent; what is sent goes out in pieces with a pause between."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    piece: int = 0
    pause_s: float = 0.0

    @property
    def sent(self) -> bytes:
        if self.raw is not None:
            return self.raw
        headers = {"Content-Type": "application/json", "Content-Length": str(len(self.body)), "Connection": "close", **self.headers}
        head = f"HTTP/1.1 {self.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return head.encode("latin-1") + b"\r\n" + self.body


def reply_json(value: object, status: int = 200, **headers: str) -> Reply:
    return Reply(status, json.dumps(value).encode(), {name.replace("_", "-"): text for name, text in headers.items()})


@dataclass(frozen=True)
class Seen:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Scripted:
    """Answers by the longest key that `HOST/PATH` begins with; the replies of a key in turn, the last one for ever."""

    def __init__(self, script: Mapping[str, Reply | Sequence[Reply]]) -> None:
        self.script = {key: [value] if isinstance(value, Reply) else list(value) for key, value in script.items()}
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def targets(self) -> list[str]:
        return [seen.target for seen in self.seen]

    def reply(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            key = max((key for key in self.script if seen.target.startswith(key)), key=len, default="")
            left = self.script.get(key, [Reply(404, b'{"error": "not scripted"}')])
            return left.pop(0) if len(left) > 1 else left[0]

    def __enter__(self) -> Scripted:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64
    owner: Scripted


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.request.recv(65536)
            if not more:
                return
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        while len(body) < int(headers.get("content-length", "0")):
            body += self.request.recv(65536)
        self._say(self.server.owner.reply(Seen(method, target.lstrip("/"), headers, body)))

    def _say(self, reply: Reply) -> None:
        data = reply.sent
        step = reply.piece or max(1, len(data))
        try:
            for start in range(0, len(data), step):
                self.request.sendall(data[start : start + step])
                if reply.pause_s and self.server.owner.closing.wait(reply.pause_s):
                    return
            self.request.shutdown(socket.SHUT_WR)
        except OSError:
            return


@contextmanager
def transport(home: Path, mirror: str, **flags: Any) -> Iterator[Transport]:
    """A transport that asks `mirror` and waits for nothing."""
    clock = Clock()
    settings = Settings(home=home, **({"mirror": mirror, "deadline": 20.0} | flags))
    with Transport(settings, Blobs(home), wall=clock, sleep=clock.sleep) as made:
        yield made


class Clock:
    """A wall clock that only sleeping moves; `slept` are the waits."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self.now = start
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.now += max(0.0, seconds)
