"""A bundle's file into the store: checked whole, written, and then what its licences kept out fetched again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexer.build_context import BuildContext
from indexer.bundle import place
from indexer.bundle.form import Passed
from indexer.bundle.place import Fetched, mark
from indexer.bundle.read import Bundle, read
from indexer.bundle.refetch import refetch
from indexer.store.atomic_files import sha256_of
from lineage import ids
from lineage.errors import StoreDamaged, UsageError
from lineage.generation import Manifest
from lineage.progress import Note, Stage
from lineage.provenance import UNKNOWN, Provenance
from lineage.records import WorkId
from lineage.text.hidden_text import inline


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


def bring(bench: BuildContext, path: Path, name: str = "") -> Imported:
    """Import a bundle under its own name or `name`; what was left out is fetched again unless the settings say offline.

    Raises `NotFound`, `BadBundle`, `UsageError` for a name that another lineage has, and errors of the store; then the
    store is as it was.
    """
    slug = ids.check_name(name) if name else ""
    bench.watch(Stage("check", 0, 1, path.name))
    bundle, file_hash = read(path), sha256_of(path)[1]
    slug = slug or bundle.manifest.lineage
    _check_free(bench, slug, bundle)
    current = _current(bench, slug)
    manifest, here = current, current is not None and _is_whole(current, bundle)
    missing: dict[WorkId, str] = {} if here else _reasons(bundle, "not asked for: offline" if bench.settings.offline else "")
    fetched: tuple[WorkId, ...] = ()
    if manifest is None:
        manifest = _write(bench, bundle, slug, Fetched(), file_hash)
    if missing and not bench.settings.offline:
        bench.watch(Note(f"{slug} can be queried now (generation {manifest.id}); the texts of {len(missing)} works are being fetched again"))
        found, missing = refetch(bench, bundle)
        fetched = tuple(sorted({work for work, _ in found.texts}))
        manifest = _write(bench, bundle, slug, found, file_hash) if found.texts else manifest
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
        notes=tuple(_notes(bench, bundle)),
        provenance=manifest.origin,
    )


def _write(bench: BuildContext, bundle: Bundle, slug: str, fetched: Fetched, file_hash: str) -> Manifest:
    bench.watch(Stage("write", 0, 1, slug))
    with place.proved(bench.settings.home, bundle, fetched) as ready, bench.store.writing(slug) as writing:
        _check_free(bench, slug, bundle)
        manifest = ready.commit(writing, file_hash, bench.report_maker())
        writing.sweep()
        return manifest


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
    if manifest.embedder and manifest.embedder != (own := bench.embedder().id):
        yield f"its vectors were made by {manifest.embedder}, the embedder set here is {own}: set LINEAGE_EMBEDDER to that model to ask it"
    if bundle.dropped:
        names = ", ".join(inline(name)[:60] for name in bundle.dropped[:3]) + (" ..." if bundle.dropped[3:] else "")
        yield f"its request named files of its maker's machine, which are dropped from it and never looked for here: {names}"
    conditions = Counter(passed.terms for passed in manifest.works if passed.carried and passed.license)
    yield from _conditions(conditions.items())


def _conditions(found: Iterable[tuple[str, int]]) -> Iterator[str]:
    for terms, count in sorted(found):
        if "not for commercial" in terms:
            yield f"{count} works may be used with a condition: {terms}"
