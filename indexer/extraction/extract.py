"""The facts of one document, each in its chunk, and notes on what could not be read (pure).

Time is linear in the text; what one document may state is bounded, and the bound is said where it is met.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexer.extraction import configs, documents, python, shell
from indexer.extraction.collector import MOST, ExtractedFact, Sink
from indexer.repo_profile import is_test
from lineage.file_roles import named_roles
from lineage.hyperparameters.ontology import Ontology
from lineage.records import Chunk, Document, Fact, FileRole

VERSION = "facts@11"


@dataclass(frozen=True)
class Extracted:
    """Facts of a document, in the order of its text, and what is to be said of how they were read."""

    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()


def extract(document: Document, chunks: Sequence[Chunk], ontology: Ontology) -> Extracted:
    """Hyper-parameters and choices that a document states; `chunks` are the document's own."""
    sink = Sink(ontology, "default")
    note = _read(document, sink)
    notes = [note] if note else []
    if sink.cut:
        notes.append(f"{document.path}: more than {MOST} facts; the rest was treated as data and excluded")
    return Extracted(tuple(_placed(document, chunks, sink.found)), tuple(f"{document.work}: {note}" for note in notes))


_MATERIAL = re.compile(r"(?:\A|/)(?:data\w*|corpus|corpora|examples?|samples?)/(?:[^/]+/)*(?!readme)[^/]+\Z", re.IGNORECASE)


def _read(document: Document, sink: Sink) -> str:
    if document.kind != "paper" and _is_test(document):
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


def _placed(document: Document, chunks: Sequence[Chunk], extracted_facts: Iterable[ExtractedFact]) -> list[Fact]:
    """Facts with the innermost chunk that holds their line; a line between chunks belongs to the one before."""
    ordered = sorted(chunks, key=lambda chunk: (chunk.start_line, -chunk.end_line))
    starts = [chunk.start_line for chunk in ordered]
    facts = []
    for extracted_fact in sorted(extracted_facts, key=lambda one: (one.line, one.name, one.value, one.scope)):
        at = bisect_right(starts, extracted_fact.line) - 1
        holding = next((n for n in range(at, max(-1, at - 8), -1) if ordered[n].end_line >= extracted_fact.line), at)
        if holding >= 0 and ordered:
            facts.append(
                Fact(
                    extracted_fact.name,
                    extracted_fact.value,
                    extracted_fact.unit,
                    document.work,
                    ordered[holding].id,
                    extracted_fact.kind,
                    extracted_fact.line,
                    extracted_fact.written,
                    extracted_fact.said,
                    extracted_fact.scope,
                    extracted_fact.literal,
                )
            )
    return facts
