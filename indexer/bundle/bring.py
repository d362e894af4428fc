"""Import a bundle: check all of it, write it to the store, then fetch again what its licenses kept out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from indexer.against_source import digest, documents_of
from indexer.build_context import BuildContext
from indexer.bundle.form import BundledDocument, Passage, Passed
from indexer.bundle.place import BundleFile, Fetched, mark, proved
from indexer.bundle.read import Bundle, read
from indexer.bundle.signature import signature_path, verified_signer
from indexer.chunking.chunker import chunks
from indexer.store import decision_log
from indexer.store.atomic_files import sha256_of
from lineage import ids
from lineage.catalog import records
from lineage.decisions import Decision, DecisionLog
from lineage.errors import BadBundle, StoreDamaged, UsageError
from lineage.generation import FIRST_TIER, Manifest
from lineage.progress import Note, Stage
from lineage.records import UNKNOWN, Chunk, Document, Provenance, WorkId
from lineage.text.hidden_text import inline

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
        for n, (work, (documents, why)) in enumerate(zip(works, pool.map(lambda one: documents_of(bench, one), works), strict=True), 1):
            bench.watch(Stage("fetch again", n, len(works), work.title or work.id))
            same, parts = _same(wanted[work.id], documents, passages)
            texts |= same
            rebuilt_chunks |= parts
            lost = len(wanted[work.id]) - len(same)
            if lost:
                failures[work.id] = why or f"{lost} of {len(wanted[work.id])} documents are not what they were"
    return Fetched(texts, rebuilt_chunks), failures


def _same(
    wanted: Iterable[BundledDocument], documents: Iterable[Document], passages: Mapping[tuple[WorkId, str], Sequence[Passage]]
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
        parts = {chunk.id: chunk for chunk in chunks(replace(document, blob=bundled_document.blob))}
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
        found, missing = refetch(bench, bundle)
        fetched = tuple(sorted({work for work, _ in found.texts}))
        manifest = _write(bench, bundle, slug, found, came) if found.texts else manifest
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
    with proved(bench.settings.home, bundle, fetched) as ready, bench.store.writing(slug) as writing:
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


def _conditions(found: Iterable[tuple[str, int]]) -> Iterator[str]:
    for terms, count in sorted(found):
        if "not for commercial" in terms:
            yield f"{count} works may be used with a condition: {terms}"
