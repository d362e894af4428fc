"""A stream of bytes that cannot run away: plain or gzip input, read under absolute, ratio and time limits.

`zlib` is asked for one bounded block at a time, so a bomb costs at most the limit it hits (RELIABILITY T2).
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable

from lineage.errors import ParseError
from lineage.records import Status

BLOCK = 65536
RATIO_FLOOR = 8 * 1024 * 1024
"""Bytes that may come out before the ratio counts: small texts compress a thousandfold and harm no one."""


class BoundedStream:
    """Bytes out of `source(n)`, counted against `most` bytes and `seconds` of reading; what the consumer does between is not counted."""

    def __init__(self, source: Callable[[int], bytes], most: int, seconds: float) -> None:
        self._source = source
        self._most = most
        self._left = seconds
        self._buffer = bytearray()
        self._given = 0
        self._broken: ParseError | None = None

    def peek(self, n: int) -> bytes:
        """The next `n` bytes without taking them, fewer at the end or before a break that `read` will report."""
        while len(self._buffer) < n and not self._broken and (block := self._block()):
            self._buffer += block
        if self._broken and not self._buffer:
            raise self._broken
        return bytes(self._buffer[:n])

    def read(self, n: int) -> bytes:
        """The next `n` bytes, fewer only at the end; raises the `ParseError` of whatever broke the stream before that."""
        data = self.peek(n)
        if self._broken and len(data) < n:
            raise self._broken
        del self._buffer[: len(data)]
        return data

    def skip(self, n: int) -> int:
        """Pass over `n` bytes in little memory; the number that there were."""
        left = n
        while left and (data := self.read(min(left, BLOCK))):
            left -= len(data)
        return n - left

    def _block(self) -> bytes:
        try:
            return self._next()
        except ParseError as error:
            self._broken = error
            return b""

    def _next(self) -> bytes:
        if self._left < 0:
            raise ParseError(Status.PARSE_TIMEOUT, "reading the archive took longer than allowed")
        start = time.monotonic()
        block = self._source(BLOCK)
        self._left -= time.monotonic() - start
        self._given += len(block)
        if self._given > self._most:
            raise ParseError(Status.BOMB, f"more than {self._most:,} bytes come out of the archive")
        return block


class Gunzip:
    """Decompress gzip (several streams one after another included) from `source(n)`.

    Calling it gives up to `n` bytes, none at the end. Raises `ParseError`: `truncated` when the input ends early,
    `bad_archive` when it is damaged, `bomb` when more than `ratio` times the input comes out.
    """

    def __init__(self, source: Callable[[int], bytes], ratio: int) -> None:
        self._source = source
        self._ratio = ratio
        self._taken = 0
        self._given = 0
        self._rest = b""
        self._zip = zlib.decompressobj(wbits=31)
        self._ended = False

    def __call__(self, n: int) -> bytes:
        """Up to `n` decompressed bytes; none at the end."""
        while not self._ended:
            out = self._step(n)
            if out:
                return self._count(out)
        return b""

    def _step(self, n: int) -> bytes:
        if not self._rest:
            self._rest = self._source(BLOCK)
            self._taken += len(self._rest)
        if not self._rest and not self._zip.eof:
            raise ParseError(Status.TRUNCATED, "the compressed data ends in the middle")
        if self._zip.eof:
            return self._restart()
        try:
            out = self._zip.decompress(self._rest, n)
        except zlib.error as error:
            raise ParseError(Status.BAD_ARCHIVE, f"the compressed data is damaged ({error})") from error
        self._rest = self._zip.unconsumed_tail or self._zip.unused_data
        return out

    def _restart(self) -> bytes:
        # Anything but another gzip stream after the end is padding, as gzip(1) has it.
        if self._rest.startswith(b"\x1f\x8b"):
            self._zip = zlib.decompressobj(wbits=31)
        else:
            self._ended = True
        return b""

    def _count(self, out: bytes) -> bytes:
        self._given += len(out)
        if self._given > RATIO_FLOOR and self._given > self._ratio * max(self._taken, 1):
            raise ParseError(Status.BOMB, f"the data unpacks to more than {self._ratio} times its size")
        return out
