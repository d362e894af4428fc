"""Import a bundle: check all of it, write it to the store, then fetch again what its licenses kept out."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from indexer.against_source import digest, documents_of
from indexer.build_context import BuildContext
from indexer.bundle.form import BundledDocument, Passage, Passed
from indexer.bundle.read import Bundle, read
from indexer.bundle.signature import signature_path, verified_signer
from indexer.chunking import chunker
from indexer.extraction.extract import placed
from indexer.read_document import ReadDocument, Wanted
from indexer.repo_profile import profiles
from indexer.store import decision_log
from indexer.store.atomic_files import sha256_of
from indexer.store.generations import Writing
from lineage import generation as layout
from lineage import ids
from lineage.catalog import records
from lineage.catalog.reader import Catalog
from lineage.catalog.writer import CatalogWriter
from lineage.decisions import Decision, DecisionLog
from lineage.errors import BadBundle, ParseError, StoreDamaged, UsageError, failures
from lineage.generation import FIRST_TIER, Generation, Manifest
from lineage.ids import abs_url
from lineage.licenses import LicenseTerms, terms
from lineage.progress import Note, Stage
from lineage.records import UNKNOWN, BundleOrigin, Chunk, Document, LedgerRow, Provenance, Setting, Status, Work, WorkId, imported_from
from lineage.text.hidden_text import inline

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
def proved(bench: BuildContext, bundle: Bundle, fetched: Fetched) -> Iterator[Ready]:
    """The catalogue of a bundle beside the lineages, proved to be what the manifest says; gone when the block ends.

    Raises `BadBundle` if it is not, and errors of the store; no lineage has been touched then.
    """
    missing = [document for document in bundle.left_out if _place(document) not in fetched.texts]
    with aside(bench.settings.home) as folder:
        with CatalogWriter(folder / layout.CATALOG) as catalog:
            _fill(bench, catalog, bundle, fetched, missing)
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
            draft.take(self.folder)
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
    """A private folder in the store; those of crashed imports are removed after a day."""
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


def _fill(bench: BuildContext, catalog: CatalogWriter, bundle: Bundle, fetched: Fetched, missing: Iterable[BundledDocument]) -> None:
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
    catalog.add_settings(_settings(bench, documents, [chunk for chunk, there in pieces if there]))
    catalog.add_files(profiles(documents, bundle.works, bundle.links))
    catalog.add_ledger((*bundle.ledger, *lost))
    for key, value in bundle.plain_meta.items():
        catalog.set_meta(key, value + len(lost) if key == "ledger_in.source" else value)
    catalog.set_meta(
        "bundle", {"id": bundle.id, "made_by": bundle.manifest.made_by, "created": bundle.manifest.created, "texts": bundle.manifest.texts}
    )


def _settings(bench: BuildContext, documents: Iterable[Document], chunks: Iterable[Chunk]) -> Iterator[Setting]:
    """The settings of repositories as they are written, document by document; what cannot be read is said."""
    own: defaultdict[tuple[str, str], list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        own[chunk.work, chunk.path].append(chunk)
    code = [document for document in documents if document.kind != "paper" and (document.work, document.path) in own]
    for document, made in zip(code, bench.sandbox.documents(code, Wanted(chunks=None)), strict=True):
        if isinstance(made, ParseError):
            bench.watch(Note(f"{document.work}: {document.path}: its settings were not read: {made}", "warning"))
        else:
            yield from placed(document, own[document.work, document.path], made.stated).settings


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


Failures = dict[WorkId, str]


def refetch(bench: BuildContext, bundle: Bundle) -> tuple[Fetched, Failures]:
    """What could be had of the texts that the bundle lacks, and why not, by work; upstream failures are not raised."""
    wanted: defaultdict[WorkId, list[BundledDocument]] = defaultdict(list)
    for document in bundle.left_out:
        wanted[document.work].append(document)
    works = [work for work in bundle.works if work.id in wanted]
    passages: defaultdict[tuple[WorkId, str], list[Passage]] = defaultdict(list)
    for passage in bundle.passages:
        passages[passage.chunk.work, passage.chunk.path].append(passage)
    texts: dict[tuple[WorkId, str], str] = {}
    rebuilt_chunks: dict[tuple[tuple[WorkId, str], str], Chunk] = {}
    failures: Failures = {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        for n, (work, (documents, why)) in enumerate(zip(works, pool.map(partial(documents_of, bench), works), strict=True), 1):
            bench.watch(Stage("fetch again", n, len(works), work.title or work.id))
            same, parts = _same(wanted[work.id], documents, passages)
            texts |= same
            rebuilt_chunks |= parts
            lost = len(wanted[work.id]) - len(same)
            if lost:
                failures[work.id] = why or f"{lost} of {len(wanted[work.id])} documents are not what they were"
    return Fetched(texts, rebuilt_chunks), failures


def _same(
    wanted: Iterable[BundledDocument], documents: Iterable[ReadDocument], passages: Mapping[tuple[WorkId, str], Sequence[Passage]]
) -> tuple[dict[tuple[WorkId, str], str], dict[tuple[tuple[WorkId, str], str], Chunk]]:
    """Of what was found, the texts and passages whose hashes are those of the bundle."""
    here = {(document.work, records.clean(document.path)): document for document in documents}
    texts: dict[tuple[WorkId, str], str] = {}
    rebuilt_chunks: dict[tuple[tuple[WorkId, str], str], Chunk] = {}
    for bundled_document in wanted:
        place = (bundled_document.work, bundled_document.path)
        document = here.get(place)
        if not document or document.parser != bundled_document.parser or digest(document.text) != bundled_document.sha256:
            continue
        parts = {part.id: part for part in chunker.chunks_at(document, document.cuts)}
        expected_digests = {passage.chunk.id: passage.digest for passage in passages.get(place, ())}
        if all(name in parts and records.digest(records.chunk_values(parts[name])) == digest for name, digest in expected_digests.items()):
            texts[place] = document.text
            rebuilt_chunks |= {(place, name): parts[name] for name in expected_digests}
    return texts, rebuilt_chunks


@dataclass(frozen=True)
class Imported:
    """A lineage that came out of a bundle. `works` says of each whether its texts are here now, `missing` why not, by work.

    `whole` means that the content hash is the one of the lineage that was exported.
    """

    lineage: str
    generation: str
    target: str
    content_hash: str
    whole: bool
    works: tuple[Passed, ...]
    missing: Mapping[WorkId, str] = field(default_factory=dict)
    fetched: tuple[WorkId, ...] = ()
    unchanged: bool = False
    requests: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN


def bring(bench: BuildContext, path: Path, name: str = "", signer: str = "", of: str = "") -> Imported:
    """Import a bundle under its own name or `name`; what was left out is fetched again unless the settings say offline.

    With `signer`, a public key, the bundle must be signed with it; with `of` it must be of that target.

    Raises `NotFound`, `BadBundle`, `UsageError` for a name that another lineage has, and errors of the store; then the
    store is as it was.
    """
    slug = ids.check_name(name) if name else ""
    bench.watch(Stage("check", 0, 1, path.name))
    verified = verified_signer(path, signer) if signer else None
    bundle, came = read(path), BundleFile(sha256_of(path)[1], verified)
    if of and bundle.manifest.target != of:
        raise BadBundle(f"{path.name} holds {bundle.manifest.target}, not {of}", hint="do not trust where it came from")
    slug = slug or bundle.manifest.lineage
    _check_free(bench, slug, bundle)
    current = _current(bench, slug)
    manifest, here = current, current is not None and _is_whole(current, bundle)
    missing: dict[WorkId, str] = {} if here else _reasons(bundle, "not asked for: offline" if bench.settings.offline else "")
    fetched: tuple[WorkId, ...] = ()
    if manifest is None:
        manifest = _write(bench, bundle, slug, Fetched(), came)
    if missing and not bench.settings.offline:
        bench.watch(Note(f"{slug} can be queried now (generation {manifest.id}); the texts of {len(missing)} works are being fetched again"))
        refetched, missing = refetch(bench, bundle)
        fetched = tuple(sorted({work for work, _ in refetched.texts}))
        manifest = _write(bench, bundle, slug, refetched, came) if refetched.texts else manifest
    return Imported(
        lineage=slug,
        generation=manifest.id,
        target=manifest.target,
        content_hash=manifest.content_hash,
        whole=manifest.content_hash == bundle.manifest.content_hash,
        works=tuple(replace(passed, carried=passed.carried or here or passed.work not in missing) for passed in bundle.manifest.works),
        missing=missing,
        fetched=fetched,
        unchanged=current is not None and manifest.id == current.id,
        requests=dict(bench.transport.requests),
        seconds=bench.clock.seconds()["wall"],
        notes=(*_notes(bench, bundle), *_unverified(path, signer)),
        provenance=manifest.origin,
    )


def _write(bench: BuildContext, bundle: Bundle, slug: str, fetched: Fetched, came: BundleFile) -> Manifest:
    bench.watch(Stage("write", 0, 1, slug))
    with proved(bench, bundle, fetched) as ready, bench.store.writing(slug) as writing:
        _check_free(bench, slug, bundle)
        manifest = ready.commit(writing, came, bench.report_maker())
        writing.sweep()
    if bundle.decisions:
        decision_log.append(bench.settings.home, slug, partial(_new, bundle))
    return manifest


def _new(bundle: Bundle, log: DecisionLog) -> list[Decision]:
    """The decisions of a bundle on what nothing was decided or withdrawn here before, marked as its."""
    here = {entry.name for entry in log.entries}
    return [replace(decision, origin=f"bundle {bundle.id[:12]}") for decision in bundle.decisions if decision.name not in here]


def _reasons(bundle: Bundle, why: str) -> dict[WorkId, str]:
    """Why the texts of a work are not here."""
    terms = {passed.work: passed.terms for passed in bundle.manifest.works}
    return {document.work: why or terms[document.work] for document in bundle.left_out}


def _is_whole(manifest: Manifest, bundle: Bundle) -> bool:
    return manifest.content_hash == bundle.manifest.content_hash


def _check_free(bench: BuildContext, slug: str, bundle: Bundle) -> None:
    """Refuse a name under which something else lies."""
    if slug not in bench.store.lineages():
        return
    current = _current(bench, slug)
    if current is None or not (_is_whole(current, bundle) or current.fingerprint in {mark(bundle, whole=False), mark(bundle, whole=True)}):
        raise UsageError(f"there is another lineage called {slug!r}", hint="give this one a name of its own: lineage import FILE --name NAME")


def _current(bench: BuildContext, slug: str) -> Manifest | None:
    try:
        return bench.store.manifest(slug) if slug in bench.store.lineages() else None
    except StoreDamaged:
        return None


def _notes(bench: BuildContext, bundle: Bundle) -> Iterator[str]:
    manifest = bundle.manifest
    if manifest.texts == "all":
        yield "this bundle holds texts whose licence does not let them be passed on: it is for its maker's own machines"
    if manifest.embedder and not manifest.embedder.startswith(FIRST_TIER) and manifest.embedder != (own := bench.embedder().id):
        yield f"its vectors were made by {manifest.embedder}, the embedder set here is {own}: set LINEAGE_EMBEDDER to that model to ask it"
    if bundle.decisions:
        yield f"it holds {len(bundle.decisions)} decisions, which say that they were imported: lineage decide --list"
    if bundle.dropped:
        names = ", ".join(inline(name)[:60] for name in bundle.dropped[:3]) + (" ..." if bundle.dropped[3:] else "")
        yield f"its request named files of its maker's machine, which are dropped from it and never looked for here: {names}"
    conditions = Counter(passed.terms for passed in manifest.works if passed.carried and passed.license)
    yield from _conditions(conditions.items())


def _unverified(path: Path, signer: str) -> Iterator[str]:
    if not signer and signature_path(path).is_file():
        yield "it is signed, and no key was given to verify by: lineage import FILE --signer KEY.pub"


def _conditions(counts: Iterable[tuple[str, int]]) -> Iterator[str]:
    for condition, count in sorted(counts):
        if "not for commercial" in condition:
            yield f"{count} works may be used with a condition: {condition}"
