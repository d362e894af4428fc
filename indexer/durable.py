"""Files that are there whole or not at all, and disk errors in our own words."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineage.errors import DiskFull, SettingsError, StoreError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}
_BLOCK = 1 << 20


@contextmanager
def failures(path: Path) -> Iterator[None]:
    """`OSError` inside the block leaves as `DiskFull`, `SettingsError` (a folder that cannot be used) or `StoreError`."""
    try:
        yield
    except OSError as error:
        place = error.filename or path
        if error.errno in _FULL:
            raise DiskFull(f"no room left to write {place}", hint="free some space and run the same command again") from error
        if error.errno in _CLOSED:
            raise SettingsError(f"{place} cannot be written: {error.strerror}", hint="set LINEAGE_HOME (or --home) to a folder of yours") from error
        raise StoreError(f"the disk failed at {place}: {error}") from error


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder durable (POSIX: a rename is, once its folder is synced)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, data: bytes) -> None:
    """Write beside, sync, rename over, sync the folder: readers see the old content or the new, never a part."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with aside.open("xb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def sha256_of(path: Path) -> tuple[int, str]:
    """(size, SHA-256) of a file as it lies on the disk, after making it durable."""
    total, size = hashlib.sha256(), 0
    with path.open("rb") as handle:
        os.fsync(handle.fileno())
        while block := handle.read(_BLOCK):
            total.update(block)
            size += len(block)
    return size, total.hexdigest()
