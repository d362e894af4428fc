"""Write a bundle's records as a generation of this store: staged, verified, then switched to like any other."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from indexer.bundle.form import BundledDocument, Passage
from indexer.bundle.read import Bundle
from indexer.extraction.extract import derive
from indexer.store.generations import Writing
from lineage import generation as layout
from lineage.catalog.reader import Catalog
from lineage.catalog.writer import CatalogWriter
from lineage.errors import BadBundle, failures
from lineage.generation import Generation, Manifest
from lineage.ids import abs_url
from lineage.licenses import LicenseTerms, terms
from lineage.records import BundleOrigin, Chunk, Document, LedgerRow, Status, Work, WorkId, imported_from

SUBJECT = "text, in the bundle"
"""The subject of the ledger row that says of a work that its text was left out."""
Place = tuple[WorkId, str]
_DAY = 86_400.0


@dataclass(frozen=True)
class Fetched:
    """What was left out and is here again: texts by place, and the passages that were made of them, by place and id."""

    texts: Mapping[Place, str] = field(default_factory=dict)
    passages: Mapping[tuple[Place, str], Chunk] = field(default_factory=dict)


def mark(bundle: Bundle, whole: bool) -> str:
    """The fingerprint of a generation that came out of a bundle; no build ever makes one like it."""
    return f"bundle:{bundle.id}:{'whole' if whole else 'partial'}"


@contextmanager
def proved(home: Path, bundle: Bundle, fetched: Fetched) -> Iterator[Ready]:
    """The catalogue of a bundle beside the lineages, proved to be what the manifest says; gone when the block ends.

    Raises `BadBundle` if it is not, and errors of the store; no lineage has been touched then.
    """
    missing = [document for document in bundle.left_out if _place(document) not in fetched.texts]
    with aside(home) as folder:
        with CatalogWriter(folder / layout.CATALOG) as catalog:
            _fill(catalog, bundle, fetched, missing)
            catalog.finish()
        _prove(folder, bundle, whole=not missing)
        yield Ready(bundle, folder, whole=not missing)


@dataclass(frozen=True)
class BundleFile:
    """The file of a bundle: its SHA-256, and the id of the key whose signature was verified."""

    sha256: str
    signer: str | None = None


@dataclass(frozen=True)
class Ready:
    """A proved catalogue in a folder of its own."""

    bundle: Bundle
    folder: Path
    whole: bool

    def commit(self, writing: Writing, file: BundleFile, reports: Callable[[Generation], Mapping[str, bytes]] | None = None) -> Manifest:
        """Make it the current generation of the lineage that is held; gives its manifest."""
        with writing.draft() as draft:
            draft.catalog_in(self.folder)
            if self.bundle.vectors is not None:
                draft.vectors(self.bundle.vectors, self.bundle.manifest.embedder)
            made_by = f"imported from the bundle {self.bundle.id[:12]} made by {self.bundle.manifest.made_by[:80]}"
            came = BundleOrigin(file.sha256, self.bundle.id, datetime.now(UTC).isoformat(timespec="seconds"), self.bundle.manifest.made_by[:80])
            return draft.commit(
                target=self.bundle.manifest.target,
                fingerprint=mark(self.bundle, self.whole),
                made_by=made_by,
                provenance=imported_from(came, file.signer),
                reports=reports,
            )


@contextmanager
def aside(home: Path) -> Iterator[Path]:
    """A folder in the store that nobody else looks at; those of imports that died are removed after a day."""
    with failures(home):
        home.mkdir(parents=True, exist_ok=True)
        for left in home.glob(".import-*"):
            if time.time() - left.stat().st_mtime > _DAY:
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=".import-", dir=home))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(catalog: CatalogWriter, bundle: Bundle, fetched: Fetched, missing: Iterable[BundledDocument]) -> None:
    works = {work.id: work for work in bundle.works}
    lost = tuple(_rows(missing, works))
    catalog.add_works(bundle.works)
    catalog.add_references(bundle.references)
    catalog.add_links(bundle.links)
    documents = [_document(document, fetched) for document in bundle.documents]
    for document in documents:
        catalog.add_document(document)
    places = {_place(document): document for document in bundle.documents}
    pieces = [_chunk(passage, places, fetched, works) for passage in bundle.passages]
    catalog.add_chunks([chunk for chunk, _ in pieces], unread={row for row, (_, there) in enumerate(pieces) if not there})
    catalog.add_facts(bundle.facts)
    derive(catalog, documents, [chunk for chunk, there in pieces if there], bundle.works, bundle.links)
    catalog.add_ledger((*bundle.ledger, *lost))
    for key, value in bundle.plain_meta.items():
        catalog.set_meta(key, value + len(lost) if key == "ledger_in.source" else value)
    catalog.set_meta(
        "bundle", {"id": bundle.id, "made_by": bundle.manifest.made_by, "created": bundle.manifest.created, "texts": bundle.manifest.texts}
    )


def _prove(folder: Path, bundle: Bundle, *, whole: bool) -> None:
    with Catalog(folder / layout.CATALOG) as written:
        for wrong in written.damage():
            raise BadBundle(f"the bundle does not make a sound lineage: {wrong[:200]}")
        if whole and written.content_hash() != bundle.manifest.content_hash:
            raise BadBundle("the bundle does not hold the lineage that its manifest names (content hash differs)")


def _place(document: BundledDocument) -> Place:
    return document.work, document.path


def _document(stored: BundledDocument, fetched: Fetched) -> Document:
    """The document, with its text if that is here; its status is the one it was built with, so that hashes agree."""
    text = stored.text if stored.text is not None else fetched.texts.get(_place(stored))
    status, detail = (stored.status, stored.detail) if text is not None else (Status.LICENCE_RESTRICTED, "not included in the bundle")
    known = {name: getattr(stored, name) for name in ("work", "path", "parser", "kind", "language", "blob", "title", "pages")}
    return Document(**known, text=text or "", spans=(), status=status, detail=detail)


def _chunk(passage: Passage, places: Mapping[Place, BundledDocument], fetched: Fetched, works: Mapping[WorkId, Work]) -> tuple[Chunk, bool]:
    """The chunk, and whether its text is here."""
    chunk = passage.chunk
    place = (chunk.work, chunk.path)
    home = places[place]
    if home.text is not None:
        return (replace(chunk, text=home.text[chunk.start : chunk.end]) if passage.sliced else chunk), True
    if place in fetched.texts:
        return fetched.passages[place, chunk.id], True
    return replace(chunk, text=_instead(chunk, works[chunk.work]), header=""), False


def _instead(chunk: Chunk, work: Work) -> str:
    """What a reader sees where a text was left out."""
    where = f"{chunk.path}, lines {chunk.start_line}-{chunk.end_line}" if work.kind == "code" else f"characters {chunk.start}-{chunk.end}"
    why = terms(work.license)
    return (
        f"[This passage of {work.title or work.id} ({where}) is not included in the bundle: {_because(why)}. "
        f"Read it at {abs_url(work.id) or work.id}, or import the bundle with a network.]"
    )


def _because(why: LicenseTerms) -> str:
    return f"its licence ({why.name}) is not known to allow passing it on" if why.name else why.condition


def _rows(missing: Iterable[BundledDocument], works: Mapping[WorkId, Work]) -> Iterator[LedgerRow]:
    count: dict[WorkId, int] = {}
    for document in missing:
        count[document.work] = count.get(document.work, 0) + 1
    for name, n in count.items():
        detail = f"{n} documents are not included in the bundle: {terms(works[name].license).condition}"
        yield LedgerRow("source", name, SUBJECT, "import", Status.LICENCE_RESTRICTED, detail)
