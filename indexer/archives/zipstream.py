"""The entries of a zip archive with bounded streams of their bytes; names are data and nothing is extracted."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator

from indexer.archives.inflate import BoundedStream
from indexer.archives.tarstream import TarHeader
from lineage.errors import ParseError
from lineage.records import Status

_ENTRY = b"PK\x01\x02"
"""What begins an entry of the directory at the end of a zip archive."""


def zip_entries(data: bytes, members: int, total: int, seconds: float) -> Iterator[tuple[BoundedStream, TarHeader]]:
    """Each entry in the form of a tar header, with the stream of its bytes. Raises `ParseError` for damage and for too many entries."""
    if data.count(_ENTRY) > 2 * members:  # before anything is made of them
        raise ParseError(Status.TOO_MANY_FILES, f"more than {members:,} files")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                kind = _kind(info)
                size = info.file_size if kind == "file" else 0  # of a link nothing is read, not even where it points to
                yield BoundedStream(_reader(archive, info), total, seconds), TarHeader(info.filename, kind, size)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ParseError(Status.BAD_ARCHIVE, f"the archive is damaged ({error})") from error


def _kind(info: zipfile.ZipInfo) -> str:
    if info.is_dir():
        return "folder"
    if info.flag_bits & 1:
        return "locked file"
    mode = info.external_attr >> 16
    return "symbolic link" if stat.S_ISLNK(mode) else "file" if not mode or stat.S_ISREG(mode) or not stat.S_IFMT(mode) else "device"


def _reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[int], bytes]:
    """A source of a file's bytes, opened when the first is asked for; it gives no more than the directory states."""
    opened: list[zipfile.ZipExtFile] = []

    def read(n: int) -> bytes:
        try:
            if not opened:
                opened.append(archive.open(info))  # type: ignore[arg-type]  # mode "r" gives a ZipExtFile
            return opened[0].read(n)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, NotImplementedError) as error:
            raise ParseError(Status.BAD_ARCHIVE, f"the compressed data is damaged ({error})") from error

    return read
