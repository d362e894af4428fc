"""Files are there whole or not at all."""

from __future__ import annotations

import errno
import os

import pytest

from indexer.store.atomic_files import sha256_of, write_whole
from lineage.errors import DiskFull, SettingsError, StoreError, failures


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "CURRENT"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert [one.name for one in tmp_path.iterdir()] == ["CURRENT"]


def test_a_write_that_fails_leaves_the_old_content_and_no_remains(tmp_path, monkeypatch):
    path = tmp_path / "CURRENT"
    write_whole(path, b"one")

    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        write_whole(path, b"two")
    assert path.read_bytes() == b"one"
    assert [one.name for one in tmp_path.iterdir()] == ["CURRENT"]


@pytest.mark.parametrize(
    ("number", "ours"),
    [(errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EACCES, SettingsError), (errno.EROFS, SettingsError), (errno.EIO, StoreError)],
)
def test_disk_errors_leave_in_our_own_words(tmp_path, number, ours):
    with pytest.raises(ours), failures(tmp_path):
        raise OSError(number, os.strerror(number), str(tmp_path))


def test_size_and_hash_of_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256_of(tmp_path / "a") == (3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
