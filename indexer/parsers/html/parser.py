"""LaTeXML's HTML (arXiv's own, and ar5iv's) to `Document`; plain pages with headings and paragraphs are read too.

Used where an e-print cannot be had: sections, citations and formulas are exact in it, since they come from the
LaTeX. Nothing is fetched and no script is looked at; what a page hides from its readers is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from lxml import etree
from lxml import html as lxml_html

from indexer.parsers.pdf.citations import CitationSpan, mentions
from indexer.parsers.pdf.entry import parse_entry
from indexer.parsers.sentences import Sentences
from lineage.code_links.links import trimmed
from lineage.errors import ParseError
from lineage.records import BibEntry, Document, Span, Status, WorkId

MOST = 40
"""Columns or rows that a cell may say it has."""

LONGEST = 120
"""Of a cell that is repeated: a name or a number, no paragraph."""

_COUNT = re.compile(r"[1-9][0-9]{0,2}")


@dataclass
class HtmlTable:
    """Where a table stands: its column, the part its cell begins with, and what reaches down (column -> rows left, words)."""

    column: int = 0
    first: int = 0
    down: dict[int, tuple[int, str]] = field(default_factory=dict)

    def reaching(self) -> str:
        """What reaches down from the rows above to where the row stands now, with its borders."""
        words = []
        while self.column in self.down:
            words.append(f"{self.down[self.column][1]} | ".lstrip())
            self.column += 1
        return "".join(words)

    def cell(self, element: etree._Element, words: str) -> str:
        """The borders behind a cell; its words are kept for the rows that it reaches down to."""
        width, rows = _span(element, "colspan"), _span(element, "rowspan")
        if rows > 1:
            cell_texts = [words if len(words) <= LONGEST else "", *[""] * (width - 1)]
            self.down |= {self.column + at: (rows, word) for at, word in enumerate(cell_texts) if self.column + at < MOST}
        self.column += width
        return " |" * width + " "

    def end_row(self) -> None:
        """The next row."""
        self.column, self.down = 0, {column: (left - 1, words) for column, (left, words) in self.down.items() if left > 1}


def _span(element: etree._Element, name: str) -> int:
    attribute = element.get(name) or ""
    return min(int(attribute), MOST) if _COUNT.fullmatch(attribute) else 1


PARSER = "html@7"
MAX_CHARS = 5_000_000
_SKIPPED = frozenset({"script", "style", "nav", "head", "noscript", "template", "button", "form", "iframe", "object", "svg", "header", "footer"})
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|\Z)|font-size\s*:\s*[01](?:\.\d+)?(?:px|pt)", re.IGNORECASE
)
_WHITE = re.compile(r"(?<![-\w])color\s*:\s*(?:#fff(?:fff)?\b|white\b)", re.IGNORECASE)
_ANCESTORS = 12
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = {"p": "paragraph", "figcaption": "caption", "pre": "algorithm", "table": "table", "dd": "list", "dt": "list"}
_NUMBER = re.compile(r"\s*((?:Appendix\s+)?(?:[A-Z]|\d+|[IVX]+)(?:\.\d+)*)[.:]?\s")
_WHOLE = re.compile(r"[^\W\d_]")
_INVISIBLE = re.compile("[\u0000-\u0008\u000b-\u001f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")


@dataclass
class _Page:
    """What was written so far."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    spans: list[Span] = field(default_factory=list)
    cites: list[tuple[int, int, str]] = field(default_factory=list)
    urls: list[tuple[int, str, str]] = field(default_factory=list)
    notes: list[tuple[int, etree._Element]] = field(default_factory=list)
    open: list[tuple[int, Span]] = field(default_factory=list)
    items: list[etree._Element] = field(default_factory=list)
    grids: list[HtmlTable] = field(default_factory=list)
    title: str = ""
    hidden: int = 0
    cut: bool = False

    def put(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.length += len(text)

    @property
    def path(self) -> tuple[str, ...]:
        return self.open[-1][1].path if self.open else ()


def parse(files: Mapping[str, bytes], work: WorkId, blob: str) -> Document:
    """The document of one HTML page; raises `ParseError` with EMPTY, NO_TEXT, TOO_LARGE or PARSE_ERROR."""
    if len(files) != 1:
        raise ParseError(Status.PARSE_ERROR, f"a page is one file, not {len(files)}")
    path, data = next(iter(files.items()))
    page = _Page()
    _walk(_root(data), page)
    _close(page, 0)
    if not page.spans:
        raise ParseError(Status.NO_TEXT, "the page has no paragraphs")
    return _document(page, work, path, blob, b"</html" in data[-4096:].lower())


def _root(data: bytes) -> etree._Element:
    if not data.strip():
        raise ParseError(Status.EMPTY, "the file is empty")
    if len(data) > 12 * MAX_CHARS:
        raise ParseError(Status.TOO_LARGE, f"over {12 * MAX_CHARS} bytes")
    reader = lxml_html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=False, encoding=_encoding(data))
    try:
        root = lxml_html.document_fromstring(data, parser=reader)
    except (etree.LxmlError, ValueError) as error:
        raise ParseError(Status.PARSE_ERROR, f"no HTML: {str(error)[:200]}") from error
    return root


def _encoding(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _document(page: _Page, work: WorkId, path: str, blob: str, whole: bool) -> Document:
    text = "".join(page.parts).rstrip()
    spans = [replace(span, end=min(span.end, len(text))) for span in page.spans if span.start < min(span.end, len(text))]
    spans.sort(key=lambda span: (span.start, -span.end))
    bibliography, keys = _bibliography(page)
    cites = sorted((CitationSpan(start, end, keys[name]) for start, end, name in page.cites if name in keys), key=lambda cite: cite.start)
    abstract = " ".join(text[span.start : span.end] for span in spans if span.role == "abstract")
    return Document(
        work=work, path=path, text=text, spans=tuple(spans), parser=PARSER, kind="paper", blob=blob, title=page.title, abstract=abstract,
        bibliography=bibliography, mentions=mentions(text, spans, cites, "html"), links=tuple(dict.fromkeys(_links(page, text, spans))),
        status=Status.PARTIAL if page.cut else Status.OK if whole else Status.OK_REPAIRED,
        lost=(("rest of the page", Status.TOO_LARGE, f"over {MAX_CHARS} characters"),) if page.cut else (),
        detail="; ".join(filter(None, [
            "" if whole else "the page has no end: it was probably cut short",
            f"{page.hidden} characters that a reader cannot see were left out" if page.hidden else "",
        ])),
    )  # fmt: skip


def _classes(element: etree._Element) -> str:
    return f" {element.get('class') or ''} "


def _is_hidden(element: etree._Element) -> bool:
    style = element.get("style") or ""
    if _HIDING.search(style) or element.get("hidden") is not None or " ltx_phantom " in _classes(element):
        return True
    return bool(_WHITE.search(style)) and not any("background" in (above.get("style") or "") for above in (element, *_above(element)))


def _above(element: etree._Element) -> Iterator[etree._Element]:
    """The nearest ancestors."""
    return islice(element.iterancestors(), _ANCESTORS)


def _walk(root: etree._Element, page: _Page) -> None:
    """Blocks in the order of the page, without recursion: a page may be nested as deep as it likes."""
    stack = [root]
    while stack and not page.cut:
        page.cut = page.length > MAX_CHARS
        element = stack.pop()
        if not isinstance(element.tag, str) or element.tag in _SKIPPED:
            continue
        if _is_hidden(element):
            page.hidden += len("".join(element.itertext()).strip())
        elif " ltx_bibliography " in _classes(element):
            page.items += [item for item in element.iter("li") if " ltx_bibitem " in _classes(item)]
        elif not _block(element, page):
            stack.extend(reversed(element))


def _block(element: etree._Element, page: _Page) -> bool:
    """Write an element that is a block by itself; False where its children are to be looked at."""
    classes = _classes(element)
    if element.tag in _HEADINGS:
        _heading(element, page, classes)
        return True
    role = _role(element, classes)
    if not role:
        return False
    start = page.length
    _inline(element, page, role)
    if page.length > start:
        _add(page, start, role, _label(element, role))
        _write_notes(page)
    return True


def _label(element: etree._Element, role: str) -> str:
    """The printed number of a caption or equation, and of a table the one that the caption of its figure has."""
    if role in {"table", "algorithm"}:
        return next(filter(_WHOLE.match, map(_number_of, (above for above in _above(element) if above.tag == "figure"))), "")
    return _tag_of(element) if role in {"caption", "equation"} else ""


def _number_of(figure: etree._Element) -> str:
    """What the caption of a figure is called, where it has one caption only; a part of it is called "(a)"."""
    tags = {_tag_of(part) for part in islice(figure, _ANCESTORS) if part.tag == "figcaption"}
    return tags.pop() if len(tags) == 1 else ""


def _role(element: etree._Element, classes: str) -> str:
    if " ltx_equation " in classes or " ltx_equationgroup " in classes or " ltx_eqn_table " in classes:
        return "equation"
    if " ltx_tabular " in classes:
        return "table"
    if " ltx_listing " in classes or " ltx_verbatim " in classes:
        return "algorithm"
    role = _BLOCKS.get(element.tag, "")
    if role == "paragraph":
        above = [_classes(parent) for parent in _above(element)]
        if any(" ltx_abstract " in name for name in above):
            return "abstract"
        if any(" ltx_item " in name for name in above):
            return "list"
        return "text" if any(" ltx_authors " in name for name in above) else "paragraph"
    if not role and element.tag == "li" and not any(child.tag in {"p", "div", "ul", "ol"} for child in element):
        return "list"
    return role


def _add(page: _Page, start: int, role: str, label: str = "") -> None:
    page.spans.append(Span(start, page.length, role, page.path, label=label))
    page.put("\n\n")


def _heading(element: etree._Element, page: _Page, classes: str) -> None:
    level = _HEADINGS[element.tag]
    start, before = page.length, len(page.parts)
    _inline(element, page, "heading")
    name = "".join(page.parts[before:]).strip()
    if not name:
        return
    if " ltx_title_document " in classes or (level == 1 and not page.title):
        page.title = name
        del page.parts[before:]
        page.length = start
        page.notes.clear()
        return
    level = 2 if " ltx_title_abstract " in classes else level
    _close(page, level)
    number = _NUMBER.match(name)
    span = Span(start, page.length, "section", (*page.path, name), label=number[1] if number else "")
    page.spans.append(replace(span, role="heading"))
    page.open.append((level, span))
    page.put("\n\n")
    _write_notes(page)


def _close(page: _Page, level: int) -> None:
    while page.open and page.open[-1][0] >= level:
        _, span = page.open.pop()
        page.spans.append(replace(span, end=page.length))


def _tag_of(element: etree._Element) -> str:
    """The printed label of a caption or equation ("Table 1", "(3)")."""
    tags = [child for child in element.iter("span") if " ltx_tag " in _classes(child)]
    return " ".join("".join(tags[0].itertext()).split()).strip(" :.") if tags else ""


def _inline(block: etree._Element, page: _Page, role: str) -> None:
    """The running text of a block: formulas as TeX, rows as lines, citations and addresses noted, footnotes put aside."""
    events = etree.iterwalk(block, events=("start", "end"))
    page.grids = [HtmlTable()]
    anchors: list[tuple[str, int]] = []
    for event, element in events:
        if event == "start":
            if element is not block and _stops(element, page):
                events.skip_subtree()
                continue
            if element.tag == "math":
                _say(page, element.get("alttext") or " ".join(element.itertext()))
                events.skip_subtree()
                continue
            _open_inline(element, page, anchors, role)
            _say(page, element.text)
        else:
            _close_inline(element, page, anchors, role)
            if element is not block:
                _say(page, element.tail)
    _trim(page)


def _stops(element: etree._Element, page: _Page) -> bool:
    """Whether an element's inside is left out here: hidden, a footnote (kept for later), or no text at all."""
    if not isinstance(element.tag, str) or element.tag in _SKIPPED:
        return True
    if " ltx_note " in _classes(element):
        page.notes.append((page.length, element))
        return True
    if _is_hidden(element):
        page.hidden += len("".join(element.itertext()).strip())
        return True
    return False


def _say(page: _Page, text: str | None) -> None:
    """Append words with single spaces between them."""
    words = re.sub(r"\s+", " ", _INVISIBLE.sub("", text or ""))
    if words.startswith(" ") and (not page.parts or page.parts[-1].endswith((" ", "\n"))):
        words = words[1:]
    page.put(words)


def _open_inline(element: etree._Element, page: _Page, anchors: list[tuple[str, int]], role: str) -> None:
    if role == "table" and element.tag in {"table", "td", "th"}:
        _begin_cell(element, page)
    elif element.tag == "a":
        anchors.append((element.get("href") or "", page.length))
    elif element.tag == "br":
        _say(page, " ")


def _close_inline(element: etree._Element, page: _Page, anchors: list[tuple[str, int]], role: str) -> None:
    if element.tag == "a" and anchors:
        href, start = anchors.pop()
        if "#bib." in href and page.length > start:
            page.cites.append((start, page.length, href.rpartition("#")[2]))
        elif href.lower().startswith(("http://", "https://")):
            page.urls.append((start, trimmed(href), ""))
    elif role == "table" and element.tag in {"td", "th"}:
        grid = page.grids[-1]
        page.put(grid.cell(element, " ".join("".join(page.parts[grid.first :]).split())))
    elif role == "table" and element.tag == "table" and len(page.grids) > 1:
        page.grids.pop()
    elif role in {"table", "equation"} and element.tag == "tr":
        _say(page, page.grids[-1].reaching())
        page.grids[-1].end_row()
        _trim(page)
        page.put("\n")
    elif element.tag in {"p", "div"}:
        _say(page, " ")


def _begin_cell(element: etree._Element, page: _Page) -> None:
    if element.tag == "table":
        page.grids.append(HtmlTable())
        return
    if page.length <= MAX_CHARS:
        _say(page, page.grids[-1].reaching())
    page.grids[-1].first = len(page.parts)


def _trim(page: _Page) -> None:
    """Take back blanks and cell bars at the end of what was written."""
    while page.parts and page.parts[-1]:
        trimmed_part = page.parts[-1].rstrip(" |\n") if page.parts[-1] != "\n\n" else page.parts[-1]
        if trimmed_part == page.parts[-1]:
            return
        page.length -= len(page.parts[-1]) - len(trimmed_part)
        page.parts[-1] = trimmed_part
        if trimmed_part:
            return
        page.parts.pop()


def _write_notes(page: _Page) -> None:
    """The footnotes of the block just written, each a span of its own; addresses in them belong to the marked sentence."""
    notes, page.notes = page.notes, []
    for at, note in notes:
        inside = next((child for child in note.iter("span") if " ltx_note_content " in _classes(child)), note)
        for mark in [child for child in inside.iter("sup", "span") if re.search(r"ltx_note_mark|ltx_tag_note", _classes(child))]:
            mark.text = ""
        start, before, parts = page.length, len(page.urls), len(page.parts)
        _inline(inside, page, "footnote")
        note_text = "".join(page.parts[parts:]).strip()
        page.urls[before:] = [(at, url, note_text) for _, url, _ in page.urls[before:]]
        page.notes.clear()
        if page.length > start:
            _add(page, start, "footnote")


def _bibliography(page: _Page) -> tuple[tuple[BibEntry, ...], dict[str, str]]:
    """Entries in order, and the page's anchors -> keys."""
    entries: list[BibEntry] = []
    keys: dict[str, str] = {}
    for number, item in enumerate(page.items, 1):
        key = f"ref-{number}"
        keys[item.get("id") or key] = key
        raw = " ".join(_INVISIBLE.sub("", " ".join(_blocks_of(item))).split())
        if raw:
            entries.append(_with_hrefs(parse_entry(raw, key, fields_by="html"), item))
    return tuple(entries), keys


def _blocks_of(item: etree._Element) -> Iterator[str]:
    blocks = [child for child in item.iter("span") if " ltx_bibblock " in _classes(child)]
    yield from (" ".join(block.itertext()) for block in blocks) if blocks else item.itertext()


def _with_hrefs(entry: BibEntry, item: etree._Element) -> BibEntry:
    for anchor in item.iter("a"):
        href = trimmed(anchor.get("href") or "")
        if href.lower().startswith(("http://", "https://")):
            href_entry = parse_entry(href, entry.key)
            entry = replace(entry, arxiv=entry.arxiv or href_entry.arxiv, doi=entry.doi or href_entry.doi, url=entry.url or href)
    return entry


def _links(page: _Page, text: str, spans: list[Span]) -> Iterator[tuple[str, str]]:
    for at, url, note in page.urls:
        span = next((span for span in spans if span.start <= at <= span.end and span.role not in {"section", "heading"}), None)
        if span is not None:
            start, end = Sentences(text[span.start : span.end]).around(at - span.start)
            sentence_range = span.start + start, span.start + end
            words = " ".join(text[sentence_range[0] : sentence_range[1]].split())
            yield url, f"{words} — {note}" if note else words
