"""Find the target's own code under any name: whole repositories, and single files in others'.

Used on a finished catalogue by who leaves it out of an answer (`retrieval`) and by who proves that it is not there
(`indexer.code_links.exclusion_check`); a build asks the same of each repository before it is kept. Nothing is decided by a mention.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lineage.catalog.reader import Catalog, StoredDocument
from lineage.code_links import links as witnesses
from lineage.code_links.exclusion import NOT_EXCLUDED, Exclusion, ExclusionReason, Ground, is_telling, published
from lineage.code_links.readme import from_readme
from lineage.code_reuse.derivation import HEAD, is_readme, taken
from lineage.records import CodeLink, Document, Tier, Work, WorkId


@dataclass(frozen=True)
class TargetCode:
    """Repositories that are the target's code, and files in others that are, each with the reason in words."""

    works: Mapping[WorkId, str] = field(default_factory=dict)
    files: Mapping[tuple[WorkId, str], str] = field(default_factory=dict)


def copy_reason(
    exclusion: Exclusion, papers: Iterable[Work], links: Iterable[CodeLink], work: Work, readme: str, content: frozenset[str]
) -> ExclusionReason:
    """Why a repository or folder is the target's code, by its README or the hashes of its files."""
    if not exclusion.no_target_code:
        return NOT_EXCLUDED
    repo = work.id.lower()
    claims = from_readme(work, readme, [paper for paper in papers if paper.kind == "paper"]) if readme else ()
    full_exclusion = exclusion.knowing(witnesses.merge([*(link for link in links if link.repo.lower() == repo), *claims]))
    if reason := full_exclusion.reason_for_content(content, work):
        return reason
    its = [link for link in claims if full_exclusion.reason(link) and link.paper in exclusion.target]
    surely = any(link.tier is not Tier.REIMPLEMENTATION or not full_exclusion.is_anothers(work) for link in its)
    return ExclusionReason("its README says that it is the target's code", Ground.README) if surely else NOT_EXCLUDED


def file_reason(exclusion: Exclusion, path: str, size: int, sha256: str, text: str) -> str:
    """Why one file of another repository is the target's code: it is the same, or says that it was taken from there."""
    if sha256 in exclusion.content and is_telling(path, size):
        return "the same file as in the target's own code"
    source = next((origin_note.origin for origin_note in taken(text[:HEAD]) if f"repo:github.com/{origin_note.origin}" in exclusion.own), "")
    return f"it says that it was taken from github.com/{source}, the target's own code" if source else ""


def own_exclusion(catalog: Catalog) -> Exclusion:
    """The exclusion that a catalog with the target's code implies."""
    works = catalog.works()
    target = catalog.work(str(catalog.meta().get("target") or "")) or Work(WorkId(""))
    target_exclusion = Exclusion.of(no_target_code=True, target=target, works=works).knowing(catalog.links())
    code = [work for work in works if work.kind == "code"]
    own = [work for work in code if target_exclusion.reason_for_work(work)]
    created = [str(work.meta["created"]) for work in own if work.meta.get("created")]
    target_exclusion = target_exclusion.knowing(content=_contents(catalog, own), since=max(min(created, default=""), published(target)))
    return target_exclusion.without(_contents(catalog, [work for work in code if work not in own and target_exclusion.is_anothers(work)]))


def in_catalog(catalog: Catalog, exclusion: Exclusion) -> TargetCode:
    """What a finished catalogue holds of what is excluded."""
    works, links = catalog.works(), catalog.links()
    documents: dict[WorkId, list[StoredDocument]] = {work.id: [] for work in works if work.kind == "code"}
    for document in catalog.documents():
        if document.kind != "paper" or document.work in documents:
            documents.setdefault(document.work, []).append(document)
    works_by_id = {work.id: work for work in works}
    reasons: dict[WorkId, str] = {}
    files: dict[tuple[WorkId, str], str] = {}
    for id_, stored_documents in sorted(documents.items()):
        work = works_by_id.get(id_) or Work(id_, "code")
        readme = next(
            (catalog.document_text(id_, stored_document.path) or "" for stored_document in stored_documents if is_readme(stored_document.path)), ""
        )
        content = frozenset(
            stored_document.sha256 for stored_document in stored_documents if is_telling(stored_document.path, stored_document.length)
        )
        if reason := exclusion.reason_for_work(work) or copy_reason(exclusion, works, links, work, readme, content):
            reasons[id_] = reason
        elif exclusion.own or exclusion.content:
            files |= {
                (id_, stored_document.path): file_note
                for stored_document in stored_documents
                if stored_document.kind != "paper" and (file_note := _file(catalog, exclusion, stored_document))
            }
    return TargetCode(reasons, files)


def is_copied(exclusion: Exclusion, document: Document) -> str:
    """`file_reason` of a document that was just read."""
    text = document.text.encode("utf-8", "replace")
    return file_reason(exclusion, document.path, len(text), hashlib.sha256(text).hexdigest(), _told(document.kind, document.text))


def _file(catalog: Catalog, exclusion: Exclusion, stored_document: StoredDocument) -> str:
    text = catalog.document_text(stored_document.work, stored_document.path) if stored_document.kind == "code" else ""
    return file_reason(exclusion, stored_document.path, stored_document.length, stored_document.sha256, _told(stored_document.kind, text or ""))


def _told(kind: str, text: str) -> str:
    """What of a file says where it comes from: the head of a program; a README that names the target's code is none of it."""
    return text if kind == "code" else ""


def _contents(catalog: Catalog, works: Iterable[Work]) -> frozenset[str]:
    return frozenset(
        stored_document.sha256
        for work in works
        for stored_document in catalog.documents(work.id)
        if is_telling(stored_document.path, stored_document.length)
    )
