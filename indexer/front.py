"""What a tarball says of itself without being parsed: its README, and the hashes that tell whose files it holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from indexer import archive
from indexer.parsers.decode import newlines
from lineage.exclusion import is_telling
from lineage.model import Document


@dataclass(frozen=True)
class Front:
    """The README at the top of a tarball, and SHA-256 of the texts that tell whose they are."""

    readme: str
    content: frozenset[str]


def of_documents(documents: Iterable[Document]) -> Front:
    """The same of documents that were read already, such as those of a folder."""
    readme, content = "", set[str]()
    for document in documents:
        name = document.path.lower()
        text = document.text.encode("utf-8", "replace")
        if is_telling(name, len(text)):
            content.add(hashlib.sha256(text).hexdigest())
        if not readme and "/" not in name and name.startswith("readme"):
            readme = document.text
    return Front(readme, frozenset(content))


def told(path: Path) -> Front:
    """README and content hashes of a tarball on disk, of which nothing is known yet; raises `ParseError`."""
    readme, content = "", set[str]()
    for member in archive.repo_members(path, archive.TARBALL):
        if member.data is None:
            continue
        text = newlines(member.data.decode("utf-8", "replace"))
        if is_telling(member.name, len(member.data)):
            content.add(hashlib.sha256(text.encode()).hexdigest())
        if not readme and "/" not in member.name and member.name.lower().startswith("readme"):
            readme = text
    return Front(readme, frozenset(content))
