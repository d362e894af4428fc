"""Which files of the target's own code belong to experiments of their own: sibling folders, each with its own program or commands. Pure.

The programs at a repository's root are what its paper does unless it says otherwise; what stands in such a folder
(`other_tasks/DINO`) holds for the experiment that the folder is named after.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from lineage.catalog.reader import Catalog
from lineage.records import Chunk, WorkId
from lineage.results import FactOccurrence
from lineage.text.tokens import parts
from retrieval.decisions.setting_words import setting_words

_PROGRAMS = frozenset(("train", "trainer", "training", "pretrain", "finetune", "main", "run"))
_RUN = re.compile(r"\b(?:python3?|torchrun|accelerate launch|deepspeed|srun|bash|fairseq-[\w-]{1,40})\s")
_WITHIN = "src script scripts tool tools config configs doc docs util utils eval evaluation train test"
_PARTS = frozenset(_WITHIN.split())
"""Folders that are parts of one program."""


@dataclass(frozen=True)
class Folders:
    """The folders that are an experiment each, with their repository."""

    found: frozenset[tuple[WorkId, str]] = frozenset()

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


def folders(code: Iterable[Chunk]) -> Folders:
    """The experiments beside a program at the root; none where there is no such program, for then none is the default."""
    return _folders((chunk.work, PurePosixPath(chunk.path), chunk.text) for chunk in code)


def folders_of(catalog: Catalog, works: Iterable[WorkId]) -> Folders:
    """The same of the files of some repositories."""
    paths = [(work, PurePosixPath(stored_document.path)) for work in works for stored_document in catalog.documents(work)]
    return _folders((work, path, (catalog.document_text(work, str(path)) or "") if _is_readme(path) else "") for work, path in paths)


def _folders(files: Iterable[tuple[WorkId, PurePosixPath, str]]) -> Folders:
    rooted: set[WorkId] = set()
    own: dict[tuple[WorkId, str], set[str]] = defaultdict(set)
    for work, place, text in files:
        if _is_program(place) and len(place.parts) == 1:
            rooted.add(work)
        elif _is_home(place, text):
            own[work, str(place.parent.parent)].add(str(place.parent))
    return Folders(frozenset((work, path) for (work, _), some in own.items() if work in rooted and len(some) > 1 for path in some))


def _is_program(place: PurePosixPath) -> bool:
    return place.suffix in {".py", ".sh"} and not _PROGRAMS.isdisjoint(parts(place.stem))


def _is_readme(place: PurePosixPath) -> bool:
    return place.stem.lower() == "readme"


def _is_home(place: PurePosixPath, text: str) -> bool:
    """Whether a file shows that its folder is run by itself: a program, or a README with commands."""
    if len(place.parts) < 2 or place.parent.name.lower() in _PARTS | setting_words().folders:
        return False
    return (len(place.parts) > 2 and _is_program(place)) or (_is_readme(place) and _RUN.search(text) is not None)
