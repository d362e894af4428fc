"""Upkeep of a store: `lineage check --repair` fetches or computes again what is damaged, `lineage prune` removes what no lineage reads.

To repair, raw bytes are fetched anew from where they came; remembered answers, caches and paces that are damaged are taken out, since
they count as absent anyway; CURRENT is pointed to the newest whole generation, and a lineage without one is built again. To prune, each
build is gone through once more, offline, and what it reads is kept, as for a lock file. What came within the last day may be of a build
that is under way, and stays.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.build_context import BuildContext
from indexer.pipeline import build, gathered
from indexer.plan import BuildRequest
from indexer.store import verify
from indexer.store.atomic_files import write_whole
from indexer.transport.cache import read_row
from indexer.transport.dial import Kind
from lineage import generation as layout
from lineage.catalog.keyed import Keyed
from lineage.catalog.reader import Catalog
from lineage.errors import LineageError, NotFound, SourceError, UsageError
from lineage.generation import open_generation

if TYPE_CHECKING:
    from indexer.lock.record import Tape

_DAY = 86_400.0
_HEX = 64
"""Characters of the name of what is whole."""


@dataclass(frozen=True)
class Pruned:
    """How many answers of services and files of bytes no lineage refers to, how many bytes they are together, and whether they were removed."""

    lineages: int
    answers: int
    blobs: int
    bytes: int
    removed: bool


def prune(bench: BuildContext, tape: Tape, *, remove: bool) -> Pruned:
    """Count what no lineage refers to, and `remove` it; `bench` is offline and made of the tape's tools.

    Raises `UsageError` where a lineage would come out otherwise now, so that it cannot be told what it reads.
    """
    home, kept = bench.settings.home, set[str]()
    names = bench.store.lineages()
    for name in names:
        kept.update(_blobs_of(bench, name))
    kept.update(answer.blob.sha256 for _, answer in tape.answers.values())
    answers = list(_old(path for path in home.glob("requests/*/*.json") if path.stem not in tape.answers))
    blobs = list(_old(path for path in home.glob("blobs/*/*") if len(path.name) == _HEX and path.name not in kept))
    size = sum(path.stat().st_size for path in (*answers, *blobs))
    for path in (*answers, *blobs) if remove else ():
        path.unlink(missing_ok=True)
    return Pruned(len(names), len(answers), len(blobs), size, remove)


def _blobs_of(bench: BuildContext, name: str) -> Iterator[str]:
    """The bytes that a lineage's documents were read from; the tape notes what else its build reads."""
    with open_generation(bench.store.shelf or bench.store.home, name) as generation:
        yield from (document.blob for document in generation.catalog.documents())
        if generation.manifest.fingerprint.startswith("bundle:"):
            return
        request = BuildRequest.from_meta(generation.catalog.meta()["request"])
        if not request.target or gathered(bench, request)[1] != generation.manifest.fingerprint:
            words = f"{name} would come out otherwise now, so what it reads cannot be told, and nothing was removed"
            raise UsageError(words, hint="build it again, then prune")


def _old(paths: Iterator[Path]) -> Iterator[Path]:
    before = time.time() - _DAY
    return (path for path in paths if path.stat().st_mtime < before)


@dataclass(frozen=True)
class Repair:
    """Something that was damaged, and what was done about it."""

    place: str
    done: str


def repair(bench: BuildContext, lineages: tuple[str, ...]) -> tuple[Repair, ...]:
    """Repair the shared files of a home, then these lineages; what cannot be repaired is still found by `check`."""
    return (*_shared(bench), *(step for name in lineages for step in _lineage(bench, name)))


def _shared(bench: BuildContext) -> Iterator[Repair]:
    home = bench.settings.home
    for path in [*verify.damaged_notes(home)]:
        path.unlink(missing_ok=True)
        yield Repair(str(path), "removed; it is asked again when it is needed")
    origins = _origins(home) if (damaged := [*verify.damaged_blobs(home)]) else {}
    for path in damaged:
        path.replace(path.with_suffix(".damaged"))
        yield Repair(str(path), _fetched(bench, origins.get(path.name), path.name))
    for path in verify.cache_files(home):
        cache = Keyed(path)
        if any(cache.damage()):
            cache.forget_damaged()
            yield Repair(str(path), "what was damaged was taken out; it is computed again")
        cache.close()


def _origins(home: Path) -> dict[str, dict[str, Any]]:
    """By hash, the remembered answer whose body it is."""
    rows = (read_row(path.read_bytes()) for path in sorted((home / "requests").glob("??/*.json")))
    return {str(row["sha256"]): row for row in rows if row.get("status") == 200}


def _fetched(bench: BuildContext, row: dict[str, Any] | None, sha256: str) -> str:
    if row is None or row.get("method") != "GET":
        return "set aside; nothing says where it came from" if row is None else "set aside; it is asked again when it is needed"
    try:
        answer = bench.transport.get(str(row["asked"]), accept=_kind(row), max_bytes=max(bench.settings.max_tarball, int(row["size"])))
    except SourceError as error:
        return f"set aside, but could not be fetched again: {error}"
    return "fetched again" if answer.blob.sha256 == sha256 else f"fetched again; {row['url']} holds something else now"


def _kind(row: dict[str, Any]) -> Kind:
    media, url = str(row["media_type"]), str(row["asked"])
    return "json" if "json" in media else "atom" if "atom" in media or "/api/query" in url else "file"


def _lineage(bench: BuildContext, name: str) -> Iterator[Repair]:
    """Point CURRENT to a whole generation, building one if there is none, and remove the damaged ones."""
    if bench.store.shelf:
        return  # a transaction leaves nothing half done; what has rotted since is built anew
    home = bench.settings.home
    folder = layout.lineage_folder(home, name)
    there = sorted((folder / "gen").glob("[0-9]*"))
    damaged = [path for path in there if any(finding.hint in verify.MENDABLE for finding in verify.check_generation(path))]
    whole = [path.name for path in there if path not in damaged]
    try:
        current = layout.current(home, name)
    except LineageError:
        current = ""
    if current not in whole:
        if not whole:
            yield _rebuilt(bench, name, damaged)
            return
        with bench.store.writing(name):
            write_whole(folder / layout.CURRENT, whole[-1].encode() + b"\n")
        yield Repair(str(folder / layout.CURRENT), f"points to generation {whole[-1]} now, the newest whole one")
    yield from _removed(damaged)


def _rebuilt(bench: BuildContext, name: str, damaged: list[Path]) -> Repair:
    request = next(filter(None, map(_request, reversed(damaged))), None)
    if request is None:
        raise NotFound(f"no generation of {name!r} still records what it was built from", hint=layout.REBUILD)
    made = build(bench, BuildRequest.from_meta({**request, "name": name}))
    list(_removed([path for path in damaged if path.name != made.generation]))
    return Repair(str(layout.lineage_folder(bench.settings.home, name)), f"built again, generation {made.generation}")


def _request(folder: Path) -> dict[str, Any] | None:
    try:
        with Catalog(folder / layout.CATALOG) as catalog:
            request = catalog.meta().get("request")
    except LineageError:
        return None
    return request if isinstance(request, dict) else None


def _removed(damaged: list[Path]) -> Iterator[Repair]:
    for path in damaged:
        shutil.rmtree(path, ignore_errors=True)
        yield Repair(str(path), "removed; it was damaged, and another generation is current")
