"""What a tarball says of itself without being parsed: its README, and the hashes that tell whose files it holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from indexer.archives import members
from indexer.parsers.decode import newlines
from indexer.parsers.select import by_name
from lineage.code_links.exclusion import is_telling
from lineage.records import Document


@dataclass(frozen=True)
class RepoFingerprint:
    """The README at the top of a tarball, and SHA-256 of the texts that tell whose they are."""

    readme: str
    content: frozenset[str]


def of_documents(documents: Iterable[Document]) -> RepoFingerprint:
    """The same of documents that were read already, such as those of a folder."""
    readme, content = "", set[str]()
    for document in documents:
        name = document.path.lower()
        text = document.text.encode("utf-8", "replace")
        if is_telling(name, len(text)):
            content.add(hashlib.sha256(text).hexdigest())
        if not readme and "/" not in name and name.startswith("readme"):
            readme = document.text
    return RepoFingerprint(readme, frozenset(content))


def told(path: Path) -> RepoFingerprint:
    """README and content hashes of a tarball on disk, of which nothing is known yet; raises `ParseError`."""
    readme, content = "", set[str]()
    for member in members.repo_members(path, by_name):
        if member.data is None:
            continue
        text = newlines(member.data.decode("utf-8", "replace"))
        if is_telling(member.name, len(member.data)):
            content.add(hashlib.sha256(text.encode()).hexdigest())
        if not readme and "/" not in member.name and member.name.lower().startswith("readme"):
            readme = text
    return RepoFingerprint(readme, frozenset(content))
