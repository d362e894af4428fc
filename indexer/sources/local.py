"""Files and folders of the user's own, read into the shapes that downloads have.

`paper(path)` takes a PDF, a TeX file, an e-print archive or a folder of TeX; `code(path)` a folder of code. Symbolic
links are never followed, nothing outside the path is read, and every file that is not read is a member with its reason.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from indexer.archives.members import EPRINT, TARBALL, ArchiveLimits, Member
from indexer.archives.sniff import is_binary, sniff
from indexer.parsers import select
from indexer.parsers.code.languages import language_of
from lineage.errors import NotFound, UsageError, there
from lineage.ids import local_id, repo_id
from lineage.records import Status, Work

SOURCE = "local"
MAX_BYTES = 200 * 1024 * 1024
"""Text of one folder that is read, in bytes."""
_MEDIA = {"pdf": "application/pdf", "gzip": "application/gzip", "tar": "application/x-tar", "tex": "text/x-tex"}
_NOT_READ = {".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache", ".ipynb_checkpoints"}
_LOOKED_INTO = 2_000
"""Folders that are looked into to tell code from a paper."""
_TEX = (".tex", ".bbl", ".bib", ".sty", ".cls", ".ltx", ".def", ".clo")
_NAMED = re.compile(r'\s*["\u201c\u201e\u00ab]|\s*(?:arxiv|doi|s2|acl|repo|corpusid|title):', re.IGNORECASE)
# A name that begins as paths do, or one word that ends as papers do and is no DOI.
_WRITTEN = re.compile(r"\.{0,2}/|~|(?!10\.\d|doi:)\S{1,250}\.(?:pdf|tex|gz|tgz|tar)\Z", re.IGNORECASE)
_MOST = 1_000_000
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REF = re.compile(r"refs/(?:[A-Za-z0-9_+@=-][\w.+@=-]{0,100}/){0,8}[A-Za-z0-9_+@=-][\w.+@=-]{0,100}\Z", re.ASCII)
_SECTION = re.compile(r"\s*\[\s*remote\s+\"([^\"\\]{1,100})\"\s*\]\s*\Z", re.IGNORECASE)
_URL = re.compile(r"\s*url\s*=\s*(\S{1,500})\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class LocalPaper:
    """A paper's bytes, as an upstream would have sent them: PDF, TeX, or an archive of TeX; `media_type` says which."""

    work: Work
    data: bytes
    media_type: str


@dataclass(frozen=True)
class LocalCode:
    """A folder's files, like the members of a tarball; `digest` is the SHA-256 of all that was read."""

    work: Work
    members: tuple[Member, ...]
    digest: str


def is_code(path: Path) -> bool:
    """Whether a path is a folder of code rather than a paper: no TeX document in it, or more source files than TeX files.

    Repositories keep their paper beside the code; e-prints hold a script for a figure at most.
    """
    return path.is_dir() and (not _has_document(path) or _mostly_code(path))


def _mostly_code(path: Path) -> bool:
    counts: Counter[bool] = Counter()
    for _, _, names in islice(os.walk(path), _LOOKED_INTO):
        counts.update(name.lower().endswith(_TEX) for name in names if name.lower().endswith(_TEX) or language_of(name))
    return counts[False] > counts[True]


def paper(path: Path) -> LocalPaper:
    """The paper at a path; raises `NotFound` where there is nothing, `UsageError` for what is no paper."""
    if path.is_dir():
        if not _has_document(path):
            raise UsageError(f"{path} holds no TeX document", hint="a folder of code is added to a lineage: lineage add LINEAGE PATH")
        members = _files(path, EPRINT)
        data, kind = pack(member for member in members if member.name.lower().endswith(_TEX) or member.data is None), "tar"
    else:
        data = _content(path)
        kind = sniff(data)
        if kind == "text" and path.suffix.lower() in _TEX:
            kind = "tex"
    if kind not in _MEDIA:
        what = "is empty" if kind == "empty" else f"cannot be read as a paper ({kind})"
        raise UsageError(f"{path} {what}", hint="a .pdf, a .tex file, an e-print (.tar.gz, .gz) or a folder of TeX is needed")
    title = path.resolve().name.removesuffix(".gz").removesuffix(".tar").rsplit(".", 1)[0]
    return LocalPaper(Work(local_id(data), "paper", title, said_by=(SOURCE,), meta={"file": path.resolve().name}), data, _MEDIA[kind])


def code(path: Path) -> LocalCode:
    """The folder of code at a path; raises `NotFound` or `UsageError`."""
    if not path.exists():
        raise NotFound(f"there is no {path}", hint="check the path")
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder", hint="give the folder that holds the code")
    members = tuple(_files(path, TARBALL))
    if not any(member.data for member in members):
        raise UsageError(f"{path} holds no file that can be read")
    digest = hashlib.sha256()
    for member in members:
        content = hashlib.sha256(member.data or b"").hexdigest()
        digest.update(f"{member.name}\0{member.status}\0{content}\n".encode("utf-8", "surrogateescape"))
    name = path.resolve().name
    work = Work(local_id(digest.digest()), "code", name, said_by=(SOURCE,), meta={"file": name, **origin(path)})
    return LocalCode(work, members, digest.hexdigest())


def pack(members: Iterable[Member]) -> bytes:
    """Members as a tar archive, the same bytes for the same members; what was not read is named in it as a link to nowhere."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member in members:
            info = tarfile.TarInfo(member.name)
            if member.data is None:
                info.type, info.linkname = tarfile.SYMTYPE, member.detail[:100]
            else:
                info.size = len(member.data)
            tar.addfile(info, io.BytesIO(member.data or b""))
    return out.getvalue()


def _content(path: Path) -> bytes:
    cap = max(EPRINT.packed, 60 * 1024 * 1024)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is not a regular file")
        with path.open("rb") as file:
            data = file.read(cap + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}", hint="check the path") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > cap:
        raise UsageError(f"{path} is larger than {cap:,} bytes")
    return data


def _has_document(path: Path) -> bool:
    """Whether a TeX document with a \\documentclass lies in a folder, or one level below."""
    candidates = sorted(entry for pattern in ("*.tex", "*/*.tex") for entry in path.glob(pattern))[:200]
    return any(b"\\documentclass" in _head(entry) or b"\\documentstyle" in _head(entry) for entry in candidates)


def _head(path: Path) -> bytes:
    try:
        if path.is_symlink() or not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(65536)
    except OSError:
        return b""


def _files(root: Path, limits: ArchiveLimits) -> Iterator[Member]:
    """Every file under a folder, in the order of names; refused ones without bytes."""
    total = 0
    names: set[str] = set()
    for count, (name, entry) in enumerate(_walk(root)):
        if count >= limits.members:
            yield Member("*", None, Status.TOO_MANY_FILES, f"more than {limits.members:,} files; the rest was not read")
            return
        member = _member(name, entry, limits, MAX_BYTES - total)
        if member.name in names:  # the byte ff and the four characters \\xff are shown alike
            member = Member(f"{member.name} (file {count + 1})", None, Status.UNSAFE_PATH, "its name is shown as another file's; that one counts")
        names.add(member.name)
        total += len(member.data or b"")
        yield member


def _walk(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """(name, entry) of all that is not a folder to be entered, without recursion and without following links."""
    folders = [("", str(root))]
    while folders:
        prefix, folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            raise UsageError(f"{folder} cannot be read: {error.strerror}") from error
        below = []
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_READ and name.count("/") < 20:
                below.append((name + "/", entry.path))
            else:
                yield name, entry
        folders += reversed(below)


def _member(name: str, entry: os.DirEntry[str], limits: ArchiveLimits, left: int) -> Member:
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if entry.is_symlink():
        return Member(name, None, Status.POLICY_SKIPPED, "a symbolic link, not followed")
    if entry.is_dir(follow_symlinks=False):
        return Member(name, None, Status.POLICY_SKIPPED, "a folder of tools or too deep, not read")
    if not entry.is_file(follow_symlinks=False):
        return Member(name, None, Status.POLICY_SKIPPED, "no regular file")
    try:
        size = entry.stat(follow_symlinks=False).st_size
        refusal = _refusal(name, size, limits, left)
        if refusal:
            return Member(name, None, *refusal, size)
        with open(entry.path, "rb", opener=not_followed) as file:
            data = file.read(limits.member + 1)
    except OSError as error:
        return Member(name, None, Status.FORBIDDEN, f"cannot be read: {error.strerror}")
    if is_binary(data[:65536]):
        return Member(name, None, Status.POLICY_SKIPPED, "binary content", size)
    return Member(name, data, size=len(data))


def _refusal(name: str, size: int, limits: ArchiveLimits, left: int) -> tuple[Status, str] | None:
    if size > min(limits.member, left):
        return Status.TOO_LARGE, f"{size:,} bytes, more than may be read"
    return None if limits is EPRINT else select.by_name(name, size)


def is_path(text: str) -> bool:
    """Whether a target is meant as a path: it exists, or is written like one. What is named by a scheme or in quotes never is."""
    return "://" not in text and not _NAMED.match(text) and bool(_WRITTEN.match(text) or there(text))


def origin(folder: Path) -> dict[str, str]:
    """`remote` (`github.com/owner/name`) and `commit` of a checkout; without what cannot be told."""
    git = folder / ".git"
    if not _is_folder(git):
        return {}
    origin_fields = {"remote": _remote(_text(git / "config")), "commit": _commit(git)}
    return {key: value for key, value in origin_fields.items() if value}


def _remote(config: str) -> str:
    """The repository of the remote `origin`, else of the first."""
    remotes: dict[str, str] = {}
    section = ""
    for line in config.splitlines():
        if line.lstrip().startswith("["):
            named = _SECTION.match(line[:200])
            section = named[1] if named else ""
        elif section and (given := _URL.match(line[:600])) and (repo := repo_id(given[1])):
            remotes.setdefault(section, repo.removeprefix("repo:"))
    return remotes.get("origin") or next(iter(remotes.values()), "")


def _commit(git: Path) -> str:
    head = _text(git / "HEAD").strip()
    if not head.startswith("ref:"):
        return head if _COMMIT.match(head) else ""
    ref = head.removeprefix("ref:").strip()
    if not _REF.match(ref) or ".." in ref:
        return ""
    loose = _text(git / ref).strip()
    return loose if _COMMIT.match(loose) else _packed(_text(git / "packed-refs"), ref)


def _packed(text: str, ref: str) -> str:
    rows = (line.split(" ", 1) for line in text.splitlines() if line.endswith(f" {ref}"))
    return next((row[0] for row in rows if row[1] == ref and _COMMIT.match(row[0])), "")


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _text(path: Path) -> str:
    """A regular file's text, none of it where the file is a link, too large or missing."""
    try:
        if not all(_is_folder(parent) for parent in _inside(path)) or not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with open(path, "rb", opener=not_followed) as file:
            data = file.read(_MOST + 1)
    except OSError:
        return ""
    return data.decode("utf-8", "replace") if len(data) <= _MOST else ""


def _inside(path: Path) -> list[Path]:
    """The folders between `.git` and a file."""
    parents = list(path.parents)
    return parents[: next(n for n, parent in enumerate(parents) if parent.name == ".git") + 1]


def not_followed(path: str, flags: int) -> int:
    """An opener that refuses symbolic links and does not wait for pipes."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
