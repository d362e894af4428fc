"""Proof that what was to be kept out is not there: by name, former name and fork, by what READMEs say, and by content; and what was lost with it.

Held against a finished generation and the raw bytes of the store, so that a copy pushed elsewhere under another name is
found as well, whichever way it came in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from indexer.repositories import TARBALLS, told
from indexer.sources.github import pinned
from lineage import generation as layout
from lineage.catalog.reader import Catalog
from lineage.code_links.exclusion import Exclusion, Ground, KeptOut
from lineage.code_links.target_code import copy_reason, in_catalog
from lineage.errors import LineageError
from lineage.ids import repo_id
from lineage.records import CodeLink, LedgerRow, Tier, Work, WorkId

_STAGES = {"code", "select"}


@dataclass(frozen=True)
class Forbidden:
    """What a generation was asked to keep out, as it says itself, with its works and links."""

    works: Sequence[Work]
    links: Sequence[CodeLink]
    exclusion: Exclusion

    @classmethod
    def of(cls, catalog: Catalog) -> Forbidden | None:
        """What the catalogue's own request says; None where nothing is kept out."""
        meta = catalog.meta()
        build_request: dict[str, Any] = meta.get("request") or {}
        blacklist, alone = build_request.get("blacklist") or (), bool(build_request.get("no_target_code"))
        if not alone and not blacklist:
            return None
        target = catalog.work(str(meta.get("target") or "")) or Work(WorkId(""))
        exclusion = Exclusion.of(blacklist, no_target_code=alone, target=target, works=catalog.works())
        exclusion = exclusion.knowing(catalog.links(), content=meta.get("kept_out") or (), since=str(meta.get("kept_out_since") or ""))
        exclusion = replace(exclusion, own=exclusion.own | frozenset(meta.get("kept_out_names") or ()))
        return cls(catalog.works(), catalog.links(), exclusion)


def strays(catalog: Catalog) -> Iterator[str]:
    """Describe excluded content that a generation still holds; empty if nothing was to be excluded."""
    forbidden = Forbidden.of(catalog)
    if not forbidden:
        return
    documents = {document.work for document in catalog.documents() if document.kind != "paper"}
    target_code = in_catalog(catalog, forbidden.exclusion)
    for name, reason in target_code.works.items():
        yield f"holds {name} ({'documents' if name in documents else 'its record'}), which was to be kept out: {reason}"
    for (name, path), reason in target_code.files.items():
        yield f"holds {path} of {name}, which was to be kept out: {reason}"
    works_by_id = {work.id: work for work in forbidden.works}
    for link in forbidden.links:
        if reason := forbidden.exclusion.reason(link, works_by_id.get(link.paper)):
            yield f"links {link.paper} to {link.repo}, which was to be kept out: {reason}"


def stray_blobs(home: Path, slug: str, *, read_data: bool) -> Iterator[tuple[Path, str]]:
    """Tarballs in the store that a lineage was to keep out and no other lineage holds; `read_data` looks into every tarball."""
    current = _catalog(home, slug)
    with closing(current):
        forbidden = Forbidden.of(current)
    if not forbidden:
        return
    elsewhere = {blob for name in layout.names(home) if name != slug for blob in _blobs_of(home, name)}
    for path, repo, commit in _tarballs(home):
        if not elsewhere.isdisjoint((path.name, commit)):
            continue
        reason: str = forbidden.exclusion.reason_for_url(repo.removeprefix("repo:"))
        if not reason and read_data:
            reason = _inside(forbidden, path, Work(repo, "code"))
        if reason:
            yield path, f"is the tarball of {repo}, which {slug} was to keep out: {reason}"


def _inside(forbidden: Forbidden, path: Path, work: Work) -> str:
    try:
        front = told(path)
    except LineageError:
        return ""  # what cannot be read as a tarball hands nothing over; `check --read-data` reports damage by its hash
    return copy_reason(forbidden.exclusion, forbidden.works, forbidden.links, work, front.readme, front.content)


def _catalog(home: Path, slug: str) -> Catalog:
    return Catalog(layout.generation_folder(home, slug, layout.current(home, slug)) / layout.CATALOG)


def _blobs_of(home: Path, slug: str) -> set[str]:
    """Blobs and commits that a lineage's documents were read from; none where it cannot be read (its own check says so)."""
    try:
        with closing(_catalog(home, slug)) as catalog:
            return {document.blob for document in catalog.documents()}
    except LineageError:
        return set()


def _tarballs(home: Path) -> Iterator[tuple[Path, WorkId, str]]:
    """Every tarball that was fetched, by the request that brought it, with its repository and commit."""
    for row in sorted((home / "requests").glob("??/*.json")):
        try:
            cached_request = json.loads(row.read_bytes())
            requested_url, sha256 = str(cached_request["asked"]), str(cached_request["sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        repo = repo_id("github.com/" + "/".join(requested_url.removeprefix(TARBALLS).split("/")[:2])) if requested_url.startswith(TARBALLS) else None
        path = home / "blobs" / sha256[:2] / sha256
        if repo and len(sha256) == 64 and path.is_file():
            with path.open("rb") as file:
                yield path, repo, pinned(file.read(65536))[0] or requested_url.rpartition("/")[2]


def losses(catalog: Catalog) -> Iterator[str]:
    """Describe what a generation with exclusions has lost besides them."""
    meta = catalog.meta()
    build_request = meta.get("request") or {}
    if not build_request.get("no_target_code") and not build_request.get("blacklist"):
        return
    rows = {row.subject.lower(): row for row in catalog.ledger("source") if row.stage in _STAGES}
    yield from _unaccounted(catalog, rows)
    if not build_request.get("no_target_code"):
        return
    claims = [KeptOut.from_meta(row) for row in meta.get("kept_out_claims", ())]
    target = catalog.work(str(meta.get("target") or "")) or Work(WorkId(""))
    links = [*catalog.links(), *(link for claim in claims for link in claim.links)]
    plain = Exclusion.of(no_target_code=True, target=target, works=catalog.works())
    full_exclusion = plain.knowing(links, since=str(meta.get("kept_out_since") or ""))
    for claim in claims:
        if (row := rows.get(claim.repo)) and (why := _wrongly(claim, full_exclusion)):
            yield f"{claim.repo} was kept out ({row.detail}), but {why}"


def _unaccounted(catalog: Catalog, rows: dict[str, LedgerRow]) -> Iterator[str]:
    """Linked repositories that are neither here nor in the ledger; `strays` tells of those that were to be kept out."""
    forbidden = Forbidden.of(catalog)
    works_by_id = {work.id: work for work in catalog.works()}
    here = {name.lower() for work in works_by_id.values() if work.kind == "code" for name in (work.id, *work.aliases)}
    for link in catalog.links():
        out = forbidden and forbidden.exclusion.reason(link, works_by_id.get(link.paper))
        if not out and link.repo.lower() not in here and link.repo.lower() not in rows:
            yield f"{link.repo}, linked to {link.paper}, is not here and no row says why"


def _wrongly(claim: KeptOut, known: Exclusion) -> str:
    """Why a repository should not have been kept out, or the empty string."""
    if claim.repo in known.own or claim.ground is Ground.NAME:
        return ""
    owner = next((link.paper for link in claim.links if link.tier is Tier.OFFICIAL and link.paper not in known.target), "")
    if claim.repo in known.others:
        return f"it is official of {owner}"
    work = Work(WorkId(claim.repo), "code", meta={"created": claim.began} if claim.began else {})
    if claim.ground is Ground.CONTENT and known.is_anothers(work):
        return f"it began {claim.began[:10]}, before the target's code could be copied ({known.since[:10]})"
    return "nothing says that it is the target's code" if claim.ground is Ground.LINK else ""
