"""Proof that what was to be kept out is not there: by name, former name and fork, by what READMEs say, and by content.

Held against a finished generation and the raw bytes of the store, so that a copy pushed elsewhere under another name is
found as well, whichever way it came in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from indexer.front import TELLING, told
from lineage import generation as layout
from lineage.catalog.reader import Catalog
from lineage.errors import LineageError
from lineage.exclusion import Exclusion
from lineage.ids import repo_id
from lineage.model import Work, WorkId
from lineage.readme import from_readme

_TARBALLS = "https://codeload.github.com/"


@dataclass(frozen=True)
class Forbidden:
    """What a generation was asked to keep out, as it says itself; `exclusion` is None where nothing was."""

    target: Work
    exclusion: Exclusion
    no_target_code: bool

    @classmethod
    def of(cls, catalog: Catalog) -> Forbidden | None:
        """What the catalogue's own request says; None where nothing is kept out."""
        meta = catalog.meta()
        asked: dict[str, Any] = meta.get("request") or {}
        blacklist, alone = asked.get("blacklist") or (), bool(asked.get("no_target_code"))
        if not alone and not blacklist:
            return None
        target = catalog.work(str(meta.get("target") or "")) or Work(WorkId(""))
        exclusion = Exclusion.of(blacklist, no_target_code=alone, target=target).knowing(catalog.links(), content=meta.get("kept_out") or ())
        return cls(target, replace(exclusion, own=exclusion.own | frozenset(meta.get("kept_out_names") or ())), alone)

    def readme(self, work: Work, text: str) -> str:
        """Why a README says that a repository is the target's code."""
        claims = from_readme(work, text, [self.target]) if self.no_target_code else ()
        return next((link.evidence[0] for link in claims if link.tier.own), "")


def strays(catalog: Catalog) -> Iterator[str]:
    """What a generation holds though it was to be kept out, in words; nothing where nothing was to be kept out."""
    forbidden = Forbidden.of(catalog)
    if not forbidden:
        return
    known = {work.id: work for work in catalog.works()}
    held = {document.work for document in catalog.documents() if document.kind != "paper"}
    for name in sorted({*held, *(work.id for work in known.values() if work.kind == "code")}):
        work = known.get(name) or Work(name, "code")
        if reason := forbidden.exclusion.reason_for_work(work) or _by_content(catalog, forbidden, work):
            yield f"holds {name} ({'documents' if name in held else 'its record'}), which was to be kept out: {reason}"
    for link in catalog.links():
        if reason := forbidden.exclusion.reason(link, known.get(link.paper)):
            yield f"links {link.paper} to {link.repo}, which was to be kept out: {reason}"


def _by_content(catalog: Catalog, forbidden: Forbidden, work: Work) -> str:
    documents = catalog.documents(work.id)
    hashes = {document.sha256 for document in documents if document.length >= TELLING and not document.path.lower().startswith("license")}
    if reason := forbidden.exclusion.reason_for_content(hashes):
        return reason
    readme = next((d.path for d in documents if "/" not in d.path and d.path.lower().startswith("readme")), "")
    claim = forbidden.readme(work, catalog.document_text(work.id, readme) or "") if readme else ""
    return f"its README says that it is the target's code ({claim})" if claim else ""


def stray_blobs(home: Path, slug: str, *, read_data: bool) -> Iterator[tuple[Path, str]]:
    """Tarballs in the store that a lineage was to keep out and no other lineage holds; `read_data` looks into every tarball."""
    current = _catalog(home, slug)
    with closing(current):
        forbidden = Forbidden.of(current)
    if not forbidden:
        return
    elsewhere = {blob for name in layout.names(home) if name != slug for blob in _blobs_of(home, name)}
    for path, repo in _tarballs(home):
        if path.name in elsewhere or not path.is_file():
            continue
        reason = forbidden.exclusion.reason_for_url(repo.removeprefix("repo:"))
        if not reason and read_data:
            reason = _inside(forbidden, path, Work(repo, "code"))
        if reason:
            yield path, f"is the tarball of {repo}, which {slug} was to keep out: {reason}"


def _inside(forbidden: Forbidden, path: Path, work: Work) -> str:
    try:
        front = told(path)
    except LineageError:
        return ""  # what cannot be read as a tarball hands nothing over; `check --read-data` reports damage by its hash
    if reason := forbidden.exclusion.reason_for_content(front.content):
        return reason
    claim = forbidden.readme(work, front.readme)
    return f"its README says that it is the target's code ({claim})" if claim else ""


def _catalog(home: Path, slug: str) -> Catalog:
    return Catalog(layout.generation_folder(home, slug, layout.current(home, slug)) / layout.CATALOG)


def _blobs_of(home: Path, slug: str) -> set[str]:
    """Blobs that a lineage's documents were read from; none where it cannot be read (its own check says so)."""
    try:
        with closing(_catalog(home, slug)) as catalog:
            return {document.blob for document in catalog.documents()}
    except LineageError:
        return set()


def _tarballs(home: Path) -> Iterator[tuple[Path, WorkId]]:
    """Every tarball that was fetched, by the request that brought it, with its repository."""
    for row in sorted((home / "requests").glob("??/*.json")):
        try:
            kept = json.loads(row.read_bytes())
            asked, sha256 = str(kept["asked"]), str(kept["sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        repo = repo_id("github.com/" + "/".join(asked.removeprefix(_TARBALLS).split("/")[:2])) if asked.startswith(_TARBALLS) else None
        if repo and len(sha256) == 64:
            yield home / "blobs" / sha256[:2] / sha256, repo
