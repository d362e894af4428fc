"""What is inside an e-print or a repository tarball, as a stream of members; nothing is ever extracted.

A member's name is data: it is checked, kept and shown, and never opened. Each file of the archive gives exactly one
`Member`, read or refused with its reason, so that members in equal ledger rows out (RELIABILITY N1). Folders hold no
bytes and give none. Where reading had to stop (damage, truncation, a limit), one last member called `*` stands for
everything that was not reached.
"""

from __future__ import annotations

import io
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from indexer.archives.sniff import HEAD, is_binary
from indexer.archives.sniff import sniff as sniff
from indexer.archives.tarstream import BLOCK, BoundedStream, Gunzip, TarHeader, entries, padded
from lineage.errors import ParseError
from lineage.records import Status
from lineage.text.hidden_text import is_name

MIB = 1024 * 1024
REST = "*"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SINGLE = {"tex": "main.tex", "text": "main.txt", "pdf": "main.pdf", "postscript": "main.ps", "html": "main.html", "binary": "main.bin"}
_REFUSED = {"zip": "main.zip", "xz": "main.xz", "bzip2": "main.bz2", "compress": "main.Z", "7z": "main.7z", "rar": "main.rar", "zstd": "main.zst"}
Verdict = tuple[Status, str] | None
"""Why a file is not wanted, or None."""
Selection = Callable[[str, int], Verdict]
"""The verdict on a file from its path and size; for repositories that of `indexer.parsers.select.by_name`."""
_ENTRY = b"PK\x01\x02"
"""What begins an entry of the directory at the end of a zip archive."""


@dataclass(frozen=True)
class ArchiveLimits:
    """Caps of one archive: bytes as it came, files, bytes of one file, bytes of all, unpacked over packed, seconds."""

    packed: int
    members: int
    member: int
    total: int
    ratio: int = 200
    seconds: float = 120.0


EPRINT = ArchiveLimits(packed=50 * MIB, members=2_000, member=20 * MIB, total=200 * MIB)
UPLOAD = ArchiveLimits(packed=16 * MIB, members=5_000, member=5 * MIB, total=200 * MIB, seconds=60.0)
TARBALL = ArchiveLimits(packed=200 * MIB, members=20_000, member=20 * MIB, total=2048 * MIB)


@dataclass(frozen=True)
class Member:
    """One file of an archive: its name with control characters escaped, and its bytes where `status` is ok.

    `detail` says in words why there are none (or what is odd); `size` is what the archive claims, in bytes.
    """

    name: str
    data: bytes | None
    status: Status = Status.OK
    detail: str = ""
    size: int = 0


def members(source: bytes | Path, limits: ArchiveLimits = EPRINT) -> Iterator[Member]:
    """Every file of an e-print: tar, gzipped tar, one gzipped or plain file (called `main.tex`, `main.pdf` ...).

    The kind is sniffed from the bytes, gzip around gzip included; other compressions are refused with `wrong_type`.
    Raises nothing but `OSError` for a path that cannot be read.
    """
    return _read(source, limits, _wanted_always)


def repo_members(source: bytes | Path, unwanted: Selection, limits: ArchiveLimits = TARBALL) -> Iterator[Member]:
    """Every file of a repository tarball, its root folder stripped; what no parser reads is passed over unread.

    Data is only held for text that `unwanted` and its first 64 KiB admit: media, weights, data sets and files
    over 1 MB cost no memory.
    """
    return _read(source, limits, unwanted, strip=True)


def upload_members(source: bytes, unwanted: Selection, limits: ArchiveLimits = UPLOAD) -> Iterator[Member]:
    """Every file of an uploaded archive (tar, gzipped tar or zip) under its name there; only text is kept."""
    if sniff(source[:HEAD]) != "zip":
        yield from _read(source, limits, unwanted)
    elif len(source) > limits.packed:
        yield Member(REST, None, Status.TOO_LARGE, f"the archive has {len(source):,} bytes, more than {limits.packed:,}", len(source))
    else:
        try:
            yield from _Walk(limits, unwanted, strip=False).each(zip_entries(source, limits.members, limits.total, limits.seconds))
        except ParseError as error:
            yield Member(REST, None, error.status, f"{error}; what follows was not read")


def _wanted_always(_name: str, _size: int) -> Verdict:
    return None


def _read(source: bytes | Path, limits: ArchiveLimits, unwanted: Selection, *, strip: bool = False) -> Iterator[Member]:
    with ExitStack() as open_files:
        handle: io.BufferedIOBase = open_files.enter_context(source.open("rb") if isinstance(source, Path) else io.BytesIO(source))
        size = source.stat().st_size if isinstance(source, Path) else len(source)
        if size > limits.packed:
            yield Member(REST, None, Status.TOO_LARGE, f"the archive has {size:,} bytes, more than {limits.packed:,}", size)
            return
        try:
            yield from _unpack(BoundedStream(handle.read, limits.packed, limits.seconds), limits, unwanted, strip=strip)
        except ParseError as error:
            yield Member(REST, None, error.status, f"{error}; what follows was not read")


def _unpack(stream: BoundedStream, limits: ArchiveLimits, unwanted: Selection, *, strip: bool) -> Iterator[Member]:
    kind = sniff(stream.peek(HEAD))
    for _ in range(2):
        if kind == "gzip":
            stream = BoundedStream(Gunzip(stream.read, limits.ratio), limits.total + BLOCK * (2 * limits.members + 100), limits.seconds)
            kind = sniff(stream.peek(HEAD))
    if kind == "tar":
        yield from _Walk(limits, unwanted, strip).members(stream)
    elif kind == "gzip":
        yield Member(REST, None, Status.BOMB, "gzip within gzip within gzip")
    elif kind == "empty":
        yield Member(REST, None, Status.EMPTY, "there are no bytes")
    elif kind in _REFUSED:
        yield Member(_REFUSED[kind], None, Status.WRONG_TYPE, f"a {kind} file, which neither arXiv nor GitHub hands out")
    else:
        yield _single(stream, kind, limits)


def _single(stream: BoundedStream, kind: str, limits: ArchiveLimits) -> Member:
    data = stream.read(limits.member + 1)
    if len(data) > limits.member:
        return Member(_SINGLE[kind], None, Status.TOO_LARGE, f"more than {limits.member:,} bytes", len(data))
    return Member(_SINGLE[kind], data, size=len(data))


@dataclass
class _Walk:
    """The state of one walk over a tar: names seen so far, and bytes read."""

    limits: ArchiveLimits
    unwanted: Selection
    strip: bool
    names: set[str] = field(default_factory=set)
    folded: dict[str, str] = field(default_factory=dict)
    count: int = 0
    total: int = 0

    def members(self, stream: BoundedStream) -> Iterator[Member]:
        """One member per entry that is not a folder, until the end or a limit."""
        return self.each((stream, entry) for entry in entries(stream))

    def each(self, entries: Iterable[tuple[BoundedStream, TarHeader]]) -> Iterator[Member]:
        """The same of entries with the streams that their bytes come from; damage ends it with a member that stands for the rest."""
        for stream, entry in entries:
            if entry.kind == "folder":
                continue
            self.count += 1
            if self.count > self.limits.members:
                yield Member(REST, None, Status.TOO_MANY_FILES, f"more than {self.limits.members:,} files; the rest was not read")
                return
            self.total += entry.size
            if self.total > self.limits.total:
                detail = f"more than {self.limits.total:,} bytes in all; this file and what follows were not read"
                yield Member(_shown(entry.name), None, Status.BOMB, detail, entry.size)
                return
            try:
                yield self._member(stream, entry)
            except ParseError as error:
                yield Member(_shown(self._name(entry.name)), None, error.status, f"{error}; what follows was not read", entry.size)
                return

    def _member(self, stream: BoundedStream, entry: TarHeader) -> Member:
        name = self._name(entry.name)
        verdict, data = self._content(stream, entry, name)
        status, detail = verdict or (Status.OK, self._twin(name))
        return Member(_shown(name), data if status is Status.OK else None, status, detail, entry.size)

    def _content(self, stream: BoundedStream, entry: TarHeader, name: str) -> tuple[Verdict, bytes | None]:
        verdict = self._refusal(entry, name) or self.unwanted(name, entry.size)
        if verdict is None and entry.size and self.strip and is_binary(stream.peek(min(HEAD, entry.size))):
            verdict = Status.POLICY_SKIPPED, "binary content"
        data = None if verdict else stream.read(entry.size)
        there = stream.skip(entry.size) if data is None else len(data)
        if there < entry.size:
            raise ParseError(Status.TRUNCATED, f"the archive ends after {there:,} of its {entry.size:,} bytes")
        stream.skip(padded(entry.size) - entry.size)
        return verdict, data

    def _refusal(self, entry: TarHeader, name: str) -> Verdict:
        if entry.kind != "file":
            where = f" to {_shown(entry.target)}" if entry.target else ""
            return Status.POLICY_SKIPPED, f"a {entry.kind}{where}, not followed"
        if why := _unsafe(name):
            return Status.UNSAFE_PATH, why
        if name in self.names:
            return Status.UNSAFE_PATH, "a second file of the same name; the first one counts"
        self.names.add(name)
        if entry.size > self.limits.member:
            return Status.TOO_LARGE, f"{entry.size:,} bytes, more than {self.limits.member:,}"
        return None

    def _name(self, name: str) -> str:
        parts = [part for part in name.split("/") if part not in {"", "."}]
        if self.strip and len(parts) > 1 and parts[0] != ".." and not name.startswith("/"):
            parts = parts[1:]
        return ("/" if name.startswith("/") else "") + "/".join(parts)

    def _twin(self, name: str) -> str:
        first = self.folded.setdefault(unicodedata.normalize("NFKC", name).casefold(), name)
        return "" if first == name else f"its name differs from {_shown(first)} only in case or accents"


def _unsafe(name: str) -> str:
    """Why a name would be dangerous on some file system or terminal, or the empty string."""
    parts = name.split("/")
    if not name or name.startswith(("/", "~")) or "\\" in name or re.match(r"[A-Za-z]:", name):
        return "the name is absolute or of another system"
    if ".." in parts:
        return "the name climbs out of the archive"
    if ".git" in (part.lower() for part in parts):
        return "the name is inside a .git folder"
    if len(name) > 512 or len(parts) > 20:
        return "the name is too long or too deep"
    return "the name has control characters or is no Unicode" if _CONTROL.search(name) or not is_name(name) else ""


def _shown(name: str) -> str:
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), name[:600])


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
