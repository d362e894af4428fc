"""GitHub: what a repository is, which commit, and its bytes by commit; no git, no directory walk.

Two requests to the API per repository, and one to codeload that does not count. When the API's 60 an hour are used
up, the head's tarball still says which commit it is (git writes it in the archive's global header).
"""

from __future__ import annotations

import io
import re
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from indexer.sources.fields import items, mapping, number, text
from indexer.transport.cache import CachedResponse
from indexer.transport.client import Transport
from lineage import ids
from lineage.errors import SourceError
from lineage.records import Blob, Scalar, Status, Work, WorkId

SOURCE = "github"
API = "https://api.github.com"
_SHA = re.compile(r"[0-9a-f]{40}\Z")
_REFUSED = {Status.RATE_LIMITED, Status.FORBIDDEN}
PER_PAGE, MOST_PAGES = 100, 10
"""Commits on a page, and the pages that are read where nobody says which is the last."""
_LAST = re.compile(r'[?&]page=(\d{1,6})[^,<>]{0,300}>;\s*rel="last"')


class GitHub:
    """The source of repositories; every failure leaves as `SourceError`."""

    name = SOURCE

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def repository(self, repo: WorkId) -> Work:
        """What GitHub says of a repository, under its present name; a former name becomes an alias.

        `meta`: number, default_branch, archived, fork, empty, description, created, pushed, stars. Where the API
        refuses to answer any more, the work has only its name and `meta["unasked"]` says why.
        """
        owner, name = _github(repo)
        try:
            answer = self._transport.get(f"{API}/repos/{owner}/{name}", shape=lambda row: bool(text(mapping(row).get("full_name"))))
        except SourceError as error:
            if error.status in _REFUSED:
                return Work(repo, "code", f"{owner}/{name}", said_by=(SOURCE,), meta={"unasked": str(error)[:300]})
            raise
        return parse_repository(answer.json, repo)

    def commit(self, repo: Work, ref: str = "") -> tuple[str, str]:
        """(commit, its date in ISO 8601) of a branch, tag or commit; of the head by default.

        Raises `SourceError`: NOT_FOUND, EMPTY for a repository without commits.
        """
        owner, name = _github(repo.id)
        head = self._transport.known(_tarball_url(owner, name, "HEAD")) if not ref else None
        if head:
            return self._pinned(head)
        try:
            wanted = ref or text(repo.meta.get("default_branch")) or "HEAD"
            return _commit(self._commits(repo, wanted).json, f"{wanted} names no commit")
        except SourceError as error:
            if error.status in _REFUSED and not ref:
                return self._pinned(self._get(owner, name, "HEAD"))
            raise

    def commit_after(self, repo: Work, day: str) -> tuple[str, str, str]:
        """(commit, date, what it is in words) nearest after a day (`YYYY-MM-DD`, UTC): the code released with a paper of that day.

        Where nothing follows, the last commit before. Raises `SourceError` as `commit` does.
        """
        since = f"{day}T00:00:00Z"
        oldest_commit, words = self._oldest(repo, since)
        if oldest_commit:
            return *oldest_commit, f"the first commit from {day} on{words}"
        before = items(self._commits(repo, query={"until": since, "per_page": 1}).json)
        return *_commit(before[0] if before else None, f"{repo.title or repo.id} has no commit"), f"the last commit before {day}; none follows"

    def _oldest(self, repo: Work, since: str) -> tuple[tuple[str, str] | None, str]:
        """The oldest commit since then, and in words how far the list was read: to its last page, if anybody says which that is."""

        def page(number: int) -> CachedResponse:
            return self._commits(repo, query={"since": since, "per_page": PER_PAGE, **({"page": number} if number > 1 else {})})

        first = page(1)
        pages = [first.json]
        last = last_page(first.headers)
        if last > 1 and (oldest_commit := oldest(page(last).json, since)):
            return oldest_commit, ""
        while len(items(pages[-1])) >= PER_PAGE and len(pages) < MOST_PAGES:
            pages.append(page(len(pages) + 1).json)
        cut = f" among the newest {PER_PAGE * MOST_PAGES:,}; the list goes on" if len(items(pages[-1])) >= PER_PAGE else ""
        return earlier(oldest(rows, since) for rows in pages), cut

    def _commits(self, repo: Work, ref: str = "", query: Mapping[str, str | int] | None = None) -> CachedResponse:
        owner, name = _github(repo.id)
        return self._transport.get(
            f"{API}/repos/{owner}/{name}/commits" + (f"/{ref}" if ref else ""), params=query, shape=_is_commit if ref else _is_list
        )

    def tarball(self, repo: Work, sha: str) -> Blob:
        """The files of a commit as a gzipped tar archive; raises `SourceError`, HASH_MISMATCH if it is another's."""
        owner, name = _github(repo.id)
        head = self._transport.known(_tarball_url(owner, name, "HEAD"))
        if head and pinned(head.start)[0] == sha:
            return head.blob
        answer = self._get(owner, name, sha)
        pinned_commit = pinned(answer.start)[0]
        if pinned_commit and _SHA.match(sha) and pinned_commit != sha:
            self._transport.forget(answer)
            raise SourceError(Status.HASH_MISMATCH, f"the archive is of commit {pinned_commit[:12]}, not {sha[:12]}", url=answer.url)
        return answer.blob

    def _get(self, owner: str, name: str, ref: str) -> CachedResponse:
        answer = self._transport.get(_tarball_url(owner, name, ref), accept="file", max_bytes=self._transport.settings.max_tarball)
        if not answer.start.startswith(b"\x1f\x8b"):
            self._transport.forget(answer)
            raise SourceError(Status.WRONG_TYPE, "no gzip archive came", url=answer.url)
        return answer

    def _pinned(self, answer: CachedResponse) -> tuple[str, str]:
        sha, date = pinned(answer.start)
        if not sha:
            raise SourceError(Status.RATE_LIMITED, "GitHub's API refuses to say which commit is the head, and the archive does not", url=answer.url)
        return sha, date


def parse_repository(raw: Any, asked: WorkId) -> Work:
    """GitHub's record of a repository; raises `SourceError` (WRONG_TYPE) where it names none."""
    row = mapping(raw)
    repo = ids.repo_id(f"https://github.com/{text(row.get('full_name'))}")
    if not repo:
        raise SourceError(Status.WRONG_TYPE, f"GitHub's record of {asked.removeprefix('repo:')} cannot be read")
    renamed = not ids.same_repo(repo, asked)
    licence = text(mapping(row.get("license")).get("spdx_id"))
    created = text(row.get("created_at"))
    return Work(
        id=repo,
        kind="code",
        title=text(row.get("full_name")),
        authors=tuple(filter(None, (text(mapping(row.get("owner")).get("login")),))),
        year=int(created[:4]) if re.match(r"20\d\d-", created) else None,
        abstract=text(row.get("description")),
        aliases=(asked,) if renamed else (),
        license=None if licence in {"", "NOASSERTION"} else licence,
        said_by=(SOURCE,),
        meta=_meta(row, created, renamed),
    )


def _meta(row: Mapping[str, Any], created: str, renamed: bool) -> dict[str, Scalar]:
    root, parent = text(mapping(row.get("source")).get("full_name")), text(mapping(row.get("parent")).get("full_name"))
    meta_fields: dict[str, Scalar] = {
        "number": number(row.get("id")),
        "owner_number": number(mapping(row.get("owner")).get("id")),
        "default_branch": text(row.get("default_branch")),
        "archived": row.get("archived") is True or None,
        "fork": row.get("fork") is True or None,
        "fork_of": root or parent,
        "parent": parent if root and parent != root else None,
        "empty": True if row.get("size") == 0 else None,
        "renamed": renamed or None,
        "created": created,
        "pushed": text(row.get("pushed_at")),
        "stars": number(row.get("stargazers_count")),
        "licence_note": text(mapping(row.get("license")).get("name")),
    }
    return {name: value for name, value in meta_fields.items() if value not in (None, "")}


def _is_commit(raw: Any) -> bool:
    return parse_commit(raw) is not None


def _is_list(raw: Any) -> bool:
    return isinstance(raw, list)


def _commit(raw: Any, otherwise: str) -> tuple[str, str]:
    commit_and_date = parse_commit(raw)
    if not commit_and_date:
        raise SourceError(Status.NOT_FOUND, otherwise)
    return commit_and_date


def pinned(start: bytes) -> tuple[str, str]:
    """(commit, date) out of the beginning of a tarball that git made, empty strings where it does not say."""
    inflate = zlib.decompressobj(31)
    try:
        head = inflate.decompress(start, 16384)
        with tarfile.open(fileobj=io.BytesIO(head), mode="r:") as tar:
            first = tar.next()
            sha = tar.pax_headers.get("comment", "").strip().lower()
    except (zlib.error, tarfile.TarError, ValueError, OverflowError, EOFError):
        return "", ""
    if not first or not _SHA.match(sha) or not 0 < first.mtime < 2**33:
        return (sha, "") if _SHA.match(sha) else ("", "")
    return sha, datetime.fromtimestamp(first.mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _tarball_url(owner: str, name: str, ref: str) -> str:
    return f"https://codeload.github.com/{owner}/{name}/tar.gz/{ref}"


def _github(repo: WorkId) -> tuple[str, str]:
    host, owner, name = ids.repo_parts(repo)
    if host != "github.com":
        raise SourceError(Status.POLICY_SKIPPED, f"only repositories on github.com are fetched, not from {host}", url=ids.abs_url(repo))
    return owner, name


def parse_commit(raw: Any) -> tuple[str, str] | None:
    """(commit, date) of GitHub's record of a commit, or None where it is none."""
    row = mapping(raw)
    sha = text(row.get("sha")).lower()
    detail = mapping(row.get("commit"))
    date = text(mapping(detail.get("committer")).get("date")) or text(mapping(detail.get("author")).get("date"))
    return (sha, date) if _SHA.match(sha) else None


def oldest(raw: Any, since: str) -> tuple[str, str] | None:
    """The oldest commit of a page with a date from `since` on (ISO 8601); of several on one date the last listed."""
    rows = [commit_and_date for row in reversed(items(raw)) if (commit_and_date := parse_commit(row)) and commit_and_date[1] >= since]
    return min(rows, key=lambda row: row[1], default=None)


def earlier(commits: Iterable[tuple[str, str] | None]) -> tuple[str, str] | None:
    """The oldest of the pages' oldest, of several on one date that of the later page."""
    return min(reversed([row for row in commits if row]), key=lambda row: row[1], default=None)


def last_page(headers: Mapping[str, str]) -> int:
    """The number of the last page, by the Link header (RFC 8288); 0 where it does not say."""
    match = _LAST.search(headers.get("link", "")[:4000])
    return int(match[1]) if match else 0
