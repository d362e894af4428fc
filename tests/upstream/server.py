"""The server: loopback only, real sockets, keep-alive; every request is recorded with its time and connection.

`/HOST/PATH?QUERY` is answered as `https://HOST/PATH?QUERY` would be (the form of LINEAGE_MIRROR).
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.upstream import arxiv_org, github_com, hugging_face, scholar, witnesses
from tests.upstream.answer import Answer, Ask, Wire, json_answer
from tests.upstream.faults import Faults, Turns
from tests.upstream.world import World

HOSTS: dict[str, Callable[[World, Ask], Answer]] = {
    "api.semanticscholar.org": scholar.answer,
    "export.arxiv.org": arxiv_org.answer,
    "arxiv.org": arxiv_org.answer,
    "api.github.com": github_com.api,
    "codeload.github.com": github_com.codeload,
    "huggingface.co": hugging_face.answer,
    "api.openalex.org": witnesses.openalex,
    "api.crossref.org": witnesses.crossref,
}
NOTED = ("authorization", "x-api-key", "cookie", "user-agent", "accept-encoding", "if-none-match", "range")


@dataclass(frozen=True)
class Request:
    """One request as it was answered.

    `time` is in monotonic seconds, `connection` a number per socket, `concurrent` how many requests to this host were under
    way with this one, `headers` those worth a look.
    """

    time: float
    method: str
    host: str
    path: str
    query: str
    status: int
    size: int
    connection: int
    headers: tuple[tuple[str, str], ...]
    concurrent: int = 1

    @property
    def url(self) -> str:
        """The public address that was meant."""
        return f"https://{self.host}{self.path}" + (f"?{self.query}" if self.query else "")


class Upstream:
    """A running loopback upstream; a context manager. `port` 0 takes a free one."""

    def __init__(self, world: World, faults: Faults | None = None, port: int = 0) -> None:
        self.world = world
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._turns = Turns(faults or Faults())
        self._connections = itertools.count(1)
        self._under_way: Counter[str] = Counter()
        self._sockets: set[socket.socket] = set()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """What LINEAGE_MIRROR is set to."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """What was asked so far, in order of arrival of the answers."""
        with self._lock:
            return list(self._requests)

    @property
    def faults(self) -> int:
        """How many answers the script has spoiled so far."""
        with self._lock:
            return sum(self._turns.acted.values())

    def forget(self) -> None:
        """Begin the record anew."""
        with self._lock:
            self._requests.clear()

    def misbehave(self, faults: Faults) -> None:
        """Follow another script from now on, its counts at zero."""
        with self._lock:
            self._turns = Turns(faults)

    def __enter__(self) -> Upstream:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening, end what is stalled, and end every connection."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            left = list(self._sockets)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        """Wait until the server ends."""
        self._thread.join()

    def opened(self, connection: socket.socket) -> int:
        """Take note of a connection; its number."""
        with self._lock:
            self._sockets.add(connection)
            return next(self._connections)

    def closed(self, connection: socket.socket) -> None:
        """A connection is over."""
        with self._lock:
            self._sockets.discard(connection)

    @contextlib.contextmanager
    def under_way(self, host: str) -> Iterator[Callable[[], None]]:
        """Count a request to `host` from its arrival until the function given is called, just before the last byte leaves.

        Not after it: a client that has its answer may ask again before this thread runs on.
        """
        with self._lock:
            self._under_way[host] += 1
        once = iter([host])

        def over() -> None:
            with self._lock:
                self._under_way.subtract(once)

        try:
            yield over
        finally:
            over()

    def answer(self, ask: Ask, headers: tuple[tuple[str, str], ...], connection: int) -> Answer:
        """The answer to one request, the script applied and the request recorded."""
        serve = HOSTS.get(ask.host)
        right = serve(self.world, ask) if serve else json_answer({"error": f"no such host: {ask.host}"}, 404)
        with self._lock:
            given = self._turns.act(ask, _unchanged(right, dict(headers)))
            parts, busy = urlsplit(ask.target), max(1, self._under_way[ask.host])
            what = (ask.method, ask.host, parts.path, parts.query, given.status, len(given.body))
            self._requests.append(Request(time.monotonic(), *what, connection, headers, busy))
        return given


def _unchanged(answer: Answer, headers: dict[str, str]) -> Answer:
    """304 where the client already has what it asks for."""
    tag = answer.header("ETag")
    same = answer.status == 200 and tag and headers.get("if-none-match") == tag
    return Answer(304, headers=(("ETag", tag),)) if same and tag else answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], upstream: Upstream) -> None:
        self.upstream = upstream
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "upstream"
    disable_nagle_algorithm = True
    server: _Server
    over: Callable[[], None]

    def setup(self) -> None:
        super().setup()
        self.number = self.server.upstream.opened(self.connection)

    def finish(self) -> None:
        self.server.upstream.closed(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name of the base class
        """Quiet: the record is `Upstream.requests`."""

    def do_GET(self) -> None:
        length = self.headers.get("content-length") or "0"
        body = self.rfile.read(int(length)) if length.isdigit() else b""
        host, slash, rest = self.path.lstrip("/").partition("/")
        target = slash + rest
        parts = urlsplit(target if not target.startswith("//") else "/" + target.lstrip("/"))
        ask = Ask(self.command, host, unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True)), body, target)
        noted = tuple((name, self.headers[name]) for name in NOTED if self.headers[name] is not None)
        with self.server.upstream.under_way(host) as self.over:
            self._send(self.server.upstream.answer(ask, noted, self.number))

    do_HEAD = do_GET  # noqa: N815 -- the names that http.server looks for
    do_POST = do_GET  # noqa: N815

    def _send(self, answer: Answer) -> None:
        wire = answer.wire
        if wire.delay_s:
            self.server.upstream.closing.wait(wire.delay_s)
        if wire.drop:
            self._reset()
            return
        self.send_response(answer.status)
        declared = len(answer.body) if wire.declared is None else wire.declared
        if answer.status != 304:
            self.send_header("Content-Length", str(declared))
        for name, value in answer.headers:
            self.send_header(name, value)
        if self.command == "HEAD" or not answer.body:
            self.over()
        self.end_headers()
        if self.command != "HEAD":
            self._send_body(answer.body, wire)

    def _send_body(self, body: bytes, wire: Wire) -> None:
        if wire != Wire(delay_s=wire.delay_s):
            self.close_connection = True
        if wire.stall_at is not None:
            self.wfile.write(body[: wire.stall_at])
            self.server.upstream.closing.wait(wire.stall_s)
            return
        body = body if wire.cut_at is None else body[: wire.cut_at]
        step = wire.piece or max(1, len(body))
        for start in range(0, len(body), step):
            if start + step >= len(body):
                self.over()
            self.wfile.write(body[start : start + step])
            if wire.pause_s and self.server.upstream.closing.wait(wire.pause_s):
                return

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
