"""PDF to `Document`: text in reading order with page and box, bibliography, citations and links.

The fallback where a paper's LaTeX is not to be had, and the only form of many. Pure apart from MuPDF's C code,
for which it is meant to run in the sandbox's child.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from indexer.parsers.pdf.bibliography import Entry, Region, entries, regions
from indexer.parsers.pdf.blocks import blocks, style_of
from indexer.parsers.pdf.citations import cites, mentions
from indexer.parsers.pdf.entry import Printed, parse_entries, parse_entry
from indexer.parsers.pdf.flow import FlowWriter, PageWords, Places, places_of, slanted_text, words_of
from indexer.parsers.pdf.layout import Sheet, sheets
from indexer.parsers.pdf.outline import DocumentOutline, outline
from indexer.parsers.pdf.page import Pages, PdfLink
from indexer.parsers.pdf.read import read
from indexer.parsers.sentences import Sentences
from lineage.code_links.links import trimmed
from lineage.errors import ParseError
from lineage.records import BibEntry, Document, Mention, Span, Status, WorkId

PARSER = "pdf@9"
_URL = re.compile(
    r"(?:https?://|www\.)[^\s<>\"“”{}|\\^]{3,400}|\b(?:github\.com|gitlab\.com|bitbucket\.org|huggingface\.co|zenodo\.org|codeberg\.org)/[^\s<>\"“”{}|\\^]{3,300}",
    re.IGNORECASE,
)
_MARK = re.compile(r"\s*(\d{1,3}|[*∗†‡§¶])")
AROUND = 600


def parse(files: Mapping[str, bytes], work: WorkId, blob: str) -> Document:
    """The document of a PDF; `files` holds that one file.

    Raises `ParseError` with ENCRYPTED, EMPTY, NO_TEXT, TRUNCATED, WRONG_TYPE or PARSE_ERROR.
    """
    if len(files) != 1:
        raise ParseError(Status.PARSE_ERROR, f"a PDF is one file, not {len(files)}")
    path, data = next(iter(files.items()))
    pages = read(data)
    if not any(line.text.strip() for page in pages.pages for line in page.lines):
        raise ParseError(*_without_text(pages))
    return _document(pages, work, path, blob)


def _without_text(pages: Pages) -> tuple[Status, str]:
    if pages.repaired:
        return Status.TRUNCATED, "the file is damaged and nothing readable is left of it"
    hidden = f"; {pages.hidden} invisible characters were left out" if pages.hidden else ""
    return Status.NO_TEXT, f"{pages.total} pages without text (scanned, or drawn as pictures){hidden}"


def _document(pages: Pages, work: WorkId, path: str, blob: str) -> Document:
    ordered = sheets(pages.pages)
    style = style_of(ordered)
    words = words_of(row for sheet in ordered for row in sheet.rows)
    lists = regions(ordered, style, pages)
    listed = _entries(lists, pages, words)
    outlined = outline(blocks(_without(ordered, lists), style), style, words, pages.title if " " in pages.title else "")
    bibliography = tuple(_with_links(entry, rows, pages) for entry, rows in listed)
    status, detail = _status(pages)
    return Document(
        work=work, path=path, text=outlined.text, spans=tuple(outlined.spans), parser=PARSER, kind="paper", blob=blob,
        title=outlined.title, abstract=outlined.abstract, bibliography=bibliography,
        mentions=_mentions(outlined, pages, bibliography, listed),
        links=weblinks(
            outlined.text, outlined.spans, outlined.writer, places_of(outlined.writer),
            (link for page in pages.pages for link in page.links if link.uri),
        ),
        pages=pages.total, status=status, detail=detail, lost=pages.lost,
    )  # fmt: skip


def _status(pages: Pages) -> tuple[Status, str]:
    notes = list(pages.notes)
    if pages.hidden:
        notes.append(f"{pages.hidden} characters that a reader cannot see were left out")
    if lost := sum(subject.startswith("page ") for subject, *_ in pages.lost):
        notes.insert(0, f"{lost} of {pages.total} pages lost")
        return Status.PARTIAL, "; ".join(notes)
    if pages.repaired:
        return Status.OK_REPAIRED, "; ".join(["MuPDF repaired the file: text may be missing", *notes])
    return Status.OK, "; ".join(notes)


def _without(ordered: Sequence[Sheet], lists: Sequence[Region]) -> list[Sheet]:
    """The pages less the reference lists, which become `bibliography` and are no text to search in."""
    gone = {id(row) for region in lists for row in (*region.rows, *([region.heading] if region.heading else []))}
    return [replace(sheet, rows=tuple(row for row in sheet.rows if id(row) not in gone)) for sheet in ordered]


def _entries(lists: Sequence[Region], pages: Pages, words: PageWords) -> list[tuple[BibEntry, Entry]]:
    """Every entry with its fields, read list by list; keys that stand twice get a number."""
    listed: list[tuple[BibEntry, Entry]] = []
    keys: set[str] = set()
    for region in lists:
        printed: list[tuple[Printed, Entry]] = []
        for entry in entries(region, pages.anchors):
            raw, italic = slanted_text(entry.rows, words)
            if not any(c.isalpha() for c in raw):
                continue
            key = entry.key or f"ref-{entry.label if entry.label.isdigit() else len(keys) + 1}"
            key = key if key not in keys else f"{key}-{len(keys) + 1}"
            keys.add(key)
            printed.append((Printed(raw, key, italic, entry.label), entry))
        listed += zip(parse_entries([entry for entry, _ in printed]), [entry for _, entry in printed], strict=True)
    return listed


def _with_links(entry: BibEntry, printed: Entry, pages: Pages) -> BibEntry:
    """The entry with the identifiers that link annotations on it carry."""
    for link in _annotations(printed, pages):
        link_entry = parse_entry(trimmed(link.uri), entry.key)
        entry = replace(
            entry,
            arxiv=entry.arxiv or link_entry.arxiv,
            doi=link_entry.doi or entry.doi,
            url=link.uri if not entry.url or link.uri.startswith(entry.url) else entry.url,
        )
    return entry


def _annotations(printed: Entry, pages: Pages) -> Iterable[PdfLink]:
    numbers = {row.page for row in printed.rows}
    for page in pages.pages:
        if page.number not in numbers:
            continue
        for link in page.links:
            if link.uri.lower().startswith("http") and _row_of(printed, page.number, link.box[0] + 1, (link.box[1] + link.box[3]) / 2):
                yield link


def _row_of(printed: Entry, page: int, x: float, y: float) -> bool:
    return any(row.page == page and row.box[0] - 3 <= x <= row.box[2] + 3 and row.box[1] <= y <= row.box[3] for row in printed.rows)


def _mentions(
    outline: DocumentOutline, pages: Pages, bibliography: Sequence[BibEntry], listed: Sequence[tuple[BibEntry, Entry]]
) -> tuple[Mention, ...]:
    labels = {printed.label: entry.key for entry, printed in listed if printed.label}
    if not labels:
        labels = {}
    linked = list(_linked(pages, listed))
    citation_spans = cites(outline.text, outline.writer, places_of(outline.writer), linked, bibliography, labels)
    return mentions(outline.text, outline.spans, citation_spans)


def _linked(pages: Pages, listed: Sequence[tuple[BibEntry, Entry]]) -> Iterable[tuple[PdfLink, str]]:
    """Links inside the document that lead to an entry: by the place's name, else by where they point."""
    keys = {entry.key for entry, _ in listed}
    firsts = [(printed.rows[0], entry.key) for entry, printed in listed]
    for page in pages.pages:
        for link in page.links:
            name = link.name.removeprefix("cite.")
            if name != link.name and name in keys:
                yield link, name
            elif link.to_page and (name == link.name or name not in keys):
                near = [(row.base - link.to[1], key) for row, key in firsts if row.page == link.to_page and abs(row.box[0] - link.to[0]) < 60]
                near = [(below, key) for below, key in near if -2 <= below < 30]
                if near and not link.name.startswith(("section", "figure", "table", "equation", "Hfootnote", "appendix", "page")):
                    yield link, min(near)[1]


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
    start, end = Sentences(text[span.start : span.end]).around(at - span.start, neighbours)
    return " ".join(text[span.start + start : span.start + end].split())[:AROUND]
