"""Archives made in memory, the same bytes each time: fixed times and owners, sorted members, no file name in the gzip head."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

EPOCH = 1_700_000_000
"""The modification time of members of e-prints, in seconds since 1970."""


@dataclass(frozen=True)
class Member:
    """One archive member: a regular file, or a symbolic link where `link` says to what."""

    name: str
    content: bytes = b""
    link: str = ""
    executable: bool = False


def gz(content: bytes) -> bytes:
    """`content` as gzip, without time or name."""
    return gzip.compress(content, compresslevel=6, mtime=0)


def tar_gz(members: Iterable[Member], comment: str = "", mtime: int = EPOCH) -> bytes:
    """A gzipped tar archive, members sorted by name; `comment` goes in a global PAX header, as `git archive` writes the commit, `mtime` its time."""
    out = io.BytesIO()
    pax = {"comment": comment} if comment else {}
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, pax_headers=pax) as tar:
        for member in sorted(members, key=lambda m: m.name):
            tar.addfile(_info(member, mtime), io.BytesIO(member.content))
    return gz(out.getvalue())


def _info(member: Member, mtime: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(member.name)
    info.mtime = mtime
    info.uname = info.gname = "root"
    info.mode = 0o755 if member.executable else 0o644
    if member.link:
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, member.link, 0o777
    elif member.name.endswith("/"):
        info.type, info.mode = tarfile.DIRTYPE, 0o755
    else:
        info.size = len(member.content)
    return info


def folder_members(folder: Path, links: Mapping[str, str] | None = None, prefix: str = "") -> list[Member]:
    """The regular files under `folder` and the symbolic links named in `links`, as members under `prefix`."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    members = [_file_member(path, prefix + path.relative_to(folder).as_posix()) for path in files]
    return members + [Member(prefix + name, link=target) for name, target in (links or {}).items()]


def _file_member(path: Path, name: str) -> Member:
    return Member(name, path.read_bytes(), executable=path.suffix == ".sh")
