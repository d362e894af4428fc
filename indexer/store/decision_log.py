"""The log of decisions beside a lineage: appended to under a lock, made durable, never rewritten, untouched by builds."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from lineage import generation as layout
from lineage.decisions import Decision, DecisionLog, line, parsed
from lineage.errors import StoreBusy, StoreDamaged, failures

_LOCK = ".deciding"
_WAIT = 20.0
MOST_BYTES = 16 * 1024 * 1024


def read(home: Path, slug: str) -> DecisionLog:
    """The log of a lineage, empty where nothing was decided; raises `StoreDamaged` for a file that cannot be read at all."""
    return parsed(_content(layout.lineage_folder(home, slug) / layout.DECISIONS))


def append(home: Path, slug: str, make: Callable[[DecisionLog], Sequence[Decision]]) -> tuple[Decision, ...]:
    """Append the entries that `make` gives for the log as it is; gives them with their numbers, durable.

    What a writer that died left of a line stays, and is told as damage. Raises `StoreBusy`, `StoreDamaged` and `DiskFull`.
    """
    path = layout.lineage_folder(home, slug) / layout.DECISIONS
    with failures(path):
        lock = FileLock(path.parent / _LOCK, timeout=_WAIT)
        try:
            with lock:
                content = _content(path)
                log = parsed(content)
                entries = tuple(replace(entry, number=log.next + n) for n, entry in enumerate(make(log)))
                _extend(path, content, b"".join(map(line, entries)))
        except Timeout as error:
            raise StoreBusy(f"another process is deciding on {slug!r}", hint="ask again in a moment") from error
    return entries


def _extend(path: Path, content: bytes, data: bytes) -> None:
    """Append and sync; a part of it that could not be written whole is taken back."""
    if not data:
        return
    torn = b"\n" if content and not content.endswith(b"\n") else b""
    with path.open("ab") as handle:
        try:
            handle.write(torn + data)
            handle.flush()
            os.fsync(handle.fileno())
        except OSError:
            os.ftruncate(handle.fileno(), len(content))
            raise


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as handle:
            content = handle.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StoreDamaged(f"{path} cannot be read: {error.strerror}", hint="nothing of it was changed") from error
    if len(content) > MOST_BYTES:
        raise StoreDamaged(f"{path} has more than {MOST_BYTES:,} bytes", hint="nothing of it was changed; no log of decisions is that long")
    return content
