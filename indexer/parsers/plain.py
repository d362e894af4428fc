"""Prose of a repository (Markdown, reStructuredText, plain text, licences) to a `Document`, by heading path.

Paragraphs, fenced code and tables of a long section of Markdown are blocks, so that it is cut between and not within them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath

from indexer.parsers.code.spans import LineIndex
from indexer.parsers.decode import decode
from lineage.errors import ParseError
from lineage.records import Document, Span, Status, WorkId

VERSION = "plain@2"
_ATX = re.compile(r" {0,3}(#{1,6})\s+(.{1,200}?)\s*#*\s*$")
_HTML_HEADING = re.compile(r"\s*<h([1-6])[^>]{0,200}>(.{1,300}?)</h", re.IGNORECASE)
_RULE = re.compile(r"([=\-~^\"'*+#`:.])\1{2,}\s*$")
_TAG = re.compile(r"<[^<>]{1,300}>|!?\[([^\[\]]{0,200})\]\([^()]{0,500}\)")
_LANGUAGES = {".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".qmd": "markdown", ".rst": "rst", ".tex": "latex", ".bib": "bibtex"}

Heading = tuple[int, int, str]
"""Line, level from 1, title."""


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """The document of one text; raises `ParseError` for one without words."""
    text = decode(data)
    if not text.strip():
        raise ParseError(Status.EMPTY, f"{path}: there is no text")
    language = _LANGUAGES.get(PurePosixPath(path).suffix.lower(), "text")
    headings = _headings(text.split("\n"), language)
    spans = _spans(path, LineIndex(text), headings, text.count("\n") + 1)
    if language == "markdown":
        spans = with_blocks(text, spans)
    return Document(work, path, text, spans, VERSION, "docs", language, blob, title=headings[0][2] if headings else "")


def first_heading(lines: Sequence[str]) -> str:
    """The first Markdown heading among some lines, or the empty string."""
    return next((title for _, _, title in _markdown(lines)), "")


def _headings(lines: Sequence[str], language: str) -> list[Heading]:
    if language == "markdown":
        return _markdown(lines)
    return _rst(lines) if language == "rst" else []


def _markdown(lines: Sequence[str]) -> list[Heading]:
    headings: list[Heading] = []
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (heading := _ATX.match(line[:300])):
            headings.append((number, len(heading[1]), _clean(heading[2])))
        elif not fence and (heading := _HTML_HEADING.match(line[:800])):
            headings.append((number, int(heading[1]), _clean(heading[2])))
        elif not fence and number > 1 and re.match(r"(?:=+|-{2,})\s*$", line) and _titled(lines[number - 2]):
            headings.append((number - 1, 1 if line[0] == "=" else 2, _clean(lines[number - 2])))
    return headings


def _titled(line: str) -> bool:
    return bool(line.strip()) and len(line) < 200 and not line.startswith((" ", "|", "-", "*", ">", "#"))


def _rst(lines: Sequence[str]) -> list[Heading]:
    """Underlined titles; a mark's level is the order in which marks first appear (docutils)."""
    headings: list[Heading] = []
    levels: dict[str, int] = {}
    for number, (title, under) in enumerate(pairwise(lines), 1):
        mark = _RULE.match(under)
        if mark and title.strip() and not _RULE.match(title) and len(under.rstrip()) >= len(title.strip()) and len(title) < 200:
            headings.append((number, levels.setdefault(mark[1], len(levels) + 1), title.strip()))
    return headings


def _clean(title: str) -> str:
    return " ".join(_TAG.sub(r"\1", title).replace("*", "").replace("`", "").split())


def _spans(path: str, lines: LineIndex, headings: list[Heading], count: int) -> tuple[Span, ...]:
    """One span from each heading to the next, with the titles it stands under."""
    spans: list[Span] = []
    stack: list[tuple[int, str]] = []
    marks = [(1, 0, ""), *headings, (count + 1, 0, "")]
    for (line, level, title), (following, _, _) in pairwise(marks):
        if title:
            stack = [*(item for item in stack if item[0] < level), (level, title)]
        if following > line:
            titles = tuple(name for _, name in stack)
            start, end = lines.extent(line, following - 1)
            spans.append(Span(start, end, "text", titles, header=" > ".join((path, *titles))))
    return tuple(spans)


FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
LONG = 1_000
"""Characters from which a section lists its blocks."""

LEAD = 160
_MARKUP = re.compile(r"<[^<>]{1,300}>|!?\[([^\[\]]{0,200})\]\([^()]{0,300}\)|[*`#>|]")


def with_blocks(text: str, sections: Iterable[Span]) -> tuple[Span, ...]:
    """The sections, each long one followed by its blocks; a table's header ends with the line that leads to it."""
    spans: list[Span] = []
    for section in sections:
        spans.append(section)
        if section.end - section.start > LONG:
            spans += _of_section(text, section)
    return tuple(spans)


def _of_section(text: str, section: Span) -> Iterator[Span]:
    rows = list(_rows(text, section))
    lead = ""
    for first, after in _runs([text[start:end] for start, end in rows]):
        start, end = rows[first][0], rows[after - 1][1]
        span = replace(section, start=start, end=end, role="block")
        if after - first > 2 and is_rule(text[slice(*rows[first + 1])]):
            header = f"{section.header} · {lead}" if lead else section.header
            yield replace(span, role="table", header=header)
        else:
            yield span
        lead = " ".join(_MARKUP.sub(r"\1", text[slice(*rows[after - 1])][: 3 * LEAD]).split())[:LEAD]


def is_rule(line: str) -> bool:
    """Whether a line is the rule below the heads of a table's columns."""
    return "|" in line and "-" in line and not line.strip("|:- \t")


def _rows(text: str, section: Span) -> Iterator[tuple[int, int]]:
    """Start and end of every line of a section."""
    at = section.start
    while at < section.end:
        end = text.find("\n", at, section.end)
        end = section.end if end < 0 else end
        yield at, end
        at = end + 1


def _runs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Blocks as line numbers [first, after): what stands between empty lines, a fence whole, a table apart from its text."""
    marks = [*_starts(lines), len(lines)]
    for first, after in pairwise(marks):
        while after > first and not lines[after - 1].strip():
            after -= 1
        if after > first:
            yield first, after


def _starts(lines: list[str]) -> Iterator[int]:
    fence, barred, blank = "", False, True
    for number, line in enumerate(lines):
        mark = FENCE.match(line)
        empty, row = not line.strip(), line.lstrip().startswith("|")
        if mark and not fence:
            yield number
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence, empty = "", True
        elif not fence and not empty and (blank or row != barred):
            yield number
        blank, barred = empty, row
