"""`lineage serve`: listens, prints its address, or names the process that already uses the port.

Slow and idle connections are closed here, beneath the application: a request's head must arrive within `HEAD`
seconds, and a client must read at least `READ` bytes of its answer in each `STALL` seconds. A server leaves its name
beside the store while it lives, so that a second one can tell who holds the port.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import HANDLED_SIGNALS

from api.rest.problems import MEDIA_TYPE, Problem
from api.server.journal import now
from indexer.store.atomic_files import private, write_whole
from lineage import generation as layout
from lineage.errors import SettingsError, StoreError, UsageError, failures

HEAD = 20.0
STALL = 10.0
READ = 16_384
KEEP_ALIVE = 15
CONNECTIONS = 1000
OF_ONE = 500
"""Connections of one address, so that others find room."""
GRACE = 3.0
"""Seconds that running requests have at shutdown; a build resumes at the next start."""
LAST = 1.0
"""Seconds after that for threads that nobody waits for any more."""
_M_ARENA_MAX = -8
"""Of glibc's `malloc.h`."""
STOP = 3.5
"""Seconds from a signal to the end of the process, however busy the machine is."""


class _Server(uvicorn.Server):
    """Reports when it is ready and shuts down cleanly on a signal."""

    def __init__(self, config: uvicorn.Config, up: Callable[[], None]) -> None:
        super().__init__(config)
        self._up = up
        self._leaving: threading.Timer | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: stop, at the latest in `STOP` seconds."""
        super().handle_exit(sig, frame)
        self._leaving = self._leaving or _leave_in(STOP)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening and report it."""
        await super().startup(sockets)
        if self.started:
            self._up()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; answers that nobody reads are not waited for."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, _Patient) and connection.is_unread:
                connection.transport.abort()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals shut the server down, are not raised again, and are ignored once it has."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            if self._leaving:
                self._leaving.cancel()
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if self.should_exit else handler)


class _Patient(H11Protocol):
    """HTTP/1.1 with limits on request heads and on slow readers, and problem documents for clients that exceed the former."""

    _late: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A new connection: start the timeout of its first request."""
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn narrows the type that asyncio gives
        self.transport.set_write_buffer_limits(high=0)  # hear of every client that has not read what was written
        if sum(isinstance(other, _Patient) and other.host == self.host for other in self.connections) > OF_ONE:
            self.transport.abort()
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Received bytes: a complete head, or part of one with a timeout."""
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of a connection."""
        for timer in (self._late, self._stalled):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client is not reading as fast as is written: start its timeout."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """The client has read everything."""
        super().resume_writing()
        if self._stalled:
            self._stalled.cancel()
            self._stalled = None
            self.handle_events()

    def handle_events(self) -> None:
        """Go on with what was received; a request waits until the client has read the answer before it."""
        if not self.is_unread:
            super().handle_events()

    @property
    def host(self) -> str:
        """The client's address."""
        return self.client[0] if self.client else ""

    @property
    def is_unread(self) -> bool:
        """Whether the client has not read all of what was written."""
        return self._stalled is not None

    def _watch(self) -> None:
        self._stalled = self.loop.call_later(STALL, self._check_reader, self.transport.get_write_buffer_size())

    def _check_reader(self, before: int) -> None:
        """Abort a connection whose client has read too little of `before` bytes; closing it would wait for the client."""
        if before - self.transport.get_write_buffer_size() < READ:
            self.transport.abort()
        else:
            self._watch()

    def _wait(self) -> None:
        reading = self.conn.their_state is h11.IDLE
        if reading and not self._late:
            self._late = self.loop.call_later(HEAD, self.transport.close)
        elif not reading and self._late:
            self._late.cancel()
            self._late = None

    def send_400_response(self, msg: str) -> None:
        """Invalid HTTP gets a problem document like every other error."""
        body = json.dumps(Problem(400, "malformed", msg).document()).encode()
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
        events = (h11.Response(status_code=400, headers=headers, reason=b"Bad Request"), h11.Data(data=body), h11.EndOfMessage())
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()


def serve(app: ASGIApp, home: Path, host: str, port: int, up: Callable[[str], None], token: str = "") -> None:
    """Serve until shutdown; `up` is called with the address when ready. A `token` of this start is left in the store for the owner's clients.

    Raises `UsageError` if the port is held, saying by whom, and `SettingsError` for an address that is none of ours.
    """
    share_heap()
    with _listening(home, host, port) as listener:
        port = listener.getsockname()[1]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        server = made(app, lambda: up(address))
        with _named(home, host, port, token):
            server.run([listener])
    if not server.started:
        raise StoreError("the server could not start", hint="the lines above say why")


def share_heap() -> None:
    """Let the threads that begin from now on share one heap: each of glibc's, one a thread, keeps the most that a question took there."""
    with suppress(OSError, AttributeError, TypeError):  # where the C library is another
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def made(app: ASGIApp, up: Callable[[], None]) -> uvicorn.Server:
    """A server for an application, to be run on a socket."""
    config = uvicorn.Config(
        app,
        http=_Patient,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=int(GRACE),
        limit_concurrency=CONNECTIONS,
    )
    return _Server(config, up)


def leave() -> None:
    """End the process: threads that are at work get `LAST` seconds, the interpreter is not taken apart, further signals are not heard."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    until = time.monotonic() + LAST
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _leave_in(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
    return timer


@contextmanager
def _listening(home: Path, host: str, port: int) -> Iterator[socket.socket]:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} is held by {holder(home, port)}", hint="use that one, or choose another with --port") from error
        raise SettingsError(f"{host}:{port} cannot be listened on: {error.strerror or error}", hint="use --host 127.0.0.1") from error
    with listener:
        yield listener


@contextmanager
def _named(home: Path, host: str, port: int, token: str) -> Iterator[None]:
    """Record this server in the store while it runs, for its owner's eyes alone as all that it writes."""
    path = layout.server_file(home, port)
    with private(home):
        with failures(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({"pid": os.getpid(), "host": host, "port": port, "since": now(), "token": token}).encode())
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def holder(home: Path, port: int) -> str:
    """A description of the process on a port, if the store knows it."""
    try:
        owner: dict[str, Any] = json.loads(layout.server_file(home, port).read_bytes())
        pid = int(owner["pid"])
        if os.name == "posix":  # elsewhere this would be a signal
            os.kill(pid, 0)
        return f"lineage serve, process {pid} since {str(owner['since'])[:19]}, over the same store ({home})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another program (not a server of this store)"
