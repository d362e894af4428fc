"""Which experiment a value or file belongs to, as far as its place says it. Pure.

A paper that gives one detail a value in each of several sibling sections ("CIFAR-10", "ImageNet", "NanoGPT" below
"Experimental Setup") lists experiments: what stands in one of these sections holds there only. Other sections name what
they are about by their titles, unless the title says no more than "Implementation details".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from lineage.catalog.reader import Catalog
from lineage.records import Chunk, FileProfile, WorkId
from lineage.results import FactOccurrence
from lineage.text.tokens import STOP, parts, stem

LEAST = 3
"""Sibling sections with a value of one detail each, from which on they are a list of experiments."""
_PROGRAM = re.compile(r"arg|pars(?:e|er)|option|flag|config|cfg|setting|param|main|cli\b", re.IGNORECASE)
_SAY_NOTHING = (
    "experiment experiments experimental setup set up settings setting details detail implementation training train trained hyper parameters"
    " hyperparameters parameter search additional further more main results result evaluation method methods approach model models modeling"
    " appendix configuration configurations config protocol general overview data datasets dataset baseline baselines default ours proposed"
    " final system args arguments options params get run code module network supplementary optimization procedure"
)
_GENERAL = frozenset(stem(word) for word in _SAY_NOTHING.split())
Section = tuple[str, ...]


def listed(occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId) -> frozenset[Section]:
    """The sections that list experiments, among those in which a target states values."""
    found: set[Section] = set()
    for some in occurrences_by_key.values():
        siblings: dict[Section, set[Section]] = defaultdict(set)
        for section in {occurrence.evidence.chunk.section for occurrence in some if occurrence.fact.work == target}:
            if len(section) > 1 and telling(section[-1]):
                siblings[section[:-1]].add(section)
        found.update(*(leaves for leaves in siblings.values() if len(leaves) >= LEAST))
    return frozenset(found)


def telling(text: str) -> frozenset[str]:
    """The words of a title, scope or path that say which one is meant: "Implementation details" and numbers say nothing."""
    found: set[str] = set()
    for word in re.findall(r"[^\W_]+", text):
        pieces = [stem(piece) for piece in parts(word) if piece not in STOP and len(piece) > 1 and not piece[0].isdigit()]
        said = [piece for piece in pieces if piece not in _GENERAL]
        found.update(said, [stem(word.lower())] if said and len(parts(word)) > 1 else [])  # `SciFact` is `scifact` to others
    return frozenset(found)


def is_parameter(occurrence: FactOccurrence) -> bool:
    """Whether a value is what a function or class of a library takes if its caller says nothing; programs and settings are no library."""
    root = re.split(r"[.:]", occurrence.fact.scope)[0]
    if occurrence.fact.kind != "default" or not root or _PROGRAM.search(root):
        return False
    chunk = occurrence.evidence.chunk
    return root in chunk.symbol.split(".") or bool(re.search(rf"\b(?:class|def)\s+{re.escape(root)}\b", chunk.text))


def is_set(occurrence: FactOccurrence) -> bool:
    """Whether a configuration file or a command sets a value; a dictionary of a program may be a library's defaults."""
    return occurrence.fact.kind in {"config", "command"} and occurrence.evidence.chunk.kind != "code"


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
