"""Connections to checked public addresses within a request's total deadline, and bodies read within their limits.

httpx2's time-outs bound one read, not a request: a server that sends a byte a second, in its headers even, would be
listened to for ever. Here every wait on the socket is cut at the deadline of the request that it serves. The name is
resolved once, its addresses are checked, and the connection goes to the address that was checked, so that a name
that resolves differently the next time (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, Literal

import httpcore2

from indexer.archives.sniff import sniff
from indexer.transport.upstreams import is_public
from lineage.errors import SourceError
from lineage.records import Status

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
    """The time left until a request's deadline; raises `late` when it has passed."""
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


class Dialer(httpcore2.NetworkBackend):
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


Kind = Literal["json", "atom", "file"]
"""The expected content: JSON, an Atom feed, or any file except a web page."""

ACCEPT = {"json": "application/json", "atom": "application/atom+xml", "file": "*/*"}
ENCODING = {"json": "gzip", "atom": "gzip", "file": "identity"}
GZIP = b"\x1f\x8b"
UNPACKED = 1 << 30
"""Bytes up to which a gzip file is unpacked to see whether it is whole; the parsers have their own limits beyond."""


class TooLarge(Exception):
    """The body is larger than its cap."""


def checked(chunks: Iterable[bytes], kind: Kind, cap: int, url: str) -> Iterator[bytes]:
    """The chunks as they are, until something is wrong with them.

    Raises `TooLarge` past `cap` bytes, `SourceError` WRONG_TYPE for a web page or what is not `kind`,
    TRUNCATED for what ends too early and HASH_MISMATCH for a gzip file whose checksum is wrong.
    """
    size, start, gzip = 0, b"", _Gzip()
    whole: list[bytes] = []
    for chunk in chunks:
        size += len(chunk)
        if size > cap:
            raise TooLarge
        if len(start) < 512:
            start += chunk[:512]
            if sniff(start) == "html":
                raise SourceError(Status.WRONG_TYPE, f"a web page came instead of {_NAMES[kind]}", url=url)
        if kind == "file":
            gzip.feed(chunk, url)
        else:
            whole.append(chunk)
        yield chunk
    if not size:
        raise SourceError(Status.TRUNCATED, "an empty answer came", url=url)
    if kind == "file":
        gzip.finish(url)
    else:
        _check_text(b"".join(whole), kind, url)


_NAMES = {"json": "JSON", "atom": "an Atom feed", "file": "a file"}


def _check_text(body: bytes, kind: Kind, url: str) -> None:
    if kind == "atom":
        if b"<feed" not in body[:4096]:
            raise SourceError(Status.WRONG_TYPE, "no Atom feed came", url=url)
        if not body.rstrip().endswith(b"</feed>"):
            raise SourceError(Status.TRUNCATED, "the Atom feed ends in the middle", url=url)
        return
    if body.lstrip()[:1] not in {b"{", b"["}:
        raise SourceError(Status.WRONG_TYPE, "no JSON object or array came", url=url)
    try:
        json.loads(body)
    except ValueError:
        raise SourceError(Status.TRUNCATED, "the JSON cannot be read to its end", url=url) from None
    except RecursionError:
        raise SourceError(Status.WRONG_TYPE, "the JSON is nested too deeply", url=url) from None


class _Gzip:
    """Follows a gzip file, if it is one, to its end and checksum; its content is thrown away."""

    def __init__(self) -> None:
        self._start: bytes | None = b""
        self._inflate: zlib._Decompress | None = None
        self._out = 0

    def feed(self, chunk: bytes, url: str) -> None:
        if self._start is not None:
            self._start += chunk
            if len(self._start) < 2:
                return
            chunk, self._start = self._start, None
            self._inflate = zlib.decompressobj(31) if chunk.startswith(GZIP) else None
        try:
            self._follow(chunk)
        except zlib.error:
            raise SourceError(Status.HASH_MISMATCH, "the gzip file is damaged", url=url) from None

    def _follow(self, data: bytes) -> None:
        while self._inflate and data:
            self._out += len(self._inflate.decompress(data, 1 << 20))
            data = self._inflate.unconsumed_tail
            if self._out > UNPACKED:
                self._inflate = None
            elif self._inflate.eof:
                data = self._inflate.unused_data
                if data.startswith(GZIP):
                    self._inflate = zlib.decompressobj(31)
                else:
                    self._inflate = None

    def finish(self, url: str) -> None:
        if self._inflate and not self._inflate.eof:
            raise SourceError(Status.TRUNCATED, "the gzip file ends in the middle", url=url)
