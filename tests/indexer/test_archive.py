"""Members of e-prints and tarballs: one row a file, whatever the archive does."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from indexer.archives.members import EPRINT, ArchiveLimits, Member, members, repo_members
from indexer.parsers.select import by_name
from lineage.records import Status

SMALL = ArchiveLimits(packed=100_000, members=5, member=1_000, total=3_000)
Entry = tuple[str, bytes] | tarfile.TarInfo


def tar(*entries: Entry, mode: str = "w:gz", **options: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, **options) as archive:
        for entry in entries:
            info, data = (entry, b"") if isinstance(entry, tarfile.TarInfo) else (tarfile.TarInfo(entry[0]), entry[1])
            info.size = info.size or len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def outcome(found: list[Member]) -> list[tuple[str, str]]:
    return [(member.name, member.status.value) for member in found]


def test_a_gzipped_tar_gives_its_files_with_their_bytes() -> None:
    data = tar(("main.tex", b"\\documentclass{a}"), special("figs", tarfile.DIRTYPE), ("./figs/a.tex", b"x"))
    assert [(m.name, m.data, m.status) for m in members(data)] == [
        ("main.tex", b"\\documentclass{a}", Status.OK),
        ("figs/a.tex", b"x", Status.OK),
    ]


def test_a_plain_tar_is_read_as_well() -> None:
    assert outcome(list(members(tar(("a.tex", b"x"), mode="w")))) == [("a.tex", "ok")]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\\documentclass{article}", "main.tex"),
        (b"%PDF-1.5 ...", "main.pdf"),
        (b"%!PS-Adobe-2.0", "main.ps"),
        (b"<!DOCTYPE html><html>", "main.html"),
        (b"nothing to see", "main.txt"),
    ],
)
def test_a_single_file_is_named_by_what_it_is_plain_gzipped_or_gzipped_twice(content: bytes, name: str) -> None:
    for data in (content, gzip.compress(content), gzip.compress(gzip.compress(content))):
        assert list(members(data)) == [Member(name, content, size=len(content))]


def test_gzip_within_gzip_within_gzip_is_refused() -> None:
    assert outcome(list(members(gzip.compress(gzip.compress(gzip.compress(b"x")))))) == [("*", "bomb")]


def test_other_compressions_are_refused_by_name() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a", "b")
    for data, name in [(out.getvalue(), "main.zip"), (b"\xfd7zXZ\x00", "main.xz"), (b"BZh91AY", "main.bz2"), (b"\x1f\x9d\x90", "main.Z")]:
        assert outcome(list(members(data))) == [(name, "wrong_type")]


def test_no_bytes_are_an_empty_archive() -> None:
    assert outcome(list(members(b""))) == [("*", "empty")]
    assert outcome(list(members(gzip.compress(b"")))) == [("*", "empty")]


def test_names_that_leave_the_archive_are_refused_and_the_rest_is_read() -> None:
    names = ["../../etc/passwd", "/etc/passwd", "a/../../b", "C:\\x", "a\\b", ".git/config", "x/.GIT/hooks/post", "new\nline.tex", "\u202etxt.exe"]
    found = list(members(tar(*((name, b"x") for name in names), ("good.tex", b"x"))))
    assert [member.status for member in found] == [Status.UNSAFE_PATH] * len(names) + [Status.OK]
    assert found[7].name == "new\\nline.tex"
    assert found[8].name == "\\u202etxt.exe"


def test_links_and_devices_are_skipped_with_their_reason() -> None:
    kinds = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
    found = list(members(tar(*(special(f"m{n}", kind, "/etc/passwd") for n, kind in enumerate(kinds)), ("a", b"x"))))
    assert outcome(found) == [("m0", "policy_skipped"), ("m1", "policy_skipped"), ("m2", "policy_skipped"), ("m3", "policy_skipped"), ("a", "ok")]
    assert found[0].detail == "a symbolic link to /etc/passwd, not followed"


def test_a_second_file_of_one_name_is_refused_and_a_case_twin_is_told() -> None:
    found = list(members(tar(("a.tex", b"1"), ("./a.tex", b"2"), ("A.tex", b"3"))))
    assert [(m.data, m.status) for m in found] == [(b"1", Status.OK), (None, Status.UNSAFE_PATH), (b"3", Status.OK)]
    assert found[2].detail == "its name differs from a.tex only in case or accents"


def test_a_file_over_the_limit_is_too_large_and_the_next_one_is_read() -> None:
    found = list(members(tar(("big", b"x" * 1_001), ("small", b"y")), SMALL))
    assert outcome(found) == [("big", "too_large"), ("small", "ok")]


def test_more_files_than_allowed_end_the_reading_with_a_row() -> None:
    found = list(members(tar(*((f"f{n}", b"") for n in range(50))), SMALL))
    assert outcome(found)[5:] == [("*", "too_many_files")]


def test_more_bytes_than_allowed_end_the_reading_with_a_row() -> None:
    assert outcome(list(members(tar(*((f"f{n}", b"x" * 900) for n in range(5))), SMALL)))[3:] == [("f3", "bomb")]


def test_an_archive_over_the_packed_limit_is_not_opened() -> None:
    assert outcome(list(members(b"x" * 100_001, SMALL))) == [("*", "too_large")]


def test_a_bomb_is_stopped_by_its_ratio_in_little_memory() -> None:
    data = tar(("zeros", bytes(30_000_000)), compresslevel=9)
    tracemalloc.start()
    found = list(members(data, ArchiveLimits(packed=10**8, members=10, member=10**6, total=10**9)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome(found) == [("zeros", "bomb")]
    assert peak < 4_000_000


@pytest.mark.parametrize("packed", [True, False])
def test_an_archive_cut_short_says_so(packed: bool) -> None:
    whole = tar(("a.tex", b"a" * 600), ("b.tex", bytes(range(256)) * 40), mode="w")
    data = gzip.compress(whole)[:-150] if packed else whole[:4_000]
    found = list(members(data))
    assert found[0] == Member("a.tex", b"a" * 600, size=600)
    assert found[1].name == "b.tex"
    assert found[1].status is Status.TRUNCATED


def test_a_damaged_stream_is_a_bad_archive() -> None:
    data = bytearray(gzip.compress(bytes(range(256)) * 900))
    data[200:230] = b"\xff" * 30
    assert [m.status for m in members(bytes(data))] == [Status.BAD_ARCHIVE]


def test_a_damaged_header_ends_the_reading_with_a_row() -> None:
    data = bytearray(tar(("a", b"x"), ("b", b"y"), mode="w"))
    data[1024 + 10] ^= 0xFF
    assert outcome(list(members(bytes(data)))) == [("a", "ok"), ("*", "bad_archive")]


def test_a_negative_size_is_a_bad_archive() -> None:
    info = tarfile.TarInfo("neg")
    info.size = -512
    block = info.tobuf(tarfile.GNU_FORMAT)
    assert outcome(list(members(tar(("a", b"x"), mode="w")[:1024] + block))) == [("a", "ok"), ("*", "bad_archive")]


def test_a_giant_extended_header_is_refused_unread() -> None:
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 10**9
    assert outcome(list(members(info.tobuf(tarfile.USTAR_FORMAT) + bytes(512)))) == [("*", "bad_archive")]


def test_long_names_come_through_in_every_dialect() -> None:
    name = "d/" * 15 + "n" * 150
    for dialect in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        assert outcome(list(members(tar((name, b"x"), format=dialect)))) == [(name, "ok")]


def test_a_repository_loses_its_root_folder_and_what_no_parser_reads_holds_no_bytes() -> None:
    data = tar(
        ("repo-abc/train.py", b"x = 1"),
        ("repo-abc/README.md", b"# hi"),
        ("repo-abc/model.pt", b"weights"),
        ("repo-abc/blob.py", b"\0\1\2\3" * 30),
        ("repo-abc/huge.py", b"# x\n" * 300_000),
        ("repo-abc/__init__.py", b""),
    )
    assert [(m.name, m.status.value, m.detail) for m in repo_members(data, by_name)] == [
        ("train.py", "ok", ""),
        ("README.md", "ok", ""),
        ("model.pt", "policy_skipped", "model weights"),
        ("blob.py", "policy_skipped", "binary content"),
        ("huge.py", "too_large", "a source file of 1,200,000 bytes"),
        ("__init__.py", "policy_skipped", "an empty file"),
    ]


def test_a_repository_cannot_climb_out_through_its_root() -> None:
    assert outcome(list(repo_members(tar(("../x.py", b"x"), ("..", b"x")), by_name))) == [("../x.py", "unsafe_path"), ("..", "unsafe_path")]


def test_an_archive_is_read_from_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(tar(("r/a.py", b"x")))
    assert outcome(list(repo_members(path, by_name))) == [("a.py", "ok")]
    assert outcome(list(members(path, EPRINT))) == [("r/a.py", "ok")]


def test_no_damage_to_an_archive_raises() -> None:
    whole = tar(("a.tex", b"x" * 700), special("l", tarfile.SYMTYPE, "a.tex"), ("n" * 150, b"y"), ("b.tex", b"z" * 900), mode="w")
    for at in range(0, len(whole), 37):
        damaged = bytearray(whole)
        damaged[at] ^= 0x55
        for data in (bytes(damaged), gzip.compress(bytes(damaged), 1), whole[:at], gzip.compress(whole, 1)[:at]):
            assert all((member.data is None) == (member.status is not Status.OK) for member in members(data))
