"""Generations: staged, hashed, renamed, then made current. The only writer of a lineage's folder.

    lock -> gen/.tmp-*/ catalog.db, vectors.npy -> manifest.json -> rename to gen/<id> -> rename CURRENT

The rename of CURRENT is the sole commit point (as borg's archive pointer and Lucene's `segments_N` are). A process
that dies before it leaves a folder that nobody reads; `sweep` removes it later, never while its writer lives.
The lock is the operating system's (it ends with its holder, so there are no stale ones); what is written into
the file only says who holds it.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from numpy.lib import format as npy

from indexer.store.atomic_files import fsync_folder, note_process, noted_process, remains, sha256, sha256_of, write_whole
from lineage import generation as layout
from lineage.catalog.reader import Catalog
from lineage.catalog.writer import CatalogWriter
from lineage.errors import StoreBusy, StoreDamaged, StoreError, failures
from lineage.generation import FileRecord, Generation, Hold, Manifest, Shelf
from lineage.ports import Vectors
from lineage.records import Chunk, Provenance

HOLDER = ".writer.json"
"""Says who writes a lineage; it outlives only a writer that was killed."""


@dataclass(frozen=True)
class Finding:
    """Something wrong: where it lies, what it is, what to do about it."""

    place: str
    problem: str
    hint: str = layout.REBUILD


def file_findings(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    """Files of a generation that are not what its manifest says, by size and hash."""
    for name in sorted({layout.CATALOG, *manifest.files}):
        if problem := _file_problem(folder / name, manifest):
            yield Finding(str(folder / name), problem)


def _file_problem(path: Path, manifest: Manifest) -> str:
    record = manifest.files.get(path.name)
    if record is None:
        return "is not in the manifest"
    try:
        if (size := path.stat().st_size) != record.size:
            return f"has {size:,} bytes, {record.size:,} were written"
        return "" if sha256(path) == record.sha256 else "is not what was written (SHA-256 differs)"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


_LOCK = ".writing"
_DRAFT = ".tmp-"
_DAY = 86_400.0


class Store:
    """The lineages of one home folder, or of the database `shelf`; what is not finished lies in the folder. Making one touches nothing."""

    def __init__(self, home: Path, shelf: Shelf | None = None) -> None:
        self.home = home
        self.shelf = shelf

    def lineages(self) -> tuple[str, ...]:
        """Lineages that have a generation, sorted."""
        return layout.names(self.shelf or self.home)

    def manifest(self, slug: str) -> Manifest:
        """The manifest of the current generation, whose files are as it says; raises `NotFound` and `StoreDamaged`."""
        if self.shelf:
            with self.shelf.open(slug) as generation:
                return generation.manifest
        folder = layout.generation_folder(self.home, slug, layout.current(self.home, slug))
        manifest = layout.read_manifest(folder)
        for finding in file_findings(folder, manifest):
            raise StoreDamaged(f"{finding.place} {finding.problem}", hint=finding.hint)
        return manifest

    @contextmanager
    def writing(self, slug: str) -> Iterator[Writing]:
        """Hold the lineage for writing; raises `StoreBusy` naming the process that has it, `SettingsError` for a folder that cannot be used."""
        folder = layout.lineage_folder(self.home, slug)
        with failures(folder):
            (folder / "gen").mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / _LOCK)
            try:
                lock.acquire(blocking=False)
            except Timeout as error:
                hint = "wait for it to end, or use --name for another one"
                raise StoreBusy(f"lineage {slug!r} is being written by {noted_process(folder / HOLDER) or 'another process'}", hint=hint) from error
        try:
            with failures(folder):
                note_process(folder / HOLDER)
            with self.shelf.hold(slug) if self.shelf else nullcontext() as hold:
                yield Writing(self.home, slug, hold)
        finally:
            (folder / HOLDER).unlink(missing_ok=True)
            lock.release()


@dataclass(frozen=True)
class Writing:
    """The right to write one lineage, for as long as the `with` block lasts."""

    home: Path
    slug: str
    hold: Hold | None = None

    def tidy(self) -> None:
        """Remove leftovers of crashed writers: drafts of this lineage at once, other files after a day."""
        folder = layout.lineage_folder(self.home, self.slug)
        with failures(folder):
            for draft in (folder / "gen").glob(f"{_DRAFT}*"):
                shutil.rmtree(draft, ignore_errors=True)
            places = (folder, *(self.home / name for name in ("blobs", "requests", "cache", "politeness")))
            for path in (path for place in places for path in remains(place, 0 if place is folder else _DAY)):
                path.unlink(missing_ok=True)

    def sweep(self, keep: int = 2) -> tuple[str, ...]:
        """Remove all generations but the current and the newest `keep`; gives the names removed.

        Readers that have a removed generation open keep it until they close it (on POSIX; elsewhere it stays).
        """
        if self.hold:
            return self.hold.sweep(keep)
        folder = layout.lineage_folder(self.home, self.slug) / "gen"
        there = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        kept_generations = {layout.current(self.home, self.slug), *there[-keep:]} if (folder.parent / layout.CURRENT).exists() else set(there)
        gone = tuple(name for name in there if name not in kept_generations)
        for name in gone:
            shutil.rmtree(folder / name, ignore_errors=True)
        return gone

    @contextmanager
    def draft(self) -> Iterator[Draft]:
        """A generation in the making; unless `commit` was reached, nothing of it stays."""
        folder = layout.lineage_folder(self.home, self.slug) / "gen" / f"{_DRAFT}{os.getpid()}-{secrets.token_hex(4)}"
        with failures(folder):
            folder.mkdir()
        try:
            yield Draft(self.home, self.slug, folder, self.hold)
        finally:
            if folder.exists():
                shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Draft:
    """A generation in the making: fill `catalog()`, perhaps `vectors(...)`, then `commit(...)`."""

    home: Path
    slug: str
    folder: Path
    hold: Hold | None = None
    _model: tuple[str, int] = field(default=("", 0), init=False)
    _content: tuple[str, Mapping[str, int]] | None = field(default=None, init=False)

    def catalog(self, former: Generation | None = None, read_by: str = "") -> CatalogWriter:
        """The catalogue to fill, out of a former generation's where documents were `read_by` the same; call its `finish` before `commit`."""
        with former.files() if former else nullcontext() as folder:
            return CatalogWriter(self.folder / layout.CATALOG, folder / layout.CATALOG if folder else None, read_by)

    def chunks(self) -> list[Chunk]:
        """Every chunk of the finished catalogue, by row."""
        with Catalog(self.folder / layout.CATALOG) as catalog:
            return catalog.chunks(catalog.rows().tolist())

    def take(self, folder: Path, manifest: Manifest | None = None) -> None:
        """Take over the finished catalogue that lies in a folder, and the vectors and content of a generation's `manifest`."""
        for name in (layout.CATALOG, *([layout.VECTORS] if manifest and manifest.embedder else [])):
            with failures(self.folder / name):
                try:
                    os.link(folder / name, self.folder / name)
                except OSError:
                    shutil.copyfile(folder / name, self.folder / name)
        if manifest:
            self._model, self._content = (manifest.embedder, manifest.dim), (manifest.content_hash, manifest.counts)

    def vectors(self, vectors: Vectors, embedder: str) -> None:
        """Keep the chunks' vectors, (chunks, dim) float32 in the order of their rows, made by the embedder of that id, in place of any others."""
        path = self.folder / layout.VECTORS
        path.unlink(missing_ok=True)
        with failures(path), path.open("xb") as handle:
            array = np.ascontiguousarray(vectors, dtype=np.float32)
            npy.write_array_header_1_0(handle, npy.header_data_from_array_1_0(array))
            handle.write(array.data)  # as np.save does, which does not say why a write fails
        self._model = (embedder, int(vectors.shape[1]))

    def commit(
        self,
        *,
        target: str,
        fingerprint: str,
        made_by: str = "",
        provenance: Provenance | None = None,
        reports: Callable[[Generation], Mapping[str, bytes]] | None = None,
    ) -> Manifest:
        """Hash, make durable, give the name and point CURRENT to it; gives the manifest. `reports` makes further files to be kept.

        Raises `DiskFull`, `SettingsError` or `StoreError`; then the former generation is still the current one.
        """
        with failures(self.folder):
            manifest = replace(self._manifest(target, fingerprint, made_by), provenance=provenance)
            if reports:
                manifest = self._with_reports(manifest, reports)
            self.publish(manifest)
        return manifest

    def publish(self, manifest: Manifest) -> None:
        """Make the finished files the current generation; raises `OSError`, and the errors of a database."""
        if self.hold:
            self.hold.publish(manifest, self.folder)
            return
        write_whole(self.folder / layout.MANIFEST, manifest.to_json())
        for path in self.folder.iterdir():
            path.chmod(0o400)
        fsync_folder(self.folder)
        final = layout.generation_folder(self.home, self.slug, manifest.id)
        self.folder.rename(final)
        fsync_folder(final.parent)
        write_whole(layout.lineage_folder(self.home, self.slug) / layout.CURRENT, manifest.id.encode() + b"\n")

    def _with_reports(self, manifest: Manifest, reports: Callable[[Generation], Mapping[str, bytes]]) -> Manifest:
        with layout.open_as(manifest, self.folder) as generation:
            made = reports(generation)
        for name, data in made.items():
            write_whole(self.folder / name, data)
        records = {name: FileRecord(*sha256_of(self.folder / name)) for name in made}
        return replace(manifest, files={**manifest.files, **records})

    def _manifest(self, target: str, fingerprint: str, made_by: str) -> Manifest:
        content, counts = self._content or self._counted()
        self._check_vectors(counts["chunks"])
        files = {path.name: FileRecord(*sha256_of(path)) for path in sorted(self.folder.iterdir()) if path.name in {layout.CATALOG, layout.VECTORS}}
        return Manifest(
            id=f"{self._next():06d}-{content[:8]}",
            lineage=self.slug,
            target=target,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            content_hash=content,
            fingerprint=fingerprint,
            embedder=self._model[0],
            dim=self._model[1],
            counts=counts,
            files=files,
            made_by=made_by,
        )

    def _counted(self) -> tuple[str, Mapping[str, int]]:
        with Catalog(self.folder / layout.CATALOG) as catalog:
            return catalog.content_hash(), catalog.counts()

    def _check_vectors(self, chunks: int) -> None:
        path = self.folder / layout.VECTORS
        if path.exists() and np.load(path, mmap_mode="r", allow_pickle=False).shape != (chunks, self._model[1]):
            raise StoreError(f"{chunks} chunks need as many vectors")

    def _next(self) -> int:
        if self.hold:
            return 1 + self.hold.newest()
        folder = self.folder.parent
        return 1 + max((int(path.name[:6]) for path in folder.iterdir() if path.name[:6].isdigit()), default=0)
