"""Files that are there whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

_BLOCK = 1 << 20


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
