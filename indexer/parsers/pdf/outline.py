"""Blocks to a document: one text in reading order, with spans for sections, paragraphs, captions, footnotes and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from indexer.parsers.pdf.blocks import Block, Style
from indexer.parsers.pdf.flow import FlowWriter, PageWords, text_of
from indexer.parsers.pdf.page import Line, without_marks
from lineage.records import Span

_ABSTRACT = re.compile(r"(?:\d\.?\s*)?(abstract|summary)\s*[.:—–-]*\Z", re.IGNORECASE)
_RUN_IN = re.compile(r"\s*(?:abstract|summary)\s*(?:[.:—–-]+|\s(?=[A-Z]))\s*", re.IGNORECASE)
_KEYWORDS = re.compile(r"(?:categories and subject|general terms|key ?words|ccs concepts|index terms|additional key)", re.IGNORECASE)
_INTRO = re.compile(r"(?:(?:\d|I)[.:]?\s+)?introduction\b", re.IGNORECASE)
_ENDED = re.compile(r"[.!?:][”\"’')\]\d]{0,3}\s*\Z")
_CONTENTS = re.compile(r".{3,}?[\s.]+\d{1,3}\Z")
_PROSE = frozenset({"paragraph", "list", "abstract"})
_SCRAPS = frozenset({"table", "flow"})
_FLOATS = frozenset({"footnote", "caption", "table", "text", "flow", "front"})


@dataclass
class DocumentOutline:
    """What a document says, before its references are looked at."""

    text: str
    spans: list[Span]
    writer: FlowWriter
    title: str = ""
    abstract: str = ""
    rows: dict[int, tuple[Line, ...]] = field(default_factory=dict)


def outline(blocks: Sequence[Block], style: Style, words: PageWords, known_title: str) -> DocumentOutline:
    """Write the blocks as one text."""
    title, body_blocks = _title(blocks, style, words)
    body_blocks = _unmarked(body_blocks)
    body_blocks = list(_front(_levels(_contents(_merged(body_blocks)), style)))
    pen = _Pen(FlowWriter(words))
    for block in body_blocks:
        pen.block(block)
    pen.finish()
    spans = sorted((span for span in pen.spans if span.start < span.end), key=lambda span: (span.start, -span.end))
    text = pen.writer.text.rstrip("\n")
    spans = [replace(span, end=min(span.end, len(text))) for span in spans if span.start < len(text)]
    abstract = " ".join(text[span.start : span.end] for span in spans if span.role == "abstract")
    return DocumentOutline(text, spans, pen.writer, title or known_title, _RUN_IN.sub("", abstract, count=1).strip())


_NOTE = re.compile(r"\s*(\d{1,3}|[*∗†‡§¶])")


def _unmarked(blocks: Sequence[Block]) -> list[Block]:
    """The blocks less the raised marks of the footnotes that stand on the same page."""
    marks: dict[int, set[str]] = {}
    for block in blocks:
        for row in block.rows if block.role == "footnote" else ():
            if mark := _NOTE.match(row.text):
                marks.setdefault(row.page, set()).add(mark[1])
    marks_by_page = {page: frozenset(page_marks) for page, page_marks in marks.items()}
    none: frozenset[str] = frozenset()
    return [
        block if block.role == "footnote" else replace(block, rows=tuple(without_marks(row, marks_by_page.get(row.page, none)) for row in block.rows))
        for block in blocks
    ]


def _title(blocks: Sequence[Block], style: Style, words: PageWords) -> tuple[str, list[Block]]:
    """The title, which is what is set largest in the upper part of the first page, and the blocks without it."""
    top = [b for b in blocks if b.page == 1 and b.rows[0].base < 420 and len(re.findall(r"[^\W\d_]", b.text)) > 6 and b.role != "footnote"]
    if not top:
        return "", list(blocks)
    size = max(b.rows[0].size for b in top)
    first = next(b for b in top if b.rows[0].size > size - 0.2)
    is_heading = first.label[:1].isdigit() or _ABSTRACT.match(first.text) or _INTRO.match(first.text)
    if is_heading or (size < style.size + 1.5 and not (first is top[0] and first.rows[0].bold)):
        return "", list(blocks)
    parts = [first]
    for block in blocks[blocks.index(first) + 1 :]:
        if abs(block.rows[0].size - size) > 0.3 or block.page != 1:
            break
        parts.append(block)
    title = text_of([row for block in parts for row in block.rows], words)
    return title[:500].strip(" *∗†"), [block for block in blocks if block not in parts]


def _merged(blocks: Sequence[Block]) -> Iterator[Block]:
    """Neighbouring scraps of tables and figures as one block each, labelled by the caption beside them."""
    groups = [list(group) for _, group in groupby(blocks, key=lambda b: (True, b.page) if b.role in _SCRAPS else (False, id(b)))]
    for n, group in enumerate(groups):
        if group[0].role not in _SCRAPS:
            yield from group
            continue
        beside = [g[0] for g in (groups[n - 1 : n] + groups[n + 1 : n + 2]) if g[0].role == "caption"]
        label = _nearest(group, beside)
        tabular = any(b.role == "table" for b in group) and "fig" not in label.lower()
        yield Block("table" if tabular or "tab" in label.lower() else "text", tuple(row for b in group for row in b.rows), label=label)


def _nearest(group: Sequence[Block], beside: Sequence[Block]) -> str:
    """The label of the caption that is nearest in the height of the page; on other pages none is near."""
    boxes = [block.box for block in group]
    top, bottom = min(box[1] for box in boxes), max(box[3] for box in boxes)
    here = [b for b in beside if b.page == group[0].page] or beside
    return min(here, key=lambda b: max(b.box[1] - bottom, top - b.box[3], 0)).label if here else ""


def _contents(headed: Iterator[Block]) -> Iterator[Block]:
    """Headings of a table of contents, which end in page numbers, demoted to a list."""
    blocks = list(headed)
    lines = Counter(b.page for b in blocks if b.role == "heading" and _CONTENTS.match(b.text))
    for block in blocks:
        listed = block.role == "heading" and lines[block.page] >= 3 and _CONTENTS.match(block.text)
        yield replace(block, role="text", level=0) if listed else block


def _levels(headed: Iterator[Block], style: Style) -> Iterator[Block]:
    """Headings without a number take the level of the numbered ones they look like, else one below the last."""
    blocks = list(headed)
    looks: dict[tuple[int, bool], int] = {}
    for block in blocks:
        if block.role == "heading" and block.label and not block.label.isalpha():
            looks.setdefault(_look(block), block.level)
    level = 1
    for block in blocks:
        if block.role == "heading" and looks and not block.label:
            own = looks.get(_look(block))
            block = replace(block, level=own or (1 if block.level == 1 else min(level + 1, 5)))
        elif block.role == "heading":
            level = block.level
        yield block


def _look(block: Block) -> tuple[int, bool]:
    return round(block.rows[0].size), block.rows[0].bold


def _front(headed: Iterator[Block]) -> Iterator[Block]:
    """Separate authors and affiliations from the body: text before the abstract is no heading, and the abstract gets its role."""
    blocks = list(headed)
    start = next((n for n, b in enumerate(blocks[:60]) if b.role == "heading" and (_ABSTRACT.match(b.text) or _INTRO.match(b.text))), None)
    run_in = next((n for n, b in enumerate(blocks[:40]) if b.role in _PROSE and _RUN_IN.match(b.rows[0].text) and len(b.text) > 150), None)
    if run_in is not None and (start is None or run_in < start):
        start = run_in
    if start is None:
        start = next((n for n, b in enumerate(blocks[:40]) if b.role in _PROSE and len(b.text.split()) > 40), 0)
    inside = run_in == start or (start < len(blocks) and bool(_ABSTRACT.match(blocks[start].text)))
    for n, block in enumerate(blocks):
        if n < start and block.role != "footnote":
            yield replace(block, role="abstract" if _is_lone_abstract(block, blocks, start) else "front", level=0)
            continue
        if n > start and (block.role == "heading" or n > start + 8 or _KEYWORDS.match(block.text)):
            inside = False
        if inside and block.role in _PROSE:
            block = replace(block, role="abstract")
            inside = block.page <= 2
        yield block


def _is_lone_abstract(block: Block, blocks: Sequence[Block], start: int) -> bool:
    """A long paragraph between the authors and the introduction, where nothing is called abstract."""
    nothing = start < len(blocks) and bool(_INTRO.match(blocks[start].text))
    return nothing and block.role in _PROSE and len(block.text.split()) > 60


class _Pen:
    """Writes blocks; floats and footnotes wait until the paragraph that they interrupt is at its end."""

    def __init__(self, writer: FlowWriter) -> None:
        self.writer = writer
        self.spans: list[Span] = []
        self._open: list[tuple[int, Span]] = []
        self._path: tuple[str, ...] = ()
        self._last: Block | None = None
        self._waiting: list[Block] = []

    def block(self, block: Block) -> None:
        """Write one block, or let it wait."""
        if block.role in _FLOATS:
            self._waiting.append(block)
            if self._last is None or _ENDED.search(self._last.rows[-1].text):
                self._flush()
        elif block.role in _PROSE and self._last is not None and _continues(self._last, block):
            _, end = self.writer.resume(block.rows)
            self.spans[-1] = replace(self.spans[-1], end=end)
            self._last = block
        else:
            self._flush()
            if block.role == "heading":
                self._heading(block)
            else:
                self._write(block)
            self._last = block if block.role in _PROSE else None

    def finish(self) -> None:
        """Write what waits and end all sections."""
        self._flush()
        self._close(0)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for block in waiting:
            self._write(block)
        if waiting:
            self._last = None

    def _write(self, block: Block) -> None:
        self.writer.apart()
        lines = block.role in {"table", "equation", "text", "flow", "front"}
        start, end = self.writer.rows(block.rows, keep_lines=lines)
        role = "text" if block.role == "flow" else block.role
        self.spans.append(Span(start, end, role, self._path, block.page, _rounded(block), block.label))

    def _heading(self, block: Block) -> None:
        self._close(block.level)
        self.writer.apart()
        start, end = self.writer.rows(block.rows)
        name = " ".join("".join(self.writer.parts).rsplit("\n\n", 1)[-1].split()) if start == 0 else self._tail(start)
        self._path = (*(span.path[-1] for _, span in self._open), name)
        span = Span(start, end, "section", self._path, block.page, _rounded(block), block.label)
        self._open.append((block.level, span))
        self.spans.append(replace(span, role="heading"))

    def _tail(self, start: int) -> str:
        """What was written since `start`."""
        parts: list[str] = []
        length = self.writer.length
        for part in reversed(self.writer.parts):
            if length <= start:
                break
            parts.append(part)
            length -= len(part)
        return " ".join("".join(reversed(parts)).split())

    def _close(self, level: int) -> None:
        """End the sections that are not above `level`."""
        while self._open and self._open[-1][0] >= level:
            _, span = self._open.pop()
            self.spans.append(replace(span, end=self.writer.length))
        self._path = self._open[-1][1].path if self._open else ()


def _rounded(block: Block) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = block.box
    return round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)


def _continues(last: Block, block: Block) -> bool:
    """Whether a paragraph goes on in another column or below a float."""
    before, after = last.rows[-1], block.rows[0]
    if last.role == "abstract" and block.role != "abstract":
        return False
    if _ENDED.search(before.text) or abs(before.size - after.size) > 0.8 or block.role == "list":
        return False
    elsewhere = (before.page, before.column) != (after.page, after.column)
    return elsewhere and (after.text.lstrip()[:1].islower() or before.text.rstrip().endswith(("-", ",")) or not after.bold)
