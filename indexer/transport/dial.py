"""How a connection is opened: to a public address that was checked, and never beyond a request's total deadline.

httpx2's time-outs bound one read, not a request: a server that sends a byte a second, in its headers even, would be
listened to for ever. Here every wait on the socket is cut at the deadline of the request that it serves. The name is
resolved once, its addresses are checked, and the connection goes to the address that was checked, so that a name
that resolves differently the next time (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import httpcore2

from indexer.transport.upstreams import is_public

Resolve = Callable[[str, int], list[str]]
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextlib.contextmanager
def until(seconds: float) -> Iterator[None]:
    """Everything that the block reads, writes or connects to ends within so many seconds."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def _left(timeout: float | None, late: type[Exception]) -> float | None:
    """The time-out that remains of a request's deadline; raises `late` when there is none."""
    deadline = _deadline.get()
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise late("the deadline of the request has passed")
    return left if timeout is None else min(timeout, left)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as the system gives them; raises OSError."""
    return list(dict.fromkeys(str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def _resolve_in_time(lookup: Resolve, host: str, port: int, timeout: float | None) -> list[str]:
    """`lookup`, given up after the time-out: the system's resolver knows none."""
    address_lists: list[list[str]] = []
    failed: list[OSError] = []

    def ask() -> None:
        try:
            address_lists.append(lookup(host, port))
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout)
    if failed:
        raise httpcore2.ConnectError(f"the name {host} does not resolve: {failed[0].strerror or failed[0]}")
    if not address_lists:
        raise httpcore2.ConnectTimeout(f"the name {host} was not resolved in time")
    return address_lists[0]


class Dialler(httpcore2.NetworkBackend):
    """Opens connections to public addresses, and to `trusted` (host, port) as it stands: a configured mirror."""

    def __init__(self, trusted: tuple[str, int] | None = None, lookup: Resolve = resolve) -> None:
        self._trusted, self._lookup = trusted, lookup
        self._backend = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """A stream to the first address that answers; raises httpcore2's ConnectError or ConnectTimeout."""
        if (host, port) == self._trusted:
            return self._connect(host, port, timeout, socket_options)
        addresses = _resolve_in_time(self._lookup, host, port, _left(timeout, httpcore2.ConnectTimeout))
        public = [address for address in addresses if is_public(address)]
        if not public:
            raise httpcore2.ConnectError(f"{host} resolves to no public address")
        for address in public[:-1]:
            with contextlib.suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return self._connect(address, port, timeout, socket_options)
        return self._connect(public[-1], port, timeout, socket_options)

    def _connect(self, host: str, port: int, timeout: float | None, options: Iterable[Any] | None) -> httpcore2.NetworkStream:
        return _Timed(self._backend.connect_tcp(host, port, _left(timeout, httpcore2.ConnectTimeout), None, options))


class _Timed(httpcore2.NetworkStream):
    """A stream whose every wait ends at the deadline of the request in whose thread it happens."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None) -> httpcore2.NetworkStream:
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, _left(timeout, httpcore2.ConnectTimeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
