"""Blocks of Markdown: paragraphs, fenced code and tables of a long section, so that it is cut between and not within them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from lineage.records import Span

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
