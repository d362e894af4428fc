"""Whether what arrives is what was asked for: half a feed, a web page or a broken archive is not kept."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.transport.dial import Kind, TooLarge, checked
from lineage.errors import SourceError
from lineage.records import Status

URL = "https://export.arxiv.org/x"
GZIP = gzip.compress(b"a" * 5000, mtime=0)


def read(kind: Kind, *chunks: bytes, cap: int = 1 << 20) -> bytes:
    return b"".join(checked(chunks, kind, cap, URL))


def status(kind: Kind, *chunks: bytes) -> Status:
    with pytest.raises(SourceError) as error:
        read(kind, *chunks)
    assert error.value.url == URL
    return error.value.status


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("json", b' {"a": 1} '),
        ("json", b"[]"),
        ("atom", b'<?xml version="1.0"?>\n<feed><entry/></feed>\n'),
        ("file", b"%PDF-1.7 anything"),
        ("file", GZIP),
        ("file", GZIP + GZIP),
        ("file", GZIP + b"\0" * 100),
        ("file", b"x"),
    ],
)
def test_what_was_asked_for_passes_whole_however_it_is_cut(kind: Kind, body: bytes) -> None:
    assert read(kind, body) == body
    assert read(kind, *(body[n : n + 1] for n in range(len(body)))) == body


@pytest.mark.parametrize(
    ("kind", "body", "wrong"),
    [
        ("json", b"", Status.TRUNCATED),
        ("json", b'{"a": ', Status.TRUNCATED),
        ("json", b"5", Status.WRONG_TYPE),
        ("json", b"[" * 200_000, Status.WRONG_TYPE),
        ("json", b"<html><body>Are you human?</body></html>", Status.WRONG_TYPE),
        ("atom", b"<feed><entry/>", Status.TRUNCATED),
        ("atom", b"<rss></rss>", Status.WRONG_TYPE),
        ("file", b"<!doctype html><html>not found</html>", Status.WRONG_TYPE),
        ("file", GZIP[:-9], Status.TRUNCATED),
        ("file", GZIP[:5], Status.TRUNCATED),
        ("file", GZIP[:-8] + b"\0" * 8, Status.HASH_MISMATCH),
        ("file", GZIP[:12] + b"\xff" + GZIP[13:], Status.HASH_MISMATCH),
        ("file", GZIP + GZIP[:20], Status.TRUNCATED),
    ],
)
def test_what_was_not_asked_for_or_is_not_whole_is_told(kind: Kind, body: bytes, wrong: Status) -> None:
    assert status(kind, body) is wrong
    assert status(kind, body[:3], body[3:]) is wrong


def test_the_cap_counts_every_byte_and_holds_before_the_next_chunk() -> None:
    assert read("file", b"12345", cap=5) == b"12345"
    chunks = checked([b"123", b"456", b"789"], "file", 5, URL)
    assert next(chunks) == b"123"
    with pytest.raises(TooLarge):
        next(chunks)


def test_a_web_page_is_known_from_its_first_bytes_before_the_rest_comes() -> None:
    def endless():  # type: ignore[no-untyped-def]
        yield b"<html>"
        raise AssertionError("asked for more")

    with pytest.raises(SourceError):
        list(checked(endless(), "json", 1 << 20, URL))


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=8), max_size=4), st.integers(1, 40))
def test_every_json_object_passes_and_none_that_lacks_its_end(value: dict[str, object], size: int) -> None:
    body = json.dumps(value).encode()
    assert read("json", *(body[n : n + size] for n in range(0, len(body), size))) == body
    assert status("json", body[:-1]) is Status.TRUNCATED


@given(st.binary(max_size=60))
def test_any_bytes_pass_or_are_refused(data: bytes) -> None:
    for kind in ("json", "atom", "file"):
        status = None
        try:
            assert read(kind, data) == data
        except SourceError as error:
            status = error.status
        assert status in {None, Status.WRONG_TYPE, Status.TRUNCATED, Status.HASH_MISMATCH}
