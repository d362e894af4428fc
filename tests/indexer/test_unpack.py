"""Formats told by their bytes, streams that cannot run away, and tar read header by header."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.archives.sniff import is_binary, sniff, utf16
from indexer.archives.tarstream import RATIO_FLOOR, BoundedStream, Gunzip, TarHeader, entries, padded
from lineage.errors import ParseError
from lineage.records import Status


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x1f\x9d", "compress"),
        (b"PK\x03\x04", "zip"),
        (b"PK\x05\x06", "zip"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"BZh9", "bzip2"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"Rar!\x1a\x07", "rar"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"%!PS-Adobe", "postscript"),
        (b"\n\n%PDF-1.4", "pdf"),
        (b" " * 1019 + b"%PDF-", "pdf"),
        (b" " * 1020 + b"%PDF-", "text"),
        (b"  <!DOCTYPE  html>", "html"),
        (b'\xef\xbb\xbf<?xml version="1.0"?><!-- a --><html>', "html"),
        (b"<htmlx>", "text"),
        (b"We use <html> here", "text"),
        (b"\\documentclass{article}", "tex"),
        (b"%&latex\nHello", "tex"),
        (b"text \\begin {document}", "tex"),
        (b"% a comment only", "text"),
        (b"a\0b", "binary"),
        (b"\xff\xfea\0b\0", "text"),
        ("Größe".encode("latin-1"), "text"),
        (b"\x01" * 3 + b"a" * 97, "binary"),
        (b"\x01" * 2 + b"a" * 98, "text"),
        (b"a\tb\r\n\x1b[0m\f", "text"),
    ],
)
def test_a_format_is_told_by_its_bytes(data: bytes, kind: str) -> None:
    assert sniff(data) == kind


@pytest.mark.parametrize(("codec", "found"), [("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be"), ("utf-8", ""), ("utf-32-le", "")])
def test_text_of_two_bytes_is_known_without_a_mark(codec: str, found: str) -> None:
    data = "A paper about learning, in plain words.".encode(codec)
    assert utf16(data) == found
    assert is_binary(data) is (codec == "utf-32-le")
    assert utf16(b"a\0") == ""


@given(st.binary(max_size=600))
def test_any_bytes_are_of_some_kind(data: bytes) -> None:
    known = "empty gzip tar zip xz bzip2 compress 7z rar zstd pdf postscript html tex text binary"
    assert sniff(data) in known.split()


def source(data: bytes) -> Callable[[int], bytes]:
    return io.BytesIO(data).read


def stream(data: bytes, most: int = 1 << 20) -> BoundedStream:
    return BoundedStream(source(data), most, 60.0)


def broken(action: Callable[[], object]) -> Status:
    with pytest.raises(ParseError) as error:
        action()
    return error.value.status


def test_a_stream_is_looked_at_read_and_passed_over() -> None:
    one = stream(b"0123456789")
    assert (one.peek(3), one.read(2), one.peek(3), one.skip(3), one.read(100), one.read(1), one.skip(5)) == (
        b"012",
        b"01",
        b"234",
        3,
        b"56789",
        b"",
        0,
    )


def test_a_stream_that_breaks_gives_what_came_before_and_then_says_why_each_time() -> None:
    one = stream(b"x" * 70_000, most=65_536)
    assert one.read(65_536) == b"x" * 65_536
    assert [broken(lambda: one.read(1)), broken(lambda: one.peek(1))] == [Status.BOMB] * 2
    late = BoundedStream(source(b"x"), 10, -1.0)
    assert broken(lambda: late.read(1)) is Status.PARSE_TIMEOUT


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=3), st.binary(max_size=20), st.integers(1, 200))
def test_gzip_streams_one_after_another_are_one(parts: list[bytes], padding: bytes, size: int) -> None:
    packed = b"".join(gzip.compress(part, mtime=0) for part in parts)
    inflate = Gunzip(source(packed + (b"" if padding.startswith(b"\x1f\x8b") else padding)), 200)
    out = bytearray()
    while data := inflate(size):
        assert len(data) <= size
        out += data
    assert bytes(out) == b"".join(parts)
    assert inflate(size) == b""


def test_gzip_that_is_cut_damaged_or_a_bomb_is_told() -> None:
    whole = gzip.compress(b"abc" * 1000, mtime=0)
    assert broken(lambda: BoundedStream(Gunzip(source(whole[:-4]), 200), 1 << 30, 60.0).skip(1 << 30)) is Status.TRUNCATED
    assert broken(lambda: BoundedStream(Gunzip(source(whole[:-8] + b"\0" * 8), 200), 1 << 30, 60.0).skip(1 << 30)) is Status.BAD_ARCHIVE
    bomb = gzip.compress(b"\0" * (RATIO_FLOOR + 1), 9, mtime=0)
    assert broken(lambda: BoundedStream(Gunzip(source(bomb), 200), 1 << 30, 60.0).skip(1 << 30)) is Status.BOMB
    small = gzip.compress(b"\0" * RATIO_FLOOR, 9, mtime=0)
    assert BoundedStream(Gunzip(source(small), 200), 1 << 30, 60.0).skip(1 << 30) == RATIO_FLOOR


def archived(members: list[tuple[str, bytes]], form: int, **more: object) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in more.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def walked(data: bytes) -> list[tuple[TarHeader, bytes]]:
    one = stream(data)
    return [(entry, one.read(padded(entry.size))[: entry.size]) for entry in entries(one)]


NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=160).filter(lambda n: not n.endswith("/"))
FORMS = st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(NAMES, st.binary(max_size=600)), max_size=3), FORMS)
def test_what_tar_packs_comes_out_with_its_name_and_bytes(members: list[tuple[str, bytes]], form: int) -> None:
    assert [(entry.name, entry.kind, data) for entry, data in walked(archived(members, form))] == [(name, "file", data) for name, data in members]


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        ("symbolic link", tarfile.SYMTYPE),
        ("hard link", tarfile.LNKTYPE),
        ("folder", tarfile.DIRTYPE),
        ("device", tarfile.CHRTYPE),
        ("device", tarfile.FIFOTYPE),
    ],
)
def test_what_is_no_file_carries_nothing_and_says_where_it_leads(kind: str, type_: bytes) -> None:
    data = archived([("a", b"")], tarfile.PAX_FORMAT, type=type_, linkname="../" + "x" * 200)
    (entry, _), *_ = walked(data)
    assert (entry.name, entry.kind, entry.size, entry.target) == ("a", kind, 0, "../" + "x" * 200)


def test_a_damaged_header_a_cut_archive_and_an_endless_extension_are_told() -> None:
    good = archived([("a.tex", b"x" * 1000)], tarfile.USTAR_FORMAT)
    assert broken(lambda: walked(b"\1" * 512)) is Status.BAD_ARCHIVE
    assert broken(lambda: walked(good[:300])) is Status.TRUNCATED
    assert [entry.name for entry, _ in walked(good[:512])] == ["a.tex"]
    pax = archived([("ü" * 200, b"")], tarfile.PAX_FORMAT)
    assert broken(lambda: walked(pax[:600])) is Status.TRUNCATED
    assert broken(lambda: walked(pax.replace(b" path=", b"9path="))) is Status.BAD_ARCHIVE
    huge = tarfile.TarInfo("x")
    huge.size, huge.type = 70_000, tarfile.XHDTYPE
    assert broken(lambda: walked(huge.tobuf(tarfile.USTAR_FORMAT) + b"\0" * 80_000)) is Status.BAD_ARCHIVE


@pytest.mark.parametrize(("size", "status"), [("12x", Status.BAD_ARCHIVE), ("9" * 19, Status.BAD_ARCHIVE), ("-1", Status.BAD_ARCHIVE)])
def test_a_size_that_no_file_has_is_refused(size: str, status: Status) -> None:
    data = archived([("a", b"x")], tarfile.PAX_FORMAT, pax_headers={"size": size})
    assert broken(lambda: walked(data)) is status


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=1100) | st.binary(min_size=512, max_size=700).map(lambda tail: archived([("a", b"")], tarfile.PAX_FORMAT)[:512] + tail))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    status = None
    try:
        walked(data)
    except ParseError as error:
        status = error.status
    assert status in {None, Status.TRUNCATED, Status.BAD_ARCHIVE}
