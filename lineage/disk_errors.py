"""What the disk says, in our own words, the same wherever a file is touched."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineage.errors import DiskFull, SettingsError, StoreError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}
_OWN = "set LINEAGE_HOME (or --home) to a folder of yours"


def there(text: str) -> Path | None:
    """The path that lies under what a person wrote (`~` is their home), or None, also for what no file can be called."""
    try:
        path = Path(text).expanduser()
        return path if text.strip() and path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def check_home(home: Path) -> None:
    """Raise `SettingsError` where no folder can be: at or below a file, or under a name that no file can have."""
    try:
        place = next((path for path in (home, *home.absolute().parents) if path.exists()), None)
        wrong = "" if place is None or place.is_dir() else f"{place} is not a folder"
    except (OSError, ValueError) as error:
        wrong = f"{home} cannot be a folder: {getattr(error, 'strerror', error)}"
    if wrong:
        raise SettingsError(wrong, hint=_OWN)


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
            raise SettingsError(f"{place} cannot be written: {error.strerror}", hint=_OWN) from error
        raise StoreError(f"the disk failed at {place}: {error}") from error
