"""Which experiment a value or file belongs to, as far as its place says it, and whether two values speak of the same one. Pure.

A paper that gives one detail a value in each of several sibling sections ("CIFAR-10", "ImageNet", "NanoGPT" below
"Experimental Setup") lists experiments: what stands in one of these sections holds there only. Other sections name what
they are about by their titles, unless the title says no more than "Implementation details".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from lineage.catalog.reader import Catalog
from lineage.records import Chunk, FileProfile, FileRole, WorkId
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


@dataclass(frozen=True)
class Experiments:
    """The sections of a target that list experiments."""

    listed: frozenset[Section] = field(default_factory=frozenset)

    @classmethod
    def of(cls, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId) -> Experiments:
        """The lists among the sections in which a target states values."""
        found: set[Section] = set()
        for some in occurrences_by_key.values():
            siblings: dict[Section, set[Section]] = defaultdict(set)
            for section in {occurrence.evidence.chunk.section for occurrence in some if occurrence.fact.work == target}:
                if len(section) > 1 and telling(section[-1]):
                    siblings[section[:-1]].add(section)
            found.update(*(leaves for leaves in siblings.values() if len(leaves) >= LEAST))
        return cls(frozenset(found))

    def together(self, occurrence: FactOccurrence, other: FactOccurrence) -> bool:
        """Whether both may have been used in the same experiment."""
        if not compatible(occurrence.fact.scope, other.fact.scope):
            return False
        if occurrence.evidence.work.kind == other.evidence.work.kind == "paper":
            return self._in_text(occurrence.evidence.chunk.section, other.evidence.chunk.section)
        return self._beside(occurrence, other) and self._beside(other, occurrence)

    def _in_text(self, one: Section, other: Section) -> bool:
        """Whether two sections of a paper are about the same: a list is about its entries one by one, other titles by their words."""
        if one == other:
            return True
        if one in self.listed or other in self.listed:
            return one == other[: len(one)] or other == one[: len(other)]
        titles = [section[-1] if section else "" for section in (one, other)]
        return _open_or_shared(*map(telling, titles)) and _open_or_shared(*map(_numbers, titles))

    def _beside(self, occurrence: FactOccurrence, other: FactOccurrence) -> bool:
        """Whether code names the experiment of a listed section in its path or scope; what is not listed may be anywhere."""
        section = occurrence.evidence.chunk.section
        if occurrence.evidence.work.kind != "paper" or section not in self.listed:
            return True
        return bool(telling(section[-1]) & telling(f"{other.evidence.chunk.path} {other.fact.scope} {other.evidence.chunk.symbol}"))


def telling(text: str) -> frozenset[str]:
    """The words of a title, scope or path that say which one is meant: "Implementation details" and numbers say nothing."""
    found: set[str] = set()
    for word in re.findall(r"[^\W_]+", text):
        pieces = [stem(piece) for piece in parts(word) if piece not in STOP and len(piece) > 1 and not piece[0].isdigit()]
        said = [piece for piece in pieces if piece not in _GENERAL]
        found.update(said, [stem(word.lower())] if said and len(parts(word)) > 1 else [])  # `SciFact` is `scifact` to others
    return frozenset(found)


def _numbers(title: str) -> frozenset[str]:
    """The numbers that a title names, without its own: "Hyperparameters for Section 3.1"."""
    return frozenset(re.findall(r"\d+(?:\.\d+)*", re.sub(r"^\s*(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+(?=\S)", "", title)))


def compatible(one: str, other: str) -> bool:
    """Whether two scopes may mean the same: one is open or says nothing, or they share a word."""
    return _open_or_shared(telling(one), telling(other))


def _open_or_shared(one: frozenset[str], other: frozenset[str]) -> bool:
    return not one or not other or bool(one & other)


def is_parameter(occurrence: FactOccurrence) -> bool:
    """Whether a value is what a function or class of a library takes if its caller says nothing; programs and settings are no library."""
    root = re.split(r"[.:]", occurrence.fact.scope)[0]
    if occurrence.fact.kind != "default" or not root or _PROGRAM.search(root):
        return False
    chunk = occurrence.evidence.chunk
    return root in chunk.symbol.split(".") or bool(re.search(rf"\b(?:class|def)\s+{re.escape(root)}\b", chunk.text))


def settings_of(occurrences: Iterable[FactOccurrence]) -> list[FactOccurrence]:
    """What a program was run with or offers to be run with, without the parameters of its library and without toys."""
    return [occurrence for occurrence in occurrences if not is_parameter(occurrence) and FileRole.EXAMPLE not in occurrence.evidence.roles]


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
