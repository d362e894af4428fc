"""The code of one repository: resolved, pinned to a commit, streamed and parsed, with a row for each member.

Nothing is checked out and nothing is extracted: members are read out of the tarball's bytes, and their names
are data. What the parsers made of them is remembered by the tarball's hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from indexer import archive
from indexer.archive import Member
from indexer.parsers.select import VERSIONS, select
from indexer.remembered import remembered
from indexer.workbench import Workbench
from lineage.errors import ParseError
from lineage.model import Blob, Document, LedgerRow, Status, Work, WorkId

_BATCH = 48


@dataclass(frozen=True)
class Code:
    """The documents of a repository or folder and the rows of its members."""

    documents: tuple[Document, ...]
    rows: tuple[LedgerRow, ...]


def fetch_repository(bench: Workbench, repo: WorkId, before: str = "") -> tuple[Work, Blob]:
    """The repository's record, pinned in `meta["commit"]`, and its tarball; raises `SourceError`.

    `before` (a date, ISO 8601) asks for the last commit up to it instead of the head of the default branch.
    """
    with bench.clock.timed("fetch"):
        work = bench.github.repository(repo)
        sha, date = bench.github.commit(work, before=before)
        blob = bench.github.tarball(work, sha)
    return replace(work, meta={**work.meta, "commit": sha, "commit_date": date}), blob


def read_repository(bench: Workbench, work: WorkId, blob: Blob) -> Code:
    """The documents of a tarball whose bytes are here, parsed in the sandbox once and remembered."""

    def make() -> Code:
        with bench.clock.timed("parse"):
            return read_members(bench, work, blob.sha256, archive.repo_members(bench.blobs.path(blob.sha256), archive.TARBALL))

    return remembered(bench.derived, Code, f"{blob.sha256} {work}", VERSIONS, make)


def read_members(bench: Workbench, work: WorkId, blob: str, members: Iterable[Member]) -> Code:
    """The documents of some members, parsed in batches, each member with its row."""
    documents: list[Document] = []
    rows: list[LedgerRow] = []
    batch: list[tuple[str, bytes]] = []
    for member in members:
        choice = select(member.name, member.data) if member.data is not None else member
        if member.data is None or choice.status is not Status.OK:
            rows.append(LedgerRow("member", work, member.name, "archive", choice.status, choice.detail))
            continue
        batch.append((member.name, member.data))
        if len(batch) >= _BATCH:
            _into(documents, rows, _parsed(bench, work, blob, batch))
            batch = []
    _into(documents, rows, _parsed(bench, work, blob, batch))
    return Code(tuple(sorted(documents, key=lambda document: document.path)), tuple(rows))


def _into(documents: list[Document], rows: list[LedgerRow], found: Iterable[tuple[Document | None, LedgerRow]]) -> None:
    for document, row in found:
        rows.append(row)
        if document:
            documents.append(document)


def _parsed(bench: Workbench, work: WorkId, blob: str, batch: list[tuple[str, bytes]]) -> Iterator[tuple[Document | None, LedgerRow]]:
    for (name, _), found in zip(batch, bench.sandbox.members(batch, work, blob) if batch else (), strict=True):
        if isinstance(found, ParseError):
            yield None, LedgerRow("member", work, name, "parse", found.status, str(found))
        else:
            yield found, LedgerRow("member", work, name, "parse", found.status, found.detail)
