"""Generations on disk: where they lie, what their manifest says, how one is opened.

    HOME/lineages/<slug>/CURRENT                    the name of the generation that readers open
                         decisions.jsonl            what was decided, which outlives generations (`lineage.decisions`)
    HOME/lineages/<slug>/gen/<id>/catalog.db        works, edges, documents, chunks, ledger, lexical index
                                  vectors.npy       float32 (chunks, dim), row = chunk row; absent in a lexical generation
                                  report.json       the report of gaps; again without the target's code; absent in a first tier
                                  settled.json      what works hold of each detail and mechanism; again without the target's code
                                  index.json        what an index of bytes finds of true neighbors, where there are vectors enough for one
                                  manifest.json     hashes and sizes of the others, written last

A generation never changes after its folder has got its name, so a reader that holds one needs no lock and sees
one state, whatever is built meanwhile. Both sides read the layout from here; only `indexer.store.generations` writes it.

Manifest versions: 1, the first.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lineage.catalog.reader import Catalog
from lineage.errors import NotFound, StoreDamaged
from lineage.ids import check_name
from lineage.ports import RowsOfVectors, Vectors
from lineage.records import UNKNOWN, BundleOrigin, Provenance, WorkId
from lineage.sealed import is_known, remember, sealed
from lineage.text.hidden_text import inline

MANIFEST_VERSION = 1
FIRST_TIER = "static-"
"""How the ids of embedders begin whose vectors are those of the words alone."""
CATALOG = "catalog.db"
VECTORS = "vectors.npy"
MANIFEST = "manifest.json"
REPORT, REPORT_WITHOUT = "report.json", "report-without-target-code.json"
SETTLED, SETTLED_WITHOUT = "settled.json", "settled-without-target-code.json"
INDEX = "index.json"
CURRENT = "CURRENT"
DECISIONS = "decisions.jsonl"
REBUILD = "build the lineage again; what was fetched is kept"
_NPY_HEADER = 1 << 16
"""More bytes than the header of a `.npy` file has."""
UNIT = 1e-3
"""How far from one the length of a stored vector may be."""
_ID = re.compile(r"\d{6}-[0-9a-f]{8}\Z")


@dataclass(frozen=True)
class FileRecord:
    """A file of a generation as it was written: its size in bytes and SHA-256 (hex)."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a generation is. `created` is UTC in ISO 8601; `embedder` "" and `dim` 0 mean lexical only.

    `content_hash` is that of `Catalog.content_hash`; `fingerprint` names the inputs and settings it was built from;
    `counts` are rows per table. `provenance` is None in what was made before it was recorded.
    """

    id: str
    lineage: str
    target: str
    created: str
    content_hash: str
    fingerprint: str
    embedder: str
    dim: int
    counts: Mapping[str, int]
    files: Mapping[str, FileRecord]
    version: int = MANIFEST_VERSION
    made_by: str = ""
    provenance: Provenance | None = None

    @property
    def origin(self) -> Provenance:
        """Where it comes from, as far as that was recorded."""
        return self.provenance or UNKNOWN

    @property
    def tier(self) -> Literal["lexical", "static", "dense"]:
        """Which vectors answer beside the words: none, the first tier's (words alone), or a transformer's."""
        if not self.embedder:
            return "lexical"
        return "static" if self.embedder.startswith(FIRST_TIER) else "dense"

    def to_json(self) -> bytes:
        """The file's bytes, with a `seal` over all the rest."""
        return sealed({name: value for name, value in asdict(self).items() if name != "provenance" or value is not None})


@dataclass(frozen=True)
class Damaged:
    """A lineage that cannot be opened, and why."""

    lineage: str
    problem: str


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a generation's folder; raises `StoreDamaged`, also for a version that is not known."""
    path = folder / MANIFEST
    try:
        return manifest_of(path.read_bytes(), str(path))
    except FileNotFoundError as error:
        raise StoreDamaged(f"{path} is missing", hint=REBUILD) from error
    except OSError as error:
        raise StoreDamaged(f"{path} cannot be read: {error}", hint=REBUILD) from error


def manifest_of(content: bytes, path: str) -> Manifest:
    """The manifest in the bytes of a file, called `path` in errors; raises `StoreDamaged`."""
    try:
        value: Any = json.loads(content)
        if value["version"] != MANIFEST_VERSION:
            raise StoreDamaged(f"{path} has format {value['version']}, this program reads format {MANIFEST_VERSION}", hint=REBUILD)
        files = {str(name): FileRecord(int(file_fields["size"]), str(file_fields["sha256"])) for name, file_fields in value["files"].items()}
        counts = {str(name): int(count) for name, count in value["counts"].items()}
        del value["seal"]
        manifest = Manifest(**{**value, "files": files, "counts": counts, "provenance": provenance_of(value.get("provenance"))})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreDamaged(f"{path} cannot be read: {error}", hint=REBUILD) from error
    if manifest.to_json() != content:
        raise StoreDamaged(f"{path} is not what was written", hint=REBUILD)
    return manifest


def provenance_of(value: Mapping[str, Any] | None) -> Provenance | None:
    """Of a manifest's value; None where it has none. Raises `TypeError` and `ValueError` for another shape."""
    if value is None:
        return None
    bundle = value["bundle"]
    return Provenance(**{**value, "bundle": BundleOrigin(**bundle) if bundle else None})


def lineages_folder(home: Path) -> Path:
    """Where the lineages of a store lie."""
    return home / "lineages"


def server_file(home: Path, port: int) -> Path:
    """Where the server on a port says who it is, while it lives."""
    return home / "servers" / f"{port}.json"


def lineage_folder(home: Path, slug: str) -> Path:
    """The folder of one lineage; raises `BadIdentifier` for a name that could leave it."""
    return lineages_folder(home) / check_name(slug)


def generation_folder(home: Path, slug: str, generation: str) -> Path:
    """The folder of one generation; raises `NotFound` for a name that cannot be one."""
    if not _ID.match(generation):
        raise NotFound(f"{generation!r} is not a generation")
    return lineage_folder(home, slug) / "gen" / generation


def names(home: Lineages) -> tuple[str, ...]:
    """Lineages of the store that have a generation, sorted."""
    if not isinstance(home, Path):
        return home.names()
    folder = lineages_folder(home)
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{CURRENT}"))) if folder.is_dir() else ()


def current(home: Lineages, slug: str) -> str:
    """The generation that readers open; raises `NotFound` if the lineage has none, `StoreDamaged` if the pointer is unreadable."""
    if not isinstance(home, Path):
        return home.current(slug)
    path = lineage_folder(home, slug) / CURRENT
    try:
        name = path.read_text(encoding="ascii").strip()
    except FileNotFoundError as error:
        known_names = ", ".join(names(home))
        raise NotFound(
            f"there is no lineage {slug!r} in {home}", hint=f"known: {known_names}" if known_names else "build one: lineage build TARGET"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StoreDamaged(f"{path} cannot be read: {error}", hint=REBUILD) from error
    if not _ID.match(name):
        raise StoreDamaged(f"{path} does not name a generation", hint="`lineage check` lists those that are there")
    return name


@dataclass(frozen=True)
class Generation:
    """An open generation: its manifest, its catalogue, and its vectors, read when they are asked for."""

    manifest: Manifest
    folder: Path
    catalog: Catalog

    @cached_property
    def vectors(self) -> RowsOfVectors | None:
        """The vectors in memory, verified, read once, None in a lexical generation; raises `StoreDamaged`.

        Not mapped: a file that is cut short while it is mapped kills the process that reads on.
        """
        return _vectors(self.folder, self.manifest) if VECTORS in self.manifest.files else None

    @property
    def title(self) -> str:
        """The title of the target without invisible characters."""
        return inline(target.title) if (target := self.catalog.work(WorkId(self.manifest.target))) else ""

    def file(self, name: str) -> bytes | None:
        """A file of it as it was written, None if it has none of that name; raises `StoreDamaged`."""
        record = self.manifest.files.get(name)
        if record is None:
            return None
        data = (self.folder / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != record.sha256:
            raise StoreDamaged(f"{self.folder / name} is not what was written", hint=REBUILD)
        return data

    @contextmanager
    def files(self) -> Iterator[Path]:
        """The folder with its catalogue and vectors, as long as the block lasts."""
        yield self.folder

    def close(self) -> None:
        """Close the catalogue."""
        self.catalog.close()

    def __enter__(self) -> Generation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Hold(Protocol):
    """A lineage of a database, held for writing."""

    def newest(self) -> int:
        """The number at the start of the newest generation's id, 0 if there is none."""

    def publish(self, manifest: Manifest, folder: Path) -> None:
        """Make the finished files in a folder the current generation, or change nothing."""

    def sweep(self, keep: int = 2) -> tuple[str, ...]:
        """Remove older generations without readers; returns their ids."""


class Shelf(Protocol):
    """Where lineages lie that are not in a folder (`lineage.catalog.database`)."""

    def names(self) -> tuple[str, ...]:
        """As `names`."""

    def current(self, slug: str) -> str:
        """As `current`."""

    def open(self, slug: str, generation: str = "") -> Generation:
        """As `open_generation`."""

    def hold(self, slug: str) -> AbstractContextManager[Hold]:
        """The right to write a lineage, as long as the block lasts; raises `StoreBusy`."""


Lineages = Path | Shelf
"""Where lineages lie: below a home folder, or in a database."""


def open_generation(home: Lineages, slug: str, generation: str = "") -> Generation:
    """Open a generation, by default the current one, for reading.

    Checks what is cheap: the manifest, the files' sizes, the formats; vectors are verified when they are read
    (`Store.verify` checks every hash). Raises `NotFound` and `StoreDamaged`.
    """
    if not isinstance(home, Path):
        return home.open(slug, generation)
    name = generation or current(home, slug)
    folder = generation_folder(home, slug, name)
    if not folder.is_dir() and not generation and current(home, slug) != name:
        return open_generation(home, slug)  # switched and swept between the two looks
    if generation and not folder.is_dir():
        raise NotFound(f"lineage {slug!r} has no generation {generation}")
    return open_folder(folder)


def open_folder(folder: Path) -> Generation:
    """Open the generation that lies in `folder`; errors as in `open_generation`."""
    manifest = read_manifest(folder)
    for name, record in manifest.files.items():
        check_size(folder / name, record)
    return open_as(manifest, folder)


def open_as(manifest: Manifest, folder: Path) -> Generation:
    """Open what lies in `folder` as the generation of a manifest that is known to fit."""
    return Generation(manifest, folder, Catalog(folder / CATALOG))


def check_size(path: Path, record: FileRecord) -> None:
    """Raise `StoreDamaged` unless the file is there with the size that was written."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise StoreDamaged(f"{path} is missing", hint=REBUILD) from error
    if size != record.size:
        raise StoreDamaged(f"{path} has {size:,} bytes, {record.size:,} were written", hint=REBUILD)


def _memory(folder: Path) -> Path:
    """Where the store of a generation remembers whose vectors had the hash that was written."""
    return folder.parents[3] / "cache" / f"verified-{folder.parents[1].name}.json"


def _vectors(folder: Path, manifest: Manifest) -> Vectors:
    """The rows of a file of vectors, which has the hash that was written, each of length one."""
    path, record, memory = folder / VECTORS, manifest.files[VECTORS], _memory(folder)
    try:
        with path.open("rb") as handle:
            about = os.fstat(handle.fileno())
            content = handle.read()
        known = is_known(memory, path, about)
        if not known and hashlib.sha256(content).hexdigest() != record.sha256:
            raise ValueError("it is not what was written (SHA-256 differs)")
        array: Vectors = npy_rows(content)
    except (OSError, ValueError) as error:
        raise StoreDamaged(f"{path} cannot be read: {error}", hint=REBUILD) from error
    wanted = (manifest.counts.get("chunks", -1), manifest.dim)
    if array.dtype != np.float32 or array.shape != wanted:
        raise StoreDamaged(f"{path} holds {array.dtype} {array.shape}, float32 {wanted} was written", hint=REBUILD)
    if (row := not_unit(array)) is not None:
        raise StoreDamaged(f"{path}: row {row} is not a unit vector", hint=REBUILD)
    if not known:
        remember(memory, path, about)
    return array


def npy_rows(content: bytes | memoryview) -> NDArray[Any]:
    """The array in the bytes of a `.npy` file, not copied; raises `ValueError`."""
    stream = io.BytesIO(content[:_NPY_HEADER])
    npy.read_magic(stream)
    shape, fortran, dtype = npy.read_array_header_1_0(stream)
    if fortran or dtype.hasobject:
        raise ValueError("no plain array")
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape)


def not_unit(vectors: Vectors) -> int | None:
    """The first row whose length is not one, or None; rows of zeros count as such."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    bad = np.flatnonzero(~(np.abs(squares - 1.0) <= 2 * UNIT))
    return int(bad[0]) if bad.size else None
