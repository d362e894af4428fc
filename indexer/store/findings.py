"""What is wrong in a store: one finding, and the findings of a generation's files against its manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lineage import generation as layout
from lineage.generation import Manifest

HOLDER = ".writer.json"
"""Says who writes a lineage; it outlives only a writer that was killed."""


_BLOCK = 1 << 20


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


def sha256(path: Path) -> str:
    """SHA-256 (hex) of a file."""
    total = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            total.update(block)
    return total.hexdigest()
