"""The settings and facts of one document, each in its chunk, and notes on what could not be read. Pure.

Time is linear in the text; what one document may state is bounded, and the bound is said where it is met.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from indexer.chunking import chunker
from indexer.extraction import configs, mechanisms, prose, python, shell, tables
from indexer.extraction.collector import Sink
from indexer.read_document import MOST_FACTS, Extracted, ReadDocument, Stated
from indexer.repo_profile import is_test
from lineage.file_roles import holds_settings, named_roles
from lineage.hyperparameters.ontology import Ontology
from lineage.records import Chunk, Document, Fact, FileRole, Setting
from lineage.text.syntax import UNREADABLE

VERSION = "facts@18"
_MATERIAL = re.compile(r"(?:\A|/)(?:data\w*|corpus|corpora|examples?|samples?)/(?:[^/]+/)*(?!readme)[^/]+\Z", re.IGNORECASE)
_FENCE = re.compile(r"\s{0,8}(```+|~~~+)\s*\{?\.?([\w+-]*)")
_SHELL = {"sh", "bash", "shell", "console", "zsh", "", "text", "cmd", "powershell", "commandline"}
_PYTHON = {"python", "py", "python3"}
_FIELD = re.compile(
    r"\b(?:train(?:ed|ing)?|epochs?|neural|networks?|dataset|learning rate|optimi[sz]er|gpus?|batch(?: size)?|fine-?tun\w+|pre-?train\w+|embeddings?|"
    r"checkpoints?|gradients?|layers?|transformer|accuracy|hyper-?parameters?|seeds?|llms?|benchmark|evaluation|inference|augmentation)\b"
)
_OF_THE_FIELD = 3
"""Different words of the field that a text must hold before its prose is read: "2 blocks" of an audit are no layers."""
_LINK = re.compile(r"\]\([^()\s]{1,400}\)|https?://[^\s)]{1,400}")
_COMMAND = re.compile(r"\s*(?:\$\s+)?(?:python[\d.]*|torchrun|bash|sh|accelerate|CUDA_VISIBLE_DEVICES=)\s*\S")
_FLAGS = re.compile(r"\s--?[A-Za-z][\w.-]*[ =]")
_SPOKEN = {"paragraph", "abstract", "list", "caption", "footnote", "text", "algorithm", "equation"}


def extract(document: Document, chunks: Sequence[Chunk], terms: Ontology) -> Extracted:
    """Hyper-parameters and choices that a document states; `chunks` are the document's own."""
    return placed(document, chunks, state(document, terms))


def units(document: ReadDocument) -> tuple[list[Chunk], Extracted]:
    """The chunks of a document, and the facts and settings in them."""
    own = chunker.chunks_at(document, document.cuts)
    return own, placed(document, own, document.stated)


def state(document: Document, terms: Ontology) -> Stated:
    """What a document states: all that takes reading its text."""
    sink = Sink(terms, "default")
    note = _read(document, sink)
    notes = [note] if note else []
    if sink.cut:
        notes.append(f"{document.path}: more than {MOST_FACTS} facts; the rest was treated as data and excluded")
    mechanism_facts = () if _of_tests(document) else tuple(mechanisms.read(document))
    return Stated(tuple(sink.found), tuple(sink.settings), mechanism_facts, tuple(notes))


def placed(document: Document, chunks: Sequence[Chunk], stated: Stated) -> Extracted:
    """What was stated, each in the chunk that holds its line."""
    holding = _Places(chunks)
    facts = [
        Fact(work=document.work, chunk=chunk.id, **vars(extracted))
        for extracted in sorted(stated.facts, key=lambda fact: (fact.line, fact.name, fact.value, fact.scope))
        if (chunk := holding.at(extracted.line))
    ]
    mechanism_facts = [
        Fact(row.name, row.value, "", document.work, chunk.id, "call", row.line, row.written, row.how, row.scope, False, row.end_line)
        for row in stated.mechanisms
        if (chunk := holding.at(row.line))
    ]
    settings = [
        Setting(work=document.work, path=document.path, chunk=chunk.id, **vars(raw))
        for raw in sorted(stated.settings, key=lambda setting: setting.line)
        if (chunk := holding.at(raw.line)) and (document.kind != "docs" or raw.kind == "command")
    ]
    return Extracted(tuple(facts), tuple(f"{document.work}: {note}" for note in stated.notes), tuple(mechanism_facts), tuple(settings))


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
        read(document, sink)
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
        python.read(document.text, sink, holds_settings(document.path))
    except UNREADABLE:
        return f"{document.path}: no valid Python 3; no facts were read" if not document.path.endswith(".ipynb") else ""
    return ""


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


def read(document: Document, sink: Sink) -> None:
    """Put the facts of a paper or a text file into `sink`."""
    if document.kind == "paper" or document.language == "latex":
        _paper(document, sink)
        return
    spoken = len(set(_FIELD.findall(document.text.lower()))) >= _OF_THE_FIELD
    for kind, first, text in _parts(document.text):
        _part(kind, first, text, sink, spoken)


def _paper(document: Document, sink: Sink) -> None:
    text = document.text
    marked = sorted((span for span in document.spans if span.role in _SPOKEN or span.role == "table"), key=lambda span: (span.start, -span.end))
    done, counted, line = 0, 0, 1
    for span in marked:
        start = max(span.start, done)
        if start >= span.end:
            continue
        line += text.count("\n", counted, start)
        counted = start
        _table_or_prose(span.role, line, text[start : span.end], sink, " ".join(span.path))
        done = span.end
    if not marked:
        _table_or_prose("text", 1, text, sink, "")


def _table_or_prose(role: str, line: int, text: str, sink: Sink, around: str) -> None:
    if role != "table":
        prose.read(text, sink, first=line, around=around)
        return
    rows = text.split("\n")
    table_blocks = list(tables.blocks(rows, line))
    for block in table_blocks:
        tables.read(block, sink)
    if not table_blocks:  # rows of a PDF have no bars between their cells
        prose.read("\n\n".join(rows), sink, first=line, kind="table", around=around)


def _part(kind: str, first: int, text: str, sink: Sink, spoken: bool) -> None:
    if kind == "prose":
        rows = text.split("\n")
        table_blocks = list(tables.blocks(rows, first))
        for block in table_blocks:
            tables.read(block, sink)
        inside = {number for block in table_blocks for number, _ in block}
        plain = "\n".join("" if number in inside else row for number, row in enumerate(rows, first)) if spoken else ""
        prose.read(_LINK.sub(lambda m: " " * len(m[0]), plain), sink, first=first)
    elif kind in _SHELL:
        shell.commands_of(text, sink, first - 1)
    else:
        sink.first = first - 1
        _fenced(kind, text, sink)
        sink.first = 0


def _fenced(kind: str, text: str, sink: Sink) -> None:
    if kind in _PYTHON:
        try:
            python.read(text, sink)
        except UNREADABLE:
            shell.commands_of(text, sink)
    elif kind in {"yaml", "yml"}:
        configs.read("block", text, "yaml", sink)
    elif kind in {"json", "toml", "ini", "gin"}:
        configs.read("block", text, {"ini": "toml"}.get(kind, kind), sink)


def _parts(text: str) -> Iterator[tuple[str, int, str]]:
    """(kind, first line, text): prose, and fenced or indented blocks by their language."""
    kind, fence, first = "prose", "", 1
    pending_lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _FENCE.match(line)
        if fence:
            closes = match and match[1].startswith(fence) and not match[2]
            if not closes:
                pending_lines.append(line)
                continue
            yield kind, first, "\n".join(pending_lines)
            kind, fence, first, pending_lines = "prose", "", number + 1, []
        elif match:
            yield kind, first, "\n".join(pending_lines)
            kind, fence, first, pending_lines = match[2].lower(), match[1], number + 1, []
        elif _is_command(line):
            yield kind, first, "\n".join(pending_lines)
            yield "sh", number, line
            kind, first, pending_lines = "prose", number + 1, []
        else:
            pending_lines.append(line)
    yield kind, first, "\n".join(pending_lines)


def _is_command(line: str) -> bool:
    """A line that runs a program, as READMEs without fences have: indented, or with several flags."""
    indented = line.startswith(("    ", "\t", "$ ")) and _COMMAND.match(line) is not None
    return indented or (".py" in line and len(_FLAGS.findall(line[:4_000])) > 1)
