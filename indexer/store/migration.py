"""Lineages from one store to another, between folders and databases, each compared with what it was when it has arrived."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.store.atomic_files import sha256_of
from indexer.store.generations import Draft, Store
from lineage import generation as layout
from lineage.errors import NotFound, StoreDamaged, failures
from lineage.generation import FileRecord, Generation, Lineages, open_generation


@dataclass(frozen=True)
class Migrated:
    """A lineage that lies in the other store now; `unchanged` if it lay there before."""

    lineage: str
    generation: str
    content_hash: str
    chunks: int
    unchanged: bool


def migrate(source: Lineages, target: Lineages, chosen: tuple[str, ...], home: Path) -> Iterator[Migrated]:
    """Copy the current generations of lineages (all if none is `chosen`); `home` is where drafts of a database lie.

    A lineage that has arrived is whole: it becomes current last, after its content hash and the hashes of its vectors and reports were
    compared. Raises `NotFound`, `StoreDamaged`, and the errors of both stores.
    """
    names = layout.names(source)
    if missing := sorted({*chosen} - {*names}) or ([] if names else ["any"]):
        raise NotFound(f"{source} has no lineage {', '.join(missing)}", hint=f"known: {', '.join(names)}" if names else "")
    store = Store(target, None) if isinstance(target, Path) else Store(home, target)
    for slug in chosen or names:
        with open_generation(source, slug) as generation:
            yield _migrated(store, generation, slug in layout.names(target) and layout.current(target, slug) == generation.manifest.id)


def _migrated(store: Store, generation: Generation, there: bool) -> Migrated:
    manifest = generation.manifest
    if not there:
        with store.writing(manifest.lineage) as writing, generation.files() as folder, writing.draft() as draft:
            _fill(draft, generation, folder)
    with open_generation(store.shelf or store.home, manifest.lineage, manifest.id) as arrived:
        if _digests(arrived) != _digests(generation):
            raise StoreDamaged(f"{manifest.lineage} is another lineage in {store.shelf or store.home}", hint="`lineage check` says what is damaged")
    return Migrated(manifest.lineage, manifest.id, manifest.content_hash, manifest.counts["chunks"], there)


def _fill(draft: Draft, generation: Generation, folder: Path) -> None:
    """The files of a generation, with a manifest that fits them."""
    with failures(draft.folder):
        for name in (layout.CATALOG, layout.VECTORS):
            if not (folder / name).exists():
                continue
            try:
                os.link(folder / name, draft.folder / name)
            except OSError:
                shutil.copyfile(folder / name, draft.folder / name)
        for name in generation.manifest.files.keys() - {layout.CATALOG, layout.VECTORS}:
            (draft.folder / name).write_bytes(generation.file(name) or b"")
        records = {name: FileRecord(*sha256_of(draft.folder / name)) for name in generation.manifest.files}
        draft.publish(replace(generation.manifest, files=records))


def _digests(generation: Generation) -> tuple[str, ...]:
    """The content hash as it is counted now, and the hashes of the vectors and reports; raises `StoreDamaged`."""
    files = sorted(generation.manifest.files.keys() - {layout.CATALOG})
    return (generation.catalog.content_hash(), *(hashlib.sha256(generation.file(name) or b"").hexdigest() for name in files))
