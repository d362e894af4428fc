"""Errors of the disk in our own words, the same wherever a file of the store is touched."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineage.errors import DiskFull, SettingsError, StoreError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}


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
