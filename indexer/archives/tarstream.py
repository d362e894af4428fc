"""Bounded streams over compressed bytes, and the tar entries in them, header by header.

`tarfile.TarInfo.frombuf` reads each 512-byte header; what tarfile does around it (seeking, links, loading a PAX header
of any claimed size, keeping every entry) is what RELIABILITY T1 warns of, so the walk itself is done here.
"""

from __future__ import annotations

import tarfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lineage.errors import ParseError
from lineage.records import Status

INFLATE_BLOCK = 65536
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
        while left and (data := self.read(min(left, INFLATE_BLOCK))):
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
        block = self._source(INFLATE_BLOCK)
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
            self._rest = self._source(INFLATE_BLOCK)
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


BLOCK = tarfile.BLOCKSIZE
MAX_EXTENSION = 65536
"""Largest PAX or GNU long-name header, bytes; git and tar write a few hundred."""


@dataclass(frozen=True)
class TarHeader:
    """One header: `kind` is `file`, `folder`, `symbolic link`, `hard link`, `sparse file` or `device`; `size` in bytes."""

    name: str
    kind: str
    size: int
    target: str = ""


_KINDS = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.CONTTYPE: "file",
    tarfile.DIRTYPE: "folder",
    tarfile.SYMTYPE: "symbolic link",
    tarfile.LNKTYPE: "hard link",
    tarfile.GNUTYPE_SPARSE: "sparse file",
}
_PAX = {tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE}


def padded(size: int) -> int:
    """Bytes that `size` bytes of data take in the archive."""
    return -(-size // BLOCK) * BLOCK


def entries(stream: BoundedStream) -> Iterator[TarHeader]:
    """Every entry of the archive in order; the consumer reads or skips exactly `padded(entry.size)` bytes after each.

    Raises `ParseError`: `truncated` for an archive cut short, `bad_archive` for a header that is none.
    """
    pax_headers: dict[str, str] = {}
    while (header := _header(stream) or _after_lone_zeros(stream)) is not None:
        if header.type == tarfile.XGLTYPE:
            _extension(stream, header.size)
        elif header.type in _PAX:
            pax_headers |= _records(_extension(stream, header.size))
        elif header.type == tarfile.GNUTYPE_LONGNAME:
            pax_headers["path"] = _c_string(_extension(stream, header.size))
        elif header.type == tarfile.GNUTYPE_LONGLINK:
            pax_headers["linkpath"] = _c_string(_extension(stream, header.size))
        else:
            yield _entry(header, pax_headers)
            pax_headers = {}


def _header(stream: BoundedStream) -> tarfile.TarInfo | None:
    block = stream.read(BLOCK)
    if not block or not block.strip(b"\0"):
        return None
    if len(block) < BLOCK:
        raise ParseError(Status.TRUNCATED, "the archive ends inside a header")
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise ParseError(Status.BAD_ARCHIVE, f"damaged archive header ({error})") from error
    if header.size < 0:
        raise ParseError(Status.BAD_ARCHIVE, "an entry claims a negative size")
    return header


def _after_lone_zeros(stream: BoundedStream) -> tarfile.TarInfo | None:
    """The header after a block of zeros that stands alone: two of them end an archive (POSIX), one does not hide what follows.

    Raises `ParseError` (PARTIAL) for bytes after the end.
    """
    if stream.peek(BLOCK).strip(b"\0"):
        return _header(stream)
    while block := stream.read(64 * BLOCK):
        if block.strip(b"\0"):
            raise ParseError(Status.PARTIAL, "there are bytes after the end of the archive")
    return None


def _extension(stream: BoundedStream, size: int) -> bytes:
    if size > MAX_EXTENSION:
        raise ParseError(Status.BAD_ARCHIVE, f"an extended header of {size:,} bytes")
    data = stream.read(padded(size))
    if len(data) < size:
        raise ParseError(Status.TRUNCATED, "the archive ends inside an extended header")
    return data[:size]


def _records(data: bytes) -> dict[str, str]:
    """PAX records (POSIX.1-2001: `<length> <key>=<value>\\n`); raises `ParseError` where lengths do not add up."""
    fields_by_key: dict[str, str] = {}
    at = 0
    while at < len(data) and data[at : at + 1] != b"\0":
        digits, _, _ = data[at : at + 20].partition(b" ")
        length = int(digits) if digits.isdigit() else 0
        record = data[at : at + length]
        key, equals, value = record[len(digits) + 1 : -1].partition(b"=")
        if not equals or not record.endswith(b"\n"):
            raise ParseError(Status.BAD_ARCHIVE, "a damaged extended header")
        fields_by_key[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        at += length
    return fields_by_key


def _c_string(data: bytes) -> str:
    return data.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _entry(header: tarfile.TarInfo, known: dict[str, str]) -> TarHeader:
    size = header.size
    if "size" in known:
        if not known["size"].isdecimal() or len(known["size"]) > 18:
            raise ParseError(Status.BAD_ARCHIVE, "an entry claims an impossible size")
        size = int(known["size"])
    kind = _KINDS.get(header.type, "device")
    if any(key.startswith("GNU.sparse") for key in known):
        kind = "sparse file"
    # Links and folders carry no data whatever their size field says; unknown types do (POSIX).
    carries = kind in {"file", "sparse file"} or header.type not in tarfile.SUPPORTED_TYPES
    return TarHeader(known.get("path", header.name), kind, size if carries else 0, known.get("linkpath", header.linkname))
