"""The code of one repository: pinned to a commit, recognized when renamed or copied, streamed and parsed, with a row for each member.

Nothing is checked out and nothing is extracted: members are read out of the tarball's bytes, and their names
are data. What was made of a file is remembered by its content and path, a repository by the hash of its tarball, so that
another commit costs its changed files.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from indexer.archives import members as archive
from indexer.archives.members import ArchiveLimits, Member
from indexer.build_context import BuildContext
from indexer.papers import PaperText
from indexer.parsers.decode import newlines
from indexer.parsers.select import by_name, select
from indexer.read_document import ReadDocument
from indexer.sandbox.pool import WORKERS, Parsed
from indexer.sources import local
from indexer.store.computed_cache import remembered
from indexer.work_budget import MEGABYTE, WorkBudget, budget_of
from lineage.code_links.exclusion import is_telling
from lineage.code_links.links import addresses
from lineage.code_links.readme import README
from lineage.errors import ParseError, UsageError
from lineage.ids import local_id
from lineage.records import Blob, CodeLink, Document, LedgerRow, Status, Work, WorkId


@dataclass(frozen=True)
class RepoFingerprint:
    """The README at the top of a tarball, and SHA-256 of the texts that tell whose they are."""

    readme: str
    content: frozenset[str]
    cut: bool = False
    """Whether time or memory ended the reading, so that there may be more."""
    given: frozenset[WorkId] = frozenset()
    """Repositories that any file gives the address of."""


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


def told(path: Path, limits: ArchiveLimits = archive.TARBALL) -> RepoFingerprint:
    """README and content hashes of a tarball on disk, of which nothing is known yet; raises `ParseError`."""
    readme, content, given, cut = "", set[str](), set[WorkId](), False
    for member in archive.repo_members(path, by_name, limits):
        cut = cut or member.status.cut
        if member.data is None:
            continue
        text = newlines(member.data.decode("utf-8", "replace"))
        if is_telling(member.name, len(member.data)):
            content.add(hashlib.sha256(text.encode()).hexdigest())
        if "github.com" in text:
            given.update(repo for repo, _ in addresses(text[:README]))
        if not readme and "/" not in member.name and member.name.lower().startswith("readme"):
            readme = text
    return RepoFingerprint(readme, frozenset(content), cut, frozenset(given))


TARBALLS = "https://codeload.github.com/"
"""Where tarballs come from: what is looked at before it may be kept."""
_BATCH = 48
_BATCH_BYTES = 8_000_000
"""Files, and bytes of them, that one child is given at a time."""
_Batch = list[tuple[str, bytes]]
_UNREADABLE = {Status.BOMB, Status.BAD_ARCHIVE, Status.TRUNCATED, Status.TOO_MANY_FILES, Status.PARSE_TIMEOUT}
"""How a member ends that stands for all that follows."""


@dataclass(frozen=True)
class Code:
    """The documents of a repository or folder and the rows of its members; `keys` are those under which the documents are remembered."""

    documents: Annotated[tuple[ReadDocument, ...], Field(exclude=True)] = ()
    rows: tuple[LedgerRow, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Folder:
    """A folder of code on disk: its record, what was read of it, and the hash of all that."""

    work: Work
    code: Code
    digest: str


def pinned(bench: BuildContext, work: Work, after: str = "") -> Work:
    """The repository's record with `meta["commit"]`: the head of its default branch, or the commit nearest after the day `after`.

    In the second case `meta["commit_note"]` says in words which one it is.
    """
    with bench.clock.timed("fetch"):
        sha, date, note = bench.github.commit_after(work, after) if after else (*bench.github.commit(work), "")
    return replace(work, meta={**work.meta, "commit": sha, "commit_date": date, **({"commit_note": note} if note else {})})


def tarball(bench: BuildContext, work: Work) -> Blob:
    """The tarball of a pinned repository; raises `SourceError`."""
    commit = str(work.meta["commit"])
    with bench.clock.timed("fetch"):
        return replace(bench.github.tarball(work, commit), named=commit)


def front(bench: BuildContext, blob: Blob) -> RepoFingerprint:
    """README and content hashes of a tarball whose bytes are here."""

    def make() -> RepoFingerprint:
        return told(bench.blobs.whole(blob.sha256))

    with bench.clock.timed("parse"):
        return remembered(bench.derived, RepoFingerprint, blob.sha256, "front@2", make, lambda made: not made.cut)


def read_repository(bench: BuildContext, work: WorkId, blob: Blob) -> Code:
    """The documents of a tarball whose bytes are here, parsed in the sandbox once and remembered."""

    def make() -> Code:
        with bench.clock.timed("parse"):
            return read_members(bench, work, blob.sha256, archive.repo_members(bench.blobs.whole(blob.sha256), by_name))

    made_by = f"{_version(bench)} {bench.settings.repo_megabytes:g}"
    code = remembered(bench.derived, Code, f"{blob.sha256} {work}", made_by, make, lambda made: not any(row.status.cut for row in made.rows))
    if len(code.documents) < len(code.keys):
        known = bench.derived.documents(code.keys, _version(bench))
        code = replace(code, documents=tuple(known[key] for key in code.keys)) if known.keys() >= set(code.keys) else make()
    return replace(code, documents=tuple(replace(document, work=work, blob=blob.named) for document in code.documents))


def _version(bench: BuildContext) -> str:
    """What a document depends on besides the bytes and path of its file."""
    from indexer.units import version  # loads every reader of facts

    return f"{version(bench.settings)} {bench.settings.repo_chunks}"


def read_folder(bench: BuildContext, path: Path) -> Folder:
    """A folder of the user's own code; raises `NotFound` and `UsageError`."""
    folder = local.code(path)
    with bench.clock.timed("parse"):
        return Folder(folder.work, read_members(bench, folder.work.id, folder.digest, folder.members), folder.digest)


def read_upload(bench: BuildContext, name: str, data: bytes) -> Folder:
    """The code in an uploaded archive called `name`; raises `UsageError` if it cannot be read completely."""
    if archive.sniff(data) not in {"gzip", "tar", "zip"}:
        raise UsageError("this is no archive", hint="send a .zip, .tar or .tar.gz")
    digest = hashlib.sha256(data)
    work = Work(local_id(digest.digest()), "code", name, said_by=(local.SOURCE,), meta={"file": name})
    with bench.clock.timed("parse"):
        code = read_members(bench, work.id, digest.hexdigest(), _whole(archive.upload_members(data, by_name)))
    if not code.documents:
        raise UsageError("the archive holds no file that can be read", hint="send the code as .zip, .tar or .tar.gz")
    return Folder(work, code, digest.hexdigest())


def _whole(members: Iterable[Member]) -> Iterator[Member]:
    for member in members:
        if member.status in _UNREADABLE or (member.name == archive.REST and member.data is None):
            raise UsageError(f"the archive cannot be read: {member.detail}", hint="send what the audit needs: the code, without data and weights")
        yield member


def read_members(bench: BuildContext, work: WorkId, blob: str, members: Iterable[Member]) -> Code:
    """The documents of some members, read in batches by all workers within the budget of a repository, each member with its row."""
    budget = budget_of(bench.settings, "repo", bench.work)
    parsed: list[tuple[ReadDocument | None, LedgerRow]] = []
    running: deque[tuple[_Batch, Future[list[Parsed]]]] = deque()
    with ThreadPoolExecutor(WORKERS) as pool:
        for batch in _batches(members, work, budget, parsed):
            if len(running) == WORKERS:
                parsed += _counted(bench, work, budget, *running.popleft())
            running.append((batch, pool.submit(_read, bench, work, budget, batch)))
        while running:
            parsed += _counted(bench, work, budget, *running.popleft())
    documents = sorted((document for document, _ in parsed if document), key=lambda document: document.path)
    keys = tuple(document.blob for document in documents)
    return Code(tuple(replace(document, blob=blob) for document in documents), tuple(row for _, row in parsed), keys)


def _read(bench: BuildContext, work: WorkId, budget: WorkBudget, batch: _Batch) -> list[Parsed]:
    """What is made of each file, remembered or parsed in a child; the `blob` of a document is the hash of its path and bytes."""
    keys = [hashlib.sha256(f"{path}\0".encode("utf-8", "surrogatepass") + data).hexdigest() for path, data in batch]
    made: dict[str, Parsed] = {**bench.derived.documents(keys, _version(bench))}
    unread = {key: item for key, item in zip(keys, batch, strict=True) if key not in made}
    wanted = bench.wanted(bench.settings.repo_chunks)
    parsed = dict(zip(unread, bench.sandbox.members(list(unread.values()), work, "", budget=budget, wanted=wanted), strict=True))
    bench.derived.keep({key: read for key, read in parsed.items() if isinstance(read, ReadDocument) and not read.status.cut}, _version(bench))
    made |= parsed
    return [replace(read, work=work, blob=key) if isinstance(read := made[key], ReadDocument) else read for key in keys]


def _batches(members: Iterable[Member], work: WorkId, budget: WorkBudget, parsed: list[tuple[ReadDocument | None, LedgerRow]]) -> Iterator[_Batch]:
    """The members that are parsed, some at a time; rows of the others are added to what was `parsed`."""
    batch: _Batch = []
    for member in members:
        refused = _refused(member, budget)
        if refused or member.data is None:
            parsed.append((None, LedgerRow("member", work, member.name, "archive", *(refused or (member.status, member.detail)))))
            continue
        if batch and (len(batch) >= _BATCH or sum(len(data) for _, data in batch) + len(member.data) > _BATCH_BYTES):
            yield batch
            batch = []
        batch.append((member.name, member.data))
    if batch:
        yield batch


def _refused(member: Member, budget: WorkBudget) -> tuple[Status, str] | None:
    """Why a member is not parsed, or None; what is parsed is counted."""
    choice = select(member.name, member.data) if member.data is not None else member
    if member.data is None or choice.status is not Status.OK:
        return choice.status, choice.detail
    size = len(member.data) / MEGABYTE
    if words := budget.refusal("megabytes", size) or budget.refusal("chunks", 1):
        return Status.TOO_LARGE, words
    budget.spend("megabytes", size)
    return None


def _counted(
    bench: BuildContext, work: WorkId, budget: WorkBudget, batch: _Batch, parsed: Future[list[Parsed]]
) -> Iterator[tuple[ReadDocument | None, LedgerRow]]:
    """The documents of a batch, in the order of batches, and a row for each: those before it may have spent the budget meanwhile."""
    spent = budget.refusal("chunks", 1)
    for (name, data), parse_result in zip(batch, parsed.result(), strict=True):
        if spent:
            budget.spend("megabytes", -len(data) / MEGABYTE)
            yield None, LedgerRow("member", work, name, "archive", Status.TOO_LARGE, spent)
        elif isinstance(parse_result, ParseError):
            yield None, LedgerRow("member", work, name, "parse", parse_result.status, str(parse_result))
        elif words := budget.refusal("chunks", len(parse_result.cuts) or 1):
            yield None, LedgerRow("member", work, name, "parse", Status.TOO_LARGE, words)
        else:
            budget.spend("chunks", len(parse_result.cuts))
            bench.heard(parse_result)
            yield parse_result, LedgerRow("member", work, name, "parse", parse_result.status, parse_result.detail)


@dataclass(frozen=True)
class Repository:
    """A pinned repository, its tarball, and the link that brought it here."""

    work: Work
    blob: Blob
    link: CodeLink


@dataclass(frozen=True)
class Addition:
    """One addition and how it ended: a paper's `text`, a folder's `code`, or a repository's tarball (`blob`)."""

    work: Work
    status: Status
    detail: str
    text: PaperText | None = None
    code: Code | None = None
    blob: Blob | None = None
    digest: str = ""
