"""Large files that had their hash when they were last read, so that a command need not hash them again.

A file with the inode, size and time of change that it had then counts as the same; a store that cannot be written to hashes again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lineage.sealed import keep, unsealed


def is_known(memory: Path | None, path: Path, about: os.stat_result) -> bool:
    """Whether the file at `path`, of which the system says `about`, had its hash when `memory` was written; no without one."""
    if memory is None:
        return False
    try:
        return bool(unsealed(memory.read_bytes())[str(path)] == _seen(about))
    except (OSError, ValueError, KeyError):
        return False


def remember(memory: Path | None, path: Path, about: os.stat_result) -> None:
    """Write into `memory`, which is of this file alone, that it had its hash."""
    if memory is None:
        return
    with suppress(OSError):
        memory.parent.mkdir(mode=0o700, exist_ok=True)
        keep(memory, {str(path): _seen(about)})


def _seen(about: os.stat_result) -> list[int]:
    return [about.st_ino, about.st_size, about.st_mtime_ns]
