"""`lineage check`: verify a generation's files against its manifest. Reads only, deletes nothing.

SQLite notices one flipped bit in three and FAISS fewer, so files carry a hash in the manifest and rows carry
their own: the first says that something is wrong, the second says what.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from indexer.code_links.exclusion_check import losses, stray_blobs, strays
from indexer.store import decision_log
from indexer.store.atomic_files import sha256
from indexer.store.generations import HOLDER, Finding, file_findings
from indexer.transport.cache import read_row
from lineage import generation as layout
from lineage.catalog.keyed import Keyed
from lineage.catalog.reader import Catalog
from lineage.errors import EmbedderMismatch, LineageError, NotFound, StoreDamaged
from lineage.generation import Lineages, Manifest, Shelf
from lineage.ports import Vectors
from lineage.sealed import unsealed

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")

_ROWS = 20_000
MENDED = "it counts as absent and is made or fetched again; `lineage check --repair` does it now"
MENDABLE = {layout.REBUILD, MENDED}
"""Hints of what `lineage check --repair` mends."""
_KEEP_OUT = "build again with the same flags"


def verify(home: Path, slug: str, read_data: bool = False) -> tuple[Finding, ...]:
    """Everything that is wrong with a lineage, nothing if all is well; `read_data` hashes the blobs as well.

    Raises `NotFound` for a lineage that was never built; a damaged one gives findings, not errors.
    """
    return (*check_lineage(home, slug, read_data), *(check_shared(home) if read_data else ()))


def built(home: Lineages) -> tuple[str, ...]:
    """Lineages that have a generation, also those that have lost the pointer to it, sorted."""
    if not isinstance(home, Path):
        return home.names()
    return tuple(sorted({path.parent.parent.name for path in layout.lineages_folder(home).glob("*/gen/[0-9]*")} | set(layout.names(home))))


def check_lineage(home: Path, slug: str, read_data: bool = False) -> tuple[Finding, ...]:
    """The same without the blobs, which all lineages of a home share."""
    findings: list[Finding] = []
    try:
        name = layout.current(home, slug)
    except NotFound:
        if slug not in built(home):
            raise
        if _never_committed(layout.lineage_folder(home, slug)):
            return ()
        findings.append(Finding(str(layout.lineage_folder(home, slug) / layout.CURRENT), "is missing"))
        name = ""
    except LineageError as error:
        findings.append(Finding(str(layout.lineage_folder(home, slug) / layout.CURRENT), str(error)))
        name = ""
    if name and (pointer := layout.lineage_folder(home, slug) / layout.CURRENT).read_bytes() != f"{name}\n".encode():
        findings.append(Finding(str(pointer), "is not what was written"))
    for folder in sorted((layout.lineage_folder(home, slug) / "gen").glob("[0-9]*")):
        findings.extend(check_generation(folder))
        if folder.name == name:
            name = ""
    if name:
        findings.append(Finding(str(layout.lineage_folder(home, slug) / layout.CURRENT), f"points to generation {name}, which is not there"))
    else:
        findings.extend(_stray_blobs(home, slug, read_data))
    log = layout.lineage_folder(home, slug) / layout.DECISIONS
    findings.extend(Finding(str(log), problem, hint="the other entries count; decide again what is missing") for problem in _log_problems(home, slug))
    return tuple(findings)


def check_stored(shelf: Shelf, slug: str) -> Iterator[Finding]:
    """What is wrong with the current generation of a lineage in a database; raises `StoreUnreachable` and `NotFound`."""
    place = f"{shelf}: {slug}"
    try:
        with shelf.open(slug) as generation:
            yield from _row_findings(generation.catalog, generation.manifest, place)
            for name in generation.manifest.files:
                generation.file(name)
    except (StoreDamaged, EmbedderMismatch, ValueError, LookupError, TypeError) as error:
        yield Finding(place, str(error))


def _log_problems(home: Path, slug: str) -> tuple[str, ...]:
    try:
        return decision_log.read(home, slug).problems
    except LineageError as error:
        return (str(error),)


def _never_committed(folder: Path) -> bool:
    """Whether the first build of a lineage was killed before its commit: its writer's note is still there, and one generation at most."""
    return (folder / HOLDER).is_file() and len(list((folder / "gen").glob("[0-9]*"))) <= 1


def _stray_blobs(home: Path, slug: str, read_data: bool) -> Iterator[Finding]:
    """What a lineage was to keep out and the store holds; where the catalogue cannot be read, it has been said already."""
    with contextlib.suppress(LineageError):
        yield from (Finding(str(path), problem, hint="remove that file") for path, problem in stray_blobs(home, slug, read_data=read_data))


def check_generation(folder: Path) -> Iterator[Finding]:
    """What is wrong with one generation."""
    try:
        manifest = layout.read_manifest(folder)
    except LineageError as error:
        yield Finding(str(folder / layout.MANIFEST), str(error))
        return
    if manifest.id != folder.name:
        yield Finding(str(folder), f"holds generation {manifest.id}")
    damaged = tuple(file_findings(folder, manifest))
    yield from damaged
    strangers = {path.name for path in folder.iterdir()} - {*manifest.files, layout.MANIFEST}
    for name in sorted(strangers):
        yield Finding(str(folder / name), "is not in the manifest", hint="it is not used; remove it if it is not yours")
    yield from _catalog_findings(folder, manifest, whole=not damaged)


def _catalog_findings(folder: Path, manifest: Manifest, whole: bool) -> Iterator[Finding]:
    path = folder / layout.CATALOG
    if not path.is_file():
        return
    try:
        with closing(Catalog(path)) as catalog:
            yield from _row_findings(catalog, manifest, str(path))
            chunks = catalog.counts()["chunks"]
        if whole and layout.VECTORS in manifest.files:
            yield from vector_findings(folder / layout.VECTORS, chunks, manifest.dim)
    except (LineageError, ValueError, LookupError, TypeError) as error:  # rows that rotted fit no type any more
        yield Finding(str(path), f"cannot be read: {error}")


def _row_findings(catalog: Catalog, manifest: Manifest, place: str) -> Iterator[Finding]:
    """What is wrong with the rows of a catalogue."""
    yield from (Finding(place, words) for words in catalog.damage())
    if (counts := catalog.counts()) != dict(manifest.counts):
        yield Finding(place, f"has {counts} rows, the manifest says {dict(manifest.counts)}")
    if catalog.content_hash() != manifest.content_hash:
        yield Finding(place, "its content hash is not that of the manifest")
    yield from (Finding(place, words, hint=_KEEP_OUT) for words in (*strays(catalog), *losses(catalog)))


def vector_findings(path: Path, chunks: int, dim: int) -> Iterator[Finding]:
    """What is wrong with stored vectors: shape, rows that are not finite or not of length one."""
    try:
        vectors: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        yield Finding(str(path), f"cannot be read: {error}")
        return
    if vectors.shape != (chunks, dim) or vectors.dtype != np.float32:
        yield Finding(str(path), f"holds {vectors.dtype} {vectors.shape} for {chunks} chunks of dimension {dim}")
        return
    for start in range(0, chunks, _ROWS):
        lengths = np.linalg.norm(vectors[start : start + _ROWS], axis=1)
        bad = np.flatnonzero(~(np.abs(lengths - 1.0) <= layout.UNIT))
        if bad.size:
            yield Finding(str(path), f"{bad.size} rows are not unit vectors, the first is row {start + int(bad[0])}")


def check_shared(home: Path) -> Iterator[Finding]:
    """What is wrong with the files that all lineages of a home share: raw bytes, remembered answers, caches, paces."""
    yield from (Finding(str(path), "is not what its name says (SHA-256 differs)", hint=MENDED) for path in damaged_blobs(home))
    yield from (Finding(str(path), "is not what was written", hint=MENDED) for path in damaged_notes(home))
    for path in cache_files(home):
        yield from (Finding(str(path), words, hint=MENDED) for words in Keyed(path).damage())


def damaged_blobs(home: Path) -> Iterator[Path]:
    """Raw bytes that are not what their name says."""
    yield from (path for path in sorted((home / "blobs").glob("??/*")) if _SHA256.match(path.name) and sha256(path) != path.name)


def damaged_notes(home: Path) -> Iterator[Path]:
    """Sealed files outside of lineages that are not what was written: remembered answers, and when each service was last asked."""
    for path in sorted((home / "requests").glob("??/*.json")):
        if not _is_intact(path, read_row) or path.stem[:2] != path.parent.name:
            yield path
    yield from (path for path in sorted((home / "politeness").glob("*.json")) if not _is_intact(path, unsealed))


def _is_intact(path: Path, read: Callable[[bytes], object]) -> bool:
    try:
        read(path.read_bytes())
    except FileNotFoundError:
        return True  # its owner has just replaced it
    except (OSError, ValueError):
        return False
    return True


def cache_files(home: Path) -> tuple[Path, ...]:
    """The tables of what was computed once."""
    return tuple(sorted((home / "cache").glob("*.db")))
