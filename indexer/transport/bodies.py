"""Whether what arrives is what was asked for, checked while it arrives (pure).

A body that passes is kept for ever, so a page for people, half a feed or a broken archive must not pass: statuses and
Content-Type say little (a captcha comes with 200, arXiv's errors too).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Literal

from indexer.archives.sniff import sniff
from lineage.errors import SourceError
from lineage.records import Status

Kind = Literal["json", "atom", "file", "page"]
"""What is asked for: JSON, an Atom feed, a file of any kind but a web page, or a paper as a web page (LaTeXML's)."""

ACCEPT = {"json": "application/json", "atom": "application/atom+xml", "file": "*/*", "page": "text/html"}
ENCODING = {"json": "gzip", "atom": "gzip", "file": "identity", "page": "gzip"}
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
            if kind != "page" and sniff(start) == "html":
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


_NAMES = {"json": "JSON", "atom": "an Atom feed", "file": "a file", "page": "a paper"}


def _check_text(body: bytes, kind: Kind, url: str) -> None:
    if kind == "page":
        if b"ltx_" not in body:  # a captcha is a web page too
            raise SourceError(Status.WRONG_TYPE, "a web page came, but no paper", url=url)
        if b"</html" not in body[-4096:].lower():
            raise SourceError(Status.TRUNCATED, "the page ends in the middle", url=url)
        return
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
