"""Where a folder of code comes from, if it is a git checkout: remote and commit, read as plain text out of `.git`. Git is never run.

Everything in a checkout may be hostile: links are not followed, files are read up to a limit, and what is not a full commit
hash or a repository on a known forge is ignored. Credentials in a remote's address are never kept.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from lineage.ids import repo_id

_MOST = 1_000_000
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REF = re.compile(r"refs/(?:[A-Za-z0-9_+@=-][\w.+@=-]{0,100}/){0,8}[A-Za-z0-9_+@=-][\w.+@=-]{0,100}\Z", re.ASCII)
_SECTION = re.compile(r"\s*\[\s*remote\s+\"([^\"\\]{1,100})\"\s*\]\s*\Z", re.IGNORECASE)
_URL = re.compile(r"\s*url\s*=\s*(\S{1,500})\s*\Z", re.IGNORECASE)


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
