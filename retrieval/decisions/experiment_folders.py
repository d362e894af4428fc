"""Which files of the target's own code belong to experiments of their own, as the profiles of its repositories say. Pure.

The programs at a repository's root are what its paper does unless it says otherwise; what stands in such a folder
(`other_tasks/DINO`) holds for the experiment that the folder is named after.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from lineage.catalog.reader import Catalog
from lineage.records import Chunk, FileProfile, WorkId
from lineage.results import FactOccurrence


@dataclass(frozen=True)
class Folders:
    """The folders that are an experiment each, with their repository."""

    found: frozenset[tuple[WorkId, str]] = frozenset()

    @classmethod
    def of_files(cls, files: Iterable[FileProfile | None]) -> Folders:
        """The folders that some files belong to."""
        return cls(frozenset((file.work, file.experiment) for file in files if file and file.experiment))

    @classmethod
    def read(cls, catalog: Catalog, works: Iterable[WorkId]) -> Folders:
        """The folders of some repositories."""
        return cls.of_files(file for work in works for file in catalog.files(work).values())

    def of(self, occurrence: FactOccurrence) -> str:
        """The name of the experiment that a fact of the code belongs to, "" for what the root program does."""
        return self.holding(occurrence.evidence.chunk)

    def holding(self, chunk: Chunk) -> str:
        """The name of the experiment that a piece of code belongs to, "" for what the root program does."""
        return next((path.name for path in PurePosixPath(chunk.path).parents if (chunk.work, str(path)) in self.found), "")

    def named(self, text: str) -> frozenset[str]:
        """The experiments that a text names: `wav2vec2` as "wav2vec 2.0"."""
        return frozenset(name for name, pattern in self._patterns.items() if pattern.search(text))

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        names = {PurePosixPath(path).name for _, path in self.found}
        pieces = {name: "[ ._-]?".join(re.findall(r"[A-Za-z]{1,40}|\d{1,9}", name)) for name in names}
        return {name: re.compile(rf"(?<![A-Za-z]){said}(?![A-Za-z])", re.IGNORECASE) for name, said in pieces.items() if said}
