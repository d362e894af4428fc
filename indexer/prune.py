"""What no lineage of a home refers to: answers of services and their bytes that no build would read again.

Each build is gone through once more, offline, and what it reads is kept, as for a lock file. What came within the last day may be of a
build that is under way, and stays.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexer.build_context import BuildContext
from indexer.lock.record import Tape
from indexer.pipeline import gathered
from indexer.plan import BuildRequest
from lineage.errors import UsageError
from lineage.generation import open_generation

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
