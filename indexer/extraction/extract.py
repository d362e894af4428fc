"""The facts of one document, each in its chunk, and notes on what could not be read (pure).

Time is linear in the text; what one document may state is bounded, and the bound is said where it is met.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexer.extraction import configs, documents, mechanisms, python, shell
from indexer.extraction.collector import MOST, ExtractedFact, Sink
from indexer.repo_profile import is_test
from lineage.file_roles import named_roles
from lineage.hyperparameters.ontology import Ontology
from lineage.records import Chunk, Document, Fact, FileRole

VERSION = "facts@11"


@dataclass(frozen=True)
class Extracted:
    """Facts of a document, in the order of its text, what is to be said of how they were read, and the mechanisms of its code."""

    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    mechanisms: tuple[Fact, ...] = ()


def extract(document: Document, chunks: Sequence[Chunk], ontology: Ontology) -> Extracted:
    """Hyper-parameters and choices that a document states; `chunks` are the document's own."""
    sink = Sink(ontology, "default")
    note = _read(document, sink)
    notes = [note] if note else []
    if sink.cut:
        notes.append(f"{document.path}: more than {MOST} facts; the rest was treated as data and excluded")
    facts, found = _placed(document, chunks, sink.found), _mechanisms(document, chunks)
    return Extracted(tuple(facts), tuple(f"{document.work}: {note}" for note in notes), tuple(found))


_MATERIAL = re.compile(r"(?:\A|/)(?:data\w*|corpus|corpora|examples?|samples?)/(?:[^/]+/)*(?!readme)[^/]+\Z", re.IGNORECASE)


def _of_tests(document: Document) -> bool:
    return document.kind != "paper" and _is_test(document)


def _read(document: Document, sink: Sink) -> str:
    if _of_tests(document):
        return ""  # what a test sets is no setting of an experiment
    if document.kind == "docs" and _MATERIAL.search(document.path):
        return ""  # a paper or page that the program works on speaks of other experiments
    if document.kind == "config":
        return configs.read(document.path, document.text, document.language, sink)
    if document.kind in {"paper", "docs"}:
        documents.read(document, sink)
        return ""
    if document.language == "python":
        return _python(document, sink)
    if document.language == "bash":
        shell.read(document.text, sink)
    return ""


def _is_test(document: Document) -> bool:
    return FileRole.TEST in named_roles(document.path) or (document.language == "python" and is_test(document.path, document.text))


def _python(document: Document, sink: Sink) -> str:
    try:
        python.read(document.text, sink)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"{document.path}: no valid Python 3; no facts were read" if not document.path.endswith(".ipynb") else ""
    return ""


def _mechanisms(document: Document, chunks: Sequence[Chunk]) -> list[Fact]:
    """The mechanisms of a document in their chunks."""
    if _of_tests(document):
        return []
    holding = _Places(chunks)
    return [
        Fact(row.name, row.value, "", document.work, chunk.id, "call", row.line, row.written, row.how, row.scope, False, row.end_line)
        for row in mechanisms.read(document)
        if (chunk := holding.at(row.line))
    ]


class _Places:
    """The chunks of a document by line: the innermost that holds it; a line between chunks belongs to the one before."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.ordered = sorted(chunks, key=lambda chunk: (chunk.start_line, -chunk.end_line))
        self.starts = [chunk.start_line for chunk in self.ordered]

    def at(self, line: int) -> Chunk | None:
        """The chunk of a line; None before the first."""
        at = bisect_right(self.starts, line) - 1
        holding = next((n for n in range(at, max(-1, at - 8), -1) if self.ordered[n].end_line >= line), at)
        return self.ordered[holding] if holding >= 0 and self.ordered else None


def _placed(document: Document, chunks: Sequence[Chunk], extracted_facts: Iterable[ExtractedFact]) -> list[Fact]:
    """Facts with the chunks that hold their lines."""
    holding = _Places(chunks)
    return [
        Fact(
            extracted.name,
            extracted.value,
            extracted.unit,
            document.work,
            chunk.id,
            extracted.kind,
            extracted.line,
            extracted.written,
            extracted.said,
            extracted.scope,
            extracted.literal,
        )
        for extracted in sorted(extracted_facts, key=lambda fact: (fact.line, fact.name, fact.value, fact.scope))
        if (chunk := holding.at(extracted.line))
    ]
