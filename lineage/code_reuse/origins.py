"""From which repositories code says that it comes, in READMEs and beside the code, so that a common origin is not taken for a copy. Pure.

Two repositories that adapted one script of a third have functions in common, and neither has them from the other. The
third is often a library that no lineage holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.hyperparameters.terms import fold
from lineage.records import Document, WorkId

HEAD = 2000
"""Characters of a file in which it says where it comes from."""
_TAKEN = re.compile(
    r"\b(?:adapt(?:ed|s)|based (?:up)?on|borrow(?:ed|s)|buil(?:d|ds|ding|t) (?:up)?on|copied|derive[ds]|fork(?:ed)?|modified|ported|taken)\b",
    re.IGNORECASE,
)
_AFTER = 300
_REPOSITORY = re.compile(r"(?<![\w.-])github\.com/([\w.-]{1,60})/([\w.-]{1,100})", re.IGNORECASE)


class Said(NamedTuple):
    """OWNER/NAME that code is said to come from, and the words of it."""

    origin: str
    words: str


@dataclass(frozen=True)
class Origins:
    """What is said of where code comes from: by README of a work, by the head of a file; `named` are all repositories that a work names."""

    stored: frozenset[str] = frozenset()
    works: Mapping[WorkId, frozenset[Said]] = field(default_factory=dict)
    files: Mapping[tuple[WorkId, str], frozenset[Said]] = field(default_factory=dict)
    named: Mapping[WorkId, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Origins:
        """What the documents of repositories say."""
        stored: set[str] = set()
        works: dict[WorkId, frozenset[Said]] = {}
        files: dict[tuple[WorkId, str], frozenset[Said]] = {}
        named: dict[WorkId, frozenset[str]] = {}
        for document in documents:
            stored.add(_name(document.work))
            if is_readme(document.path):
                works[document.work] = works.get(document.work, _NONE) | {*taken(document.text)}
                named[document.work] = named.get(document.work, frozenset()) | {_written(match) for match in _REPOSITORY.finditer(document.text)}
            elif document.kind == "code" and (saids := frozenset(taken(document.text[:HEAD]))):
                files[document.work, document.path] = saids
        return cls(frozenset(stored), works, files, named)

    def common(self, source: WorkId, path: str, taker: WorkId, taken_path: str) -> str:
        """The repository that both have a file from, "" if nothing says so: one that is not stored, of a taker that does not name the source.

        What both say in the same words came with the copy.
        """
        mine, theirs = self.files.get((taker, taken_path), _NONE), self.files.get((source, path), _NONE)
        if _name(source) in {*(shared_origin.origin for shared_origin in mine), *self.named.get(taker, ())}:
            return ""
        mine, theirs = mine | self.works.get(taker, _NONE), theirs | self.works.get(source, _NONE)
        copied = {shared_origin.origin for shared_origin in mine & theirs}
        both = {shared_origin.origin for shared_origin in mine} & {shared_origin.origin for shared_origin in theirs}
        return min(both - copied - self.stored, default="")


_NONE: frozenset[Said] = frozenset()


def is_readme(path: str) -> bool:
    """Whether a file introduces its repository."""
    return "/" not in path and path.lower().startswith("readme")


def taken(text: str) -> Iterator[Said]:
    """Each repository that a text says something was taken from, in the paragraph that says so."""
    for match in _TAKEN.finditer(text):
        after = text[match.end() : match.end() + _AFTER].partition("\n\n")[0]
        yield from (Said(_written(origin_match), fold(match[0] + after[: origin_match.end()])) for origin_match in _REPOSITORY.finditer(after))


def _written(match: re.Match[str]) -> str:
    return f"{match[1]}/{match[2].removesuffix('.git').rstrip('.')}".lower()


def _name(work: WorkId) -> str:
    return "/".join(work.lower().split("/")[-2:])
