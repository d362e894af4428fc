from __future__ import annotations

import hashlib
import resource
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.store.blobs import Blobs
from lineage.errors import DiskFull, SettingsError, StoreDamaged

HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_bytes_are_kept_under_their_hash_and_read_back(tmp_path):
    blob = Blobs(tmp_path).put(b"hello", "text/plain", "https://arxiv.org/pdf/2504.17192")
    assert (blob.sha256, blob.size, blob.media_type, blob.url) == (HELLO, 5, "text/plain", "https://arxiv.org/pdf/2504.17192")
    assert files(tmp_path) == [f"blobs/2c/{HELLO}"]
    assert Blobs(tmp_path).get(HELLO) == b"hello"


def test_chunks_are_kept_like_the_bytes_they_make(tmp_path):
    assert Blobs(tmp_path).put(iter([b"he", b"", b"llo"])).sha256 == HELLO


def test_bytes_that_are_there_are_not_written_again(tmp_path):
    blobs = Blobs(tmp_path)
    blobs.put(b"hello")
    before = blobs.path(HELLO).stat()
    blobs.put(b"hello")
    assert blobs.path(HELLO).stat().st_ino == before.st_ino


def test_a_file_that_was_cut_short_is_replaced_when_its_bytes_come_again(tmp_path):
    blobs = Blobs(tmp_path)
    blobs.put(b"hello")
    blobs.path(HELLO).write_bytes(b"hel")
    blobs.put(b"hello")
    assert blobs.get(HELLO) == b"hello"


def test_a_transfer_that_breaks_off_leaves_nothing(tmp_path):
    def chunks():
        yield b"half"
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        Blobs(tmp_path).put(chunks())
    assert files(tmp_path) == []


def test_a_damaged_file_is_named(tmp_path):
    blobs = Blobs(tmp_path)
    blobs.put(b"hello")
    blobs.path(HELLO).write_bytes(b"jello")
    with pytest.raises(StoreDamaged, match=HELLO):
        blobs.get(HELLO)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(StoreDamaged, match=HELLO):
        Blobs(tmp_path).get(HELLO)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", HELLO.upper(), HELLO[:-1], HELLO + "\n"])
def test_what_is_no_hash_names_no_file(tmp_path, name):
    with pytest.raises(ValueError, match="not a SHA-256"):
        Blobs(tmp_path).path(name)


def test_a_home_that_cannot_be_written_is_a_setting_to_change(tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")
    with pytest.raises(SettingsError, match="home"):
        Blobs(tmp_path / "home").put(b"hello")


def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(DiskFull):
            Blobs(tmp_path).put(iter([b"x" * 4096] * 4))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(tmp_path) == []


def test_many_threads_may_put_the_same_bytes(tmp_path):
    blobs = Blobs(tmp_path)
    threads = [threading.Thread(target=blobs.put, args=(bytes([n % 3]) * 100_000,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name.rsplit("/", 1)[1] for name in files(tmp_path)} == {hashlib.sha256(bytes([n]) * 100_000).hexdigest() for n in range(3)}


TARBALL = "https://codeload.github.com/a/b"


def test_what_is_looked_at_aside_is_kept_at_the_end_and_seen_by_nobody_before(tmp_path):
    blobs = Blobs(tmp_path)
    with blobs.aside("https://codeload.github.com/"), ThreadPoolExecutor(1) as others:
        blobs.put(b"hello", url=TARBALL)
        assert blobs.get(HELLO) == b"hello"
        assert not others.submit(blobs.has, HELLO).result()
        assert not Blobs(tmp_path).has(HELLO)
    assert Blobs(tmp_path).get(HELLO) == b"hello"
    assert [path.name for path in (tmp_path / "blobs").iterdir()] == [HELLO[:2]]


def test_what_is_refused_leaves_nothing_and_what_came_from_elsewhere_stays(tmp_path):
    blobs = Blobs(tmp_path)
    with blobs.aside("https://codeload.github.com/"):
        with blobs.aside("https://codeload.github.com/"):
            blobs.put(b"hello", url=TARBALL)
            blobs.refuse(HELLO)
        other = blobs.put(b"{}", url="https://api.github.com/repos/a/b")
        kept = blobs.put(b"kept", url=TARBALL)
    assert not blobs.has(HELLO)
    assert (blobs.get(other.sha256), blobs.get(kept.sha256)) == (b"{}", b"kept")
    assert {path.name for path in (tmp_path / "blobs").iterdir()} == {other.sha256[:2], kept.sha256[:2]}


def test_what_the_store_had_before_or_another_put_meanwhile_is_not_taken_out(tmp_path):
    blobs = Blobs(tmp_path)
    before = blobs.put(b"before", url=TARBALL)
    with blobs.aside("https://codeload.github.com/"), ThreadPoolExecutor(1) as others:
        for data in (b"before", b"hello"):
            blobs.refuse(blobs.put(data, url=TARBALL).sha256)
        others.submit(Blobs(tmp_path).put, b"hello", url=TARBALL).result()
    assert (blobs.get(before.sha256), blobs.get(HELLO)) == (b"before", b"hello")


def test_a_look_aside_that_fails_keeps_nothing(tmp_path):
    blobs = Blobs(tmp_path)
    with pytest.raises(StoreDamaged), blobs.aside("https://codeload.github.com/"):
        blobs.get(blobs.put(b"hello", url=TARBALL).sha256[::-1])
    assert not blobs.has(HELLO)
    blobs.put(b"hello", url=TARBALL)
    assert Blobs(tmp_path).has(HELLO)
