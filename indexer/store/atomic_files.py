"""Write files atomically: whole or not at all."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BufferedRandom
from pathlib import Path

from lineage.errors import failures


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder durable (POSIX: a rename is, once its folder is synced)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, data: bytes) -> None:
    """Write beside, sync, rename over, sync the folder: readers see the old content or the new, never a part."""
    with written(path) as handle:
        handle.write(data)


@contextmanager
def written(path: Path) -> Iterator[BufferedRandom]:
    """A file to fill that gets its name when the block ends well, and is gone otherwise; it can be read back meanwhile."""
    _clear(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with aside.open("x+b") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    fsync_folder(path.parent)


def _clear(path: Path) -> None:
    """Remove what a writer of this very file left who was killed on this machine."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.*"):
        if match := re.fullmatch(r"\.(\d+)\.[0-9a-f]{8}", left.name.removeprefix(f".{path.name}")):
            try:
                os.kill(int(match[1]), 0)
            except ProcessLookupError:
                left.unlink(missing_ok=True)
            except (OSError, OverflowError):
                continue


def remains(folder: Path, seconds: float) -> Iterator[Path]:
    """Files in a folder and the folders in it that a writer who died left under a temporary name, untouched for so long."""
    for path in (*folder.glob(".*"), *folder.glob("*/.*")):
        try:
            if _ASIDE.match(path.name) and path.is_file() and time.time() - path.stat().st_mtime >= seconds:
                yield path
        except FileNotFoundError:
            continue  # its writer lives, and has just given it its name


# What `write_whole` and `Blobs.put` call a file that is not whole yet.
_ASIDE = re.compile(r"\.part-\w+\Z|\..+\.\d+\.[0-9a-f]{8}\Z")


@contextmanager
def private(home: Path) -> Iterator[None]:
    """A store that only its owner reads: the folder has mode 0700, and what is made meanwhile 0600 (POSIX)."""
    with failures(home):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(home, os.W_OK) and home.stat().st_uid == getattr(os, "getuid", lambda: -1)():
            home.chmod(0o700)
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def sha256_of(path: Path) -> tuple[int, str]:
    """(size, SHA-256) of a file as it lies on the disk, after making it durable."""
    with path.open("rb") as handle:
        os.fsync(handle.fileno())
        return os.fstat(handle.fileno()).st_size, hashlib.file_digest(handle, "sha256").hexdigest()


def sha256(path: Path) -> str:
    """SHA-256 (hex) of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def note_process(path: Path) -> None:
    """Write down that this process holds what lies beside."""
    owner = {"host": socket.gethostname(), "pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}
    write_whole(path, json.dumps(owner).encode())


def noted_process(path: Path) -> str:
    """The process that wrote itself down, in words, "" if there is none."""
    try:
        owner = json.loads(path.read_bytes())
        return f"process {int(owner['pid'])} on {str(owner['host'])[:80]} since {str(owner['since'])[:40]}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
