"""Web addresses in a PDF with the words around them: link annotations, and what is printed.

An address that stands in a footnote is nearly always about the sentence that carries the footnote's mark, so
that sentence is put before the footnote's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from indexer.parsers.pdf.flow import FlowWriter, Places
from indexer.parsers.pdf.page import PdfLink
from indexer.parsers.pdf.sentences import sentences
from lineage.code_links.links import trimmed
from lineage.records import Span

_URL = re.compile(
    r"(?:https?://|www\.)[^\s<>\"“”{}|\\^]{3,400}|\b(?:github\.com|gitlab\.com|bitbucket\.org|huggingface\.co|zenodo\.org|codeberg\.org)/[^\s<>\"“”{}|\\^]{3,300}",
    re.IGNORECASE,
)
_MARK = re.compile(r"\s*(\d{1,3}|[*∗†‡§¶])")
AROUND = 600


def weblinks(text: str, spans: Sequence[Span], writer: FlowWriter, places: Places, links: Iterable[PdfLink]) -> tuple[tuple[str, str], ...]:
    """(url, words around it), each address once a place, in the order of the text."""
    urls: list[tuple[int, str]] = []
    for link in links:
        where = places.under(link.page, link.box)
        if where and link.uri.lower().startswith(("http://", "https://")):
            urls.append((where[0], trimmed(link.uri)))
    annotated = [start for start, _ in urls]
    urls += [
        (printed.start(), trimmed(printed[0]))
        for printed in _URL.finditer(text)
        if not any(printed.start() - 3 <= start <= printed.end() for start in annotated)
    ]
    marks = _marks(writer)
    unique: dict[tuple[str, str], None] = {}
    for start, url in sorted(urls):
        unique.setdefault((url, around(text, spans, start, marks)), None)
    return tuple(unique)


def _marks(writer: FlowWriter) -> dict[tuple[int, str], int]:
    """(page, footnote mark) -> offset in the running text where the mark stood."""
    marks: dict[tuple[int, str], int] = {}
    for line, start in writer.places:
        for mark, at in line.notes:
            marks.setdefault((line.page, mark), start + max(0, at - 1))
    return marks


def around(text: str, spans: Sequence[Span], at: int, marks: dict[tuple[int, str], int]) -> str:
    """The sentence at an offset with its neighbours, led by the sentence that a footnote belongs to."""
    span = next((span for span in spans if span.start <= at < span.end and span.role not in {"section", "heading"}), None)
    if span is None:
        return " ".join(text[max(0, at - 200) : at + 200].split())
    if span.role == "footnote":
        own = _note(text, span, at)
        mark = _MARK.match(own)
        home = marks.get((span.page or 0, mark[1])) if mark else None
        lead = f"{_sentence(text, spans, home)} — " if home is not None else ""
        return (lead + " ".join(own.split()))[:AROUND]
    return _sentence(text, spans, at, neighbours=1)


def _note(text: str, span: Span, at: int) -> str:
    """The one footnote, of several set together, that holds the offset."""
    starts = [match.start() for match in re.finditer(r"(?:(?<=\s)|\A)(?:\d{1,3}\s?(?=[A-Zhw(])|[*∗†‡§¶]\s?(?=[A-Z]))", text[span.start : span.end])]
    before = [span.start + start for start in starts if span.start + start <= at]
    after = [span.start + start for start in starts if span.start + start > at]
    return text[(before or [span.start])[-1] : (after or [span.end])[0]]


def _sentence(text: str, spans: Sequence[Span], at: int, neighbours: int = 0) -> str:
    span = next((span for span in spans if span.start <= at < span.end and span.role not in {"section", "heading"}), None)
    if span is None:
        return " ".join(text[max(0, at - 150) : at + 100].split())
    inside = list(sentences(text, span.start, span.end))
    n = next((n for n, (start, end) in enumerate(inside) if start <= at <= end), 0)
    if not inside:
        return ""
    start = inside[max(0, n - neighbours)][0]
    end = inside[min(len(inside) - 1, n + neighbours)][1]
    return " ".join(text[start:end].split())[:AROUND]
