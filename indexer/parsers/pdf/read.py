"""Bytes of a PDF to glyph lines, links and named places: with `crop` the one module that knows PyMuPDF.

Runs inside the sandbox's child (MuPDF can be made to loop or to fill memory by a file of 3 kB), and still keeps
its own limits on pages and characters. What a reader of the page cannot see (render mode 3, no opacity, white on
white, off the page, under two points, clipped away or painted over) is left out and counted: it is a known carrier of instructions to agents.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from indexer.parsers.pdf.page import Anchor, Box, Line, Page, Pages, PdfLink, Range
from lineage.errors import ParseError
from lineage.records import Status

MAX_PAGES = 500
MAX_CHARS = 5_000_000
MAX_PAGE_CHARS = 400_000
MAX_PAGE_LINES = 20_000
MAX_LINKS = 5_000
MAX_ANCHORS = 20_000
TINY = 2.0
MAX_SIDE = 1_500.0
"""Points; a larger page is not drawn."""
DRAWING = 10.0
"""Processor seconds for drawing the pages of a file; those after that are read without, and a row says so."""
_INK = 8
"""Levels of grey between letters and what they stand on, at the least."""
_MATH_FONT = re.compile(r"CMMI|CMSY|CMEX|MSAM|MSBM|Math|Symbol|EUFM|EUSM|RSFS", re.IGNORECASE)
_BOLD_FONT = re.compile(r"bold|black|heavy|medi(?!um)|semib|demi|cmbx|-b$|bx\d", re.IGNORECASE)
_ITALIC_FONT = re.compile(r"ital|obli|cmti|slant|cmsl|-it$|ti\d+$", re.IGNORECASE)
_DAMAGE = re.compile(r"zlib error|syntax error|format error|cannot load object|read error|may not be correct|premature end")
_COMBINING = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "˝": "\u030b", "ˇ": "\u030c", "˘": "\u0306",
    "˙": "\u0307", "˚": "\u030a", "˜": "\u0303", "ˆ": "\u0302", "¯": "\u0304",
}  # fmt: skip
_AFTER = {"¸": "\u0327", "˛": "\u0328"}
_BEFORE = _COMBINING | _AFTER
_STROKED = {"l": "ł", "L": "Ł"}  # Computer Modern sets the stroke as a sign without a name before the letter
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2009\u200a\u202f\t\r\n"), " ") | {0xAD: "-"}


def read(data: bytes) -> Pages:
    """Every page of a PDF; raises `ParseError` if nothing can be read."""
    if not data.strip():
        raise ParseError(Status.EMPTY, "the file is empty")
    if b"%PDF-" not in data[:1024]:
        raise ParseError(Status.WRONG_TYPE, "the file is no PDF")
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(stream=data, filetype="pdf") as pdf:
            return _read(pdf, truncated=b"%%EOF" not in data[-2048:])
    except _mupdf_errors() as error:
        status = Status.PARSE_ERROR if b"%%EOF" in data[-2048:] else Status.TRUNCATED
        raise ParseError(status, f"MuPDF cannot open it: {str(error)[:200]}") from error


def _read(pdf: Any, truncated: bool) -> Pages:
    if not pdf.is_pdf:
        raise ParseError(Status.WRONG_TYPE, "the file is no PDF")
    if pdf.needs_pass:
        raise ParseError(Status.ENCRYPTED, "the file asks for a password")
    total = pdf.page_count
    if not total:
        status = Status.TRUNCATED if truncated else Status.PARSE_ERROR if pdf.is_repaired else Status.EMPTY
        raise ParseError(status, "no page can be found in the file")
    _damaged()
    seen = _Seen()
    pages = [page for index in range(total) if (page := _page_or_loss(pdf, index, seen))]
    if seen.damaged:
        listed = ", ".join(map(str, seen.damaged[:20])) + (" ..." if len(seen.damaged) > 20 else "")
        seen.notes.append(f"damaged data on page {listed}: text may be missing or wrong there")
    if truncated:
        seen.notes.append("the file has no end mark (%%EOF): it was probably cut short")
    return Pages(
        pages=tuple(pages),
        total=total,
        anchors=tuple(_anchors(pdf)),
        title=str((pdf.metadata or {}).get("title") or "").strip(),
        repaired=bool(pdf.is_repaired) or truncated or bool(seen.damaged),
        hidden=seen.hidden,
        invisible=seen.invisible,
        notes=tuple(seen.notes),
        lost=(*seen.lost, *seen.undrawn),
    )


def _page_or_loss(pdf: Any, index: int, seen: _Seen) -> Page | None:
    """One page, or None and a row in `seen.lost`."""
    lost: tuple[Status, str]
    try:
        if index >= MAX_PAGES or seen.chars > MAX_CHARS:
            raise _TooMuchError
        page = _page(pdf, index, seen)
        damaged = _damaged()
        seen.damaged += [index + 1] if damaged else []
        if page.lines or not damaged:
            return page
        lost = (Status.PARSE_ERROR, "damaged, nothing readable is left")
    except _TooMuchError:
        limits = f"{MAX_PAGES} pages, {MAX_CHARS} characters, or on one page {MAX_PAGE_CHARS} characters or {MAX_PAGE_LINES} lines"
        lost = (Status.TOO_LARGE, f"over {limits}")
    except _mupdf_errors() as error:
        lost = (Status.PARSE_ERROR, str(error)[:200])
    seen.lost.append((f"page {index + 1}", *lost))
    return None


def _damaged() -> bool:
    """Whether MuPDF has met damaged data since the last call. It reads on in silence, so its warnings are the only trace."""
    import pymupdf

    return _DAMAGE.search(pymupdf.TOOLS.mupdf_warnings(reset=True)) is not None


def _mupdf_errors() -> tuple[type[Exception], ...]:
    """What MuPDF and its binding raise for damaged files."""
    import pymupdf

    return RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase


class _TooMuchError(Exception):
    """A page with more characters than any page has."""


class _Seen:
    """Running counts over a file."""

    def __init__(self) -> None:
        self.chars = 0
        self.drawing = 0.0
        self.hidden = 0
        self.invisible = 0
        self.notes: list[str] = []
        self.damaged: list[int] = []
        self.lost: list[tuple[str, Status, str]] = []
        self.undrawn: list[tuple[str, Status, str]] = []


def _page(pdf: Any, index: int, seen: _Seen) -> Page:
    import pymupdf

    page = pdf.load_page(index)
    everywhere = pymupdf.INFINITE_RECT()  # without it what lies off the page would go unnoticed
    sheet = page.get_textpage(clip=everywhere, flags=pymupdf.TEXT_PRESERVE_WHITESPACE)
    count = len(sheet.extractText())
    if count > MAX_PAGE_CHARS:
        raise _TooMuchError
    seen.chars += count
    raw = [line for block in sheet.extractRAWDICT()["blocks"] for line in block.get("lines", ())]
    if len(raw) > MAX_PAGE_LINES:
        raise _TooMuchError
    rect = page.rect
    lines = tuple(_visible(page, index + 1, _upright(raw), (rect.width, rect.height), seen))
    return Page(index + 1, rect.width, rect.height, lines, tuple(_links(page, pdf, index + 1)))


def _upright(raw: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The lines that run left to right; on a page turned as a whole, all of them."""
    across = [line for line in raw if line["dir"][0] > 0.9]
    return across if len(across) * 2 >= len(raw) else raw


def _visible(page: Any, number: int, raw: Iterable[Mapping[str, Any]], size: tuple[float, float], seen: _Seen) -> Iterator[Line]:
    raw = list(raw)
    scanned = _is_scan(page, raw)
    if scanned and number == 1:
        seen.notes.append("scanned pages: the text is an OCR layer")
    painted: list[Box] | None = None
    drawn = None if scanned else _Drawn.of(page, seen)
    for line in raw:
        spans = []
        for span in line["spans"]:
            if _white(span) and painted is None:
                painted = _painted(page)
            if _is_hidden(span, size, painted or [], scanned) or (drawn and drawn.is_blank(span)):
                seen.hidden += len(span["chars"])
            else:
                spans.append(span)
        if spans and (visible_line := _line(number, spans, seen)):
            yield visible_line


def _is_scan(page: Any, raw: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the page is an image with an invisible text layer, as scanners make them: the text is then what is seen."""
    spans = [span for line in raw for span in line["spans"]]
    if not spans or sum(span["alpha"] == 0 for span in spans) < 0.8 * len(spans):
        return False
    area = page.rect.width * page.rect.height
    return any((x1 - x0) * (y1 - y0) > 0.7 * area for x0, y0, x1, y1 in (info["bbox"] for info in page.get_image_info()))


def _white(span: Mapping[str, Any]) -> bool:
    color: object = span["color"]
    return min(color >> 16 & 255, color >> 8 & 255, color & 255) >= 250 if isinstance(color, int) else False


def _painted(page: Any) -> list[Box]:
    """Coloured areas and images, on which white letters can be read."""
    boxes = [tuple(info["bbox"]) for info in page.get_image_info()]
    for drawing in page.get_cdrawings()[:5000]:
        fill = drawing.get("fill")
        if fill and min(fill) < 0.95 and (drawing.get("fill_opacity") or 1) > 0.1:
            boxes.append(tuple(drawing["rect"]))
    return boxes


def _is_hidden(span: Mapping[str, Any], size: tuple[float, float], painted: list[Box], scanned: bool) -> bool:
    x0, y0, x1, y1 = span["bbox"]
    if x1 <= 0 or y1 <= 0 or x0 >= size[0] or y0 >= size[1] or span["size"] < TINY:
        return True
    if scanned:
        return False
    if span["alpha"] == 0:
        return True
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    return _white(span) and not any(a <= x <= c and b <= y <= d for a, b, c, d in painted)


class _Drawn:
    """A page as a reader sees it, in levels of grey, a pixel a point: where letters left no ink they are clipped away or painted over."""

    def __init__(self, pixels: Any) -> None:
        self._bytes, self._width, self._height = pixels.samples, pixels.width, pixels.height
        self._left, self._top = pixels.x, pixels.y

    @classmethod
    def of(cls, page: Any, seen: _Seen) -> _Drawn | None:
        """The page, unless it is very large or drawing has taken long enough."""
        import pymupdf

        if max(page.rect.width, page.rect.height) > MAX_SIDE:
            return None
        if seen.drawing > DRAWING:
            seen.undrawn = seen.undrawn or [(f"hidden text from page {page.number + 1} on", Status.PARSE_TIMEOUT, f"drawing took {DRAWING:g} s")]
            return None
        start = time.thread_time()
        try:
            return cls(page.get_pixmap(colorspace=pymupdf.csGRAY, alpha=False, annots=False))
        finally:
            seen.drawing += time.thread_time() - start

    def is_blank(self, span: Mapping[str, Any]) -> bool:
        """Whether two letters or more left no ink in their box."""
        if sum(char["c"].isalnum() for char in span["chars"]) < 2:
            return False
        x0, y0, x1, y1 = (round(edge) for edge in span["bbox"])
        left, right = max(0, x0 - self._left), min(self._width, x1 - self._left)
        rows = range(max(0, y0 - self._top), min(self._height, y1 - self._top))
        lines = [self._bytes[row * self._width + left : row * self._width + right] for row in rows if left < right]
        return bool(lines) and max(map(max, lines)) - min(map(min, lines)) < _INK


def _line(number: int, spans: list[Mapping[str, Any]], seen: _Seen) -> Line | None:
    """One record out of the spans of a line, or None for blank ones."""
    chars: list[str] = []
    xs: list[float] = []
    italic, raised, bolds, weight = [], [], [], {"math": 0, "bold": 0}
    sizes: dict[tuple[float, float], int] = {}
    for span in spans:
        start = len(chars)
        _glyphs(span["chars"], chars, xs, seen)
        count, font = len(chars) - start, span["font"]
        sizes[span["size"], span["origin"][1]] = sizes.get((span["size"], span["origin"][1]), 0) + count
        flags = span["flags"]
        where: Range = (start, len(chars))
        if flags & 2 or _ITALIC_FONT.search(font):
            italic.append(where)
        if flags & 1:
            raised.append(where)
        if flags & 16 or _BOLD_FONT.search(font):
            bolds.append(where)
            weight["bold"] += count
        weight["math"] += count if _MATH_FONT.search(font) else 0
    text = "".join(chars)
    if not text.strip():
        return None
    size, base = max(sizes, key=lambda pair: sizes[pair])
    boxes = [span["bbox"] for span in spans]
    box = (min(b[0] for b in boxes), base - size, max(b[2] for b in boxes), base + 0.25 * size)
    lifted = tuple(span for span in raised if span[1] - span[0] < len(text))
    return Line(
        number, box, base, text, tuple(xs), round(size, 2), weight["bold"] > 0.6 * len(text),
        tuple(italic), lifted, tuple(bolds), weight["math"] / len(text),
    )  # fmt: skip


def _glyphs(glyphs: Iterable[Mapping[str, Any]], chars: list[str], xs: list[float], seen: _Seen) -> None:
    """Append characters with their left edges: loose accents put on their letter, invisible characters left out."""
    glyphs = list(glyphs)
    for glyph, after in zip(glyphs, [*glyphs[1:], None], strict=True):
        c = glyph["c"].translate(_SPACES)
        x = glyph["bbox"][0]
        if c == "-" and glyph["c"] == "\u00ad" and chars and chars[-1] == "-":
            continue
        if len(c) == 1 and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn"}:
            seen.invisible += 1
        elif c in _AFTER and chars and chars[-1].isalpha() and not _is_over(glyph, after):
            chars[-1] = unicodedata.normalize("NFC", chars[-1] + _AFTER[c])
        elif chars and chars[-1] == "\ufffd" and c in _STROKED:
            chars[-1] = _STROKED[c]
        elif chars and chars[-1] in _BEFORE and c.isalpha():
            chars[-1] = unicodedata.normalize("NFC", {"ı": "i", "ȷ": "j"}.get(c, c) + _BEFORE[chars[-1]])[:1]
        elif unicodedata.combining(c) and chars:
            chars[-1] = unicodedata.normalize("NFC", chars[-1] + c)[:1]
        else:
            for part in unicodedata.normalize("NFKC", c) if "\ufb00" <= c <= "\ufb06" else c:
                chars.append(part)
                xs.append(x)


def _is_over(glyph: Mapping[str, Any], after: Mapping[str, Any] | None) -> bool:
    """Whether a glyph is set over (or under) the one that follows."""
    x0, _, x1, _ = glyph["bbox"]
    return after is not None and after["bbox"][0] < x0 + 0.3 * (x1 - x0)


def _links(page: Any, pdf: Any, number: int) -> Iterator[PdfLink]:
    for link in page.get_links()[:MAX_LINKS]:
        box = tuple(link["from"])
        uri = link.get("uri") or ""
        target, to = link.get("page", -1), link.get("to")
        if uri:
            yield PdfLink(number, box, uri=uri[:2000])
        elif isinstance(target, int) and 0 <= target < pdf.page_count and to is not None:
            name = str(link.get("nameddest") or "")[:300]
            height = pdf.page_cropbox(target).height if name else 0.0
            y = height - to[1] if name else to[1]
            yield PdfLink(number, box, name=name, to_page=target + 1, to=(to[0], y))


def _anchors(pdf: Any) -> Iterator[Anchor]:
    """Named places that stand for cited works; their points are counted from the bottom of the page.

    Not asked of damaged files: `resolve_names` ends the process where a page has no object of its own.
    """
    if pdf.is_repaired:
        return
    try:
        names = pdf.resolve_names()
    except _mupdf_errors():
        return
    for count, (name, place) in enumerate(names.items()):
        page, to = place.get("page", -1), place.get("to")
        if count < MAX_ANCHORS and name.startswith("cite.") and to and 0 <= page < pdf.page_count:
            yield Anchor(name.removeprefix("cite.")[:300], page + 1, to[0], pdf.page_cropbox(page).height - to[1])
