"""A document as the child process that parsed it hands it back: where its chunks are, and what it states, by lines. Records only."""

from __future__ import annotations

from dataclasses import dataclass

from lineage.errors import ParseError
from lineage.hyperparameters.mechanisms import kinds
from lineage.records import Document, Fact, FactKind, Setting, Status

MOST_CHUNKS = 1_000_000
"""Of a document that no budget bounds."""
MOST_FACTS, MOST_OF_A_KIND = 600, 25
"""Facts, and mechanisms of one kind, of one document; a file with more is data, and the document says so."""


@dataclass(frozen=True)
class Bounds:
    """A chunk as it crosses the border of the parser's process: without what its document says."""

    start: int
    end: int
    start_line: int
    end_line: int
    role: str
    header: str
    symbol: str = ""
    section: tuple[str, ...] = ()
    page: int | None = None
    box: tuple[float, float, float, float] | None = None
    label: str = ""


@dataclass(frozen=True)
class ExtractedFact:
    """A fact of one document, before its chunk is known; `line` counts from 1."""

    line: int
    name: str
    value: str
    unit: str
    kind: FactKind
    written: str
    said: str
    scope: str = ""
    literal: bool = True


@dataclass(frozen=True)
class RawSetting:
    """A name with the literal that it is given, both as written; `scope` is the group, class or program that it belongs to."""

    line: int
    name: str
    value: str
    kind: FactKind
    scope: str = ""


@dataclass(frozen=True, order=True)
class MechanismFact:
    """A statement that decides something: its lines, the kind, the words that told it (`how`), the code in one line, the function around it."""

    line: int
    end_line: int
    name: str
    value: str
    written: str
    how: str
    scope: str


@dataclass(frozen=True)
class Stated:
    """What a document states, by lines: no chunk is known yet."""

    facts: tuple[ExtractedFact, ...] = ()
    settings: tuple[RawSetting, ...] = ()
    mechanisms: tuple[MechanismFact, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Extracted:
    """Facts of a document, in the order of its text, what is to be said of how they were read, and the mechanisms and settings of its code."""

    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    mechanisms: tuple[Fact, ...] = ()
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class ReadDocument(Document):
    """A document with its `cuts`, and what it states."""

    cuts: tuple[Bounds, ...] = ()
    stated: Stated = Stated()


@dataclass(frozen=True)
class Wanted:
    """What a child is to make: at most so many chunks of a document (None: none at all), facts by the ontology with a user's rows."""

    chunks: int | None
    ontology: str = ""


def check_units(document: ReadDocument) -> None:
    """Raise `ParseError` unless cuts lie inside the text and there are no more facts than a document may state."""
    size, stated = len(document.text), document.stated
    if any(not 0 <= cut.start < cut.end <= size or not 0 < cut.start_line <= cut.end_line <= size + 1 for cut in document.cuts):
        raise ParseError(Status.PARSE_ERROR, f"{document.path}: a chunk leaves the text")
    if max(len(stated.facts), len(stated.settings)) > MOST_FACTS or len(stated.mechanisms) > MOST_OF_A_KIND * len(kinds()):
        raise ParseError(Status.PARSE_ERROR, f"{document.path}: more facts than one document may state")
