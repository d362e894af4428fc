"""Raw bytes as they came, content-addressed and kept for ever.

Everything a build derives can be made again from these files, so they are written before anything else and
never changed: to a temporary name first, flushed to the disk, then renamed. A reader checks the hash.
Nothing is ever removed, because all lineages of a home share the files; what may turn out not to be kept is looked at
`aside`, under a temporary name that nobody else can see.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from indexer.store import atomic_files
from indexer.store.atomic_files import fsync_folder
from lineage.errors import StoreDamaged, failures
from lineage.records import Blob

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
PART = ".part-"
"""How the name of a file begins that is still being written (or was, when its process was killed)."""


class Blobs:
    """The blob store of one home: `home/blobs/aa/<sha256>`. Safe to use from several threads and processes."""

    def __init__(self, home: Path) -> None:
        self.root = home / "blobs"
        self._mine = _Mine()

    def path(self, sha256: str) -> Path:
        """Where the bytes of a hash lie, whether they are there or not; raises ValueError for what is no hash."""
        if not _SHA256.match(sha256):
            raise ValueError(f"{sha256!r} is not a SHA-256")
        aside = self._mine.aside
        return (aside.held.get(sha256) if aside else None) or self.root / sha256[:2] / sha256

    def has(self, sha256: str) -> bool:
        """Whether the store holds the hash."""
        return self.path(sha256).is_file()

    def get(self, sha256: str) -> bytes:
        """The bytes of a hash, verified; raises `StoreDamaged` naming the file, which is set aside then."""
        path = self.path(sha256)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise StoreDamaged(f"{path} cannot be read: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise _set_aside(path)
        return content

    def whole(self, sha256: str) -> Path:
        """The file of a hash, verified, for what is too large to be read at once; errors as of `get`."""
        path = self.path(sha256)
        try:
            is_whole = atomic_files.sha256(path) == sha256
        except OSError as error:
            raise StoreDamaged(f"{path} cannot be read: {error.strerror}") from error
        if not is_whole:
            raise _set_aside(path)
        return path

    def put(self, data: bytes | Iterable[bytes], media_type: str = "", url: str = "") -> Blob:
        """Keep bytes, or chunks as they arrive, and say where; bytes that are there already are not written again.

        Raises `DiskFull` or `SettingsError`, and whatever the chunks raise; nothing half-written stays.
        """
        chunks = [data] if isinstance(data, bytes) else data
        digest, size = hashlib.sha256(), 0
        with _part(self.root) as (part, out):
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                out.write(chunk)
            sha256 = digest.hexdigest()
            path = self.path(sha256)
            if not path.is_file() or path.stat().st_size != size:
                _settle(part, out, self._aside_of(sha256, url, part) or path)
        return Blob(sha256, media_type, size, url, now())

    @contextlib.contextmanager
    def aside(self, source: str) -> Iterator[Aside]:
        """Whatever this thread puts meanwhile from addresses that begin with `source` is kept at the end, unless it was refused.

        Until then only this thread sees it; bytes that the store had before are the store's. If the block fails, nothing is
        kept. A block within a block is part of it.
        """
        if self._mine.aside:
            yield self._mine.aside
            return
        aside = self._mine.aside = Aside(source)
        try:
            yield aside
            self._mine.aside = None
            with failures(self.root):
                for sha256 in aside.held.keys() - aside.refused:
                    _rename(aside.held[sha256], self.path(sha256))
        finally:
            self._mine.aside = None
            for path in aside.held.values():
                path.unlink(missing_ok=True)

    def refuse(self, sha256: str) -> None:
        """Do not keep bytes that this thread looks at aside; those that the store had before stay."""
        if self._mine.aside:
            self._mine.aside.refused.add(sha256)

    def _aside_of(self, sha256: str, url: str, part: Path) -> Path | None:
        """The name for what this thread looks at aside, which `Writing.tidy` removes if the process dies; None for all else."""
        aside = self._mine.aside
        if aside is None or not url.startswith(aside.source):
            return None
        return aside.held.setdefault(sha256, part.with_name(f"{part.name}_aside"))


@dataclass
class Aside:
    """Bytes that are looked at before it is known whether they may be kept, by their hashes; `refused` are those that may not."""

    source: str
    held: dict[str, Path] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)


class _Mine(threading.local):
    """What one thread looks at aside."""

    aside: Aside | None = None


def _set_aside(path: Path) -> StoreDamaged:
    """Give a damaged file another name, so that it is fetched anew and can still be looked at; the error to raise."""
    with contextlib.suppress(OSError):  # another thread was first, or the store cannot be written
        path.replace(path.with_suffix(".damaged"))
    return StoreDamaged(f"{path} is not what its name says; it was set aside as {path.name[:8]}….damaged", hint=REFETCH)


REFETCH = "run the same command again: what is damaged is fetched anew"


def now() -> str:
    """This moment in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextlib.contextmanager
def _part(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in `folder` under a temporary name that is gone afterwards, if it was not renamed."""
    with failures(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=PART, dir=folder)
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as out:
                yield part, out
        finally:
            part.unlink(missing_ok=True)


def _settle(part: Path, out: BinaryIO, path: Path) -> None:
    """Give a finished file its name, in the order that survives a power cut."""
    out.flush()
    os.fsync(out.fileno())
    _rename(part, path)


def _rename(part: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part.replace(path)
    fsync_folder(path.parent)
