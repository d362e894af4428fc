"""Rows to blocks: headings, paragraphs, captions, footnotes, equations, tables, lists, and the scraps of figures.

What a block is follows from type size, weight, numbering, place and gaps, measured against the document's own body
text; nothing depends on one publisher's style.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.parsers.pdf.layout import Sheet, body_size, leading
from indexer.parsers.pdf.page import Box, Line, union

_NUMBERED = re.compile(r"((?:[A-Z]\.)?\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,4}|[A-Z]|[IVX]{1,5})[.:)]?\s+(?=[^\W\d_])")
_KNOWN = re.compile(
    r"(abstract|summary|introduction|background|related works?|preliminaries|methods?|methodology|materials and methods|approach|"
    r"experiments?|experimental (?:setup|results)|results?|results and discussion|evaluation|discussions?|analysis|limitations?|"
    r"conclusions?|conclusions? and future works?|future works?|acknowledge?ments?|ethics statement|ethical considerations|"
    r"broader impacts?|reproducibility statement|references|bibliography|literature cited|references and notes|works cited|"
    r"appendix|appendices|supplementary materials?|keywords|index terms|author contributions|funding)[.:]?\Z",
    re.IGNORECASE,
)
_APPENDIX = re.compile(r"(appendix|supplement)\b", re.IGNORECASE)
_CAPTION = re.compile(
    r"(?:supplementary |extended data )?(figure|fig\.?|table|tab\.|algorithm|listing|chart|scheme)\s*"
    r"(\d{1,3}|(?-i:[A-Z]\.?\d{0,3}|[IVX]{1,6}))(?:\s?\([a-z]\))?(\s*[.:|–—-]|\s+(?-i:(?=[A-Z]))|\s*\Z)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[•●▪◦‣⁃■–∗*·-]\s+\S|\(?(?:[ivx]{1,4}|[a-z]|\d{1,2})[.)]\s+\S")
_ENDS = re.compile(r"[.!?:;]['”\"’)\]\d]*\s*\Z")
_MARK = re.compile(r"\s*(?:\d{1,3}|[*∗†‡§¶♣♠♦⋆#]+)\s?(?=\S)")


@dataclass(frozen=True)
class Block:
    """Rows that belong together. `role` is a `Span` role, or `flow` for figure scraps; `level` is that of a heading."""

    role: str
    rows: tuple[Line, ...]
    level: int = 0
    label: str = ""

    @property
    def page(self) -> int:
        """The page on which the block begins."""
        return self.rows[0].page

    @property
    def box(self) -> Box:
        """The rectangle of its rows on its first page and column."""
        first = self.rows[0]
        return union(row.box for row in self.rows if (row.page, row.column) == (first.page, first.column))

    @property
    def text(self) -> str:
        """Its rows, one a line."""
        return "\n".join(row.text.strip() for row in self.rows)


@dataclass(frozen=True)
class Style:
    """The measures of a document's body text: type size, distance of lines, and (page, column) -> left and right edge."""

    size: float
    step: float
    edges: dict[tuple[int, int], tuple[float, float]]

    def left(self, row: Line) -> float:
        """The left edge of the column that holds `row`."""
        return self.edges.get((row.page, row.column), (row.box[0], row.box[2]))[0]

    def right(self, row: Line) -> float:
        """The right edge of the column that holds `row`."""
        return self.edges.get((row.page, row.column), (row.box[0], row.box[2]))[1]


def style_of(sheets: Sequence[Sheet]) -> Style:
    """Measure the body text."""
    size = body_size(sheets)
    columns: dict[tuple[int, int], list[Line]] = {}
    for sheet in sheets:
        for row in sheet.rows:
            columns.setdefault((row.page, row.column), []).append(row)
    return Style(size, leading(sheets, size), {key: _edges(rows) for key, rows in columns.items()})


def _edges(rows: Sequence[Line]) -> tuple[float, float]:
    left: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for row in rows:
        left[round(row.box[0])] += len(row.text)
        right[round(row.box[2] / 2) * 2] += len(row.text)
    # the leftmost edge that a fair share of the column's text keeps to: hanging indents have two
    share = max(left.values()) * 0.3
    return float(min(x for x, n in left.items() if n >= share)), float(right.most_common(1)[0][0])


def blocks(sheets: Sequence[Sheet], style: Style) -> list[Block]:
    """Every row of the document in exactly one block, in reading order."""
    text_blocks: list[Block] = []
    for sheet in sheets:
        notes = _footnote_rows(sheet, style)
        group: list[Line] = []
        for row in sheet.rows:
            if group and (_breaks(group, row, style) or (id(group[-1]) in notes) != (id(row) in notes)):
                text_blocks.append(_block(group, style, id(group[0]) in notes))
                group = []
            if group and id(row) in notes and _next_note(group, row):
                text_blocks.append(_block(group, style, True))
                group = []
            group.append(row)
        if group:
            text_blocks.append(_block(group, style, id(group[0]) in notes))
    return [block for piece in text_blocks for block in _headed(piece, style)]


def _next_note(group: Sequence[Line], row: Line) -> bool:
    """Whether a row opens another footnote: its mark is a symbol after a full stop, or the number after the last one's."""
    mark, last = _MARK.match(row.text), _MARK.match(group[0].text)
    if not mark:
        return False
    if mark[0].strip().isdigit() and last and last[0].strip().isdigit():
        return int(mark[0]) == int(last[0]) + 1
    return row.box[0] > group[0].box[0] - 3 and bool(_ENDS.search(group[-1].text) or not mark[0].strip().isdigit())


def _footnote_rows(sheet: Sheet, style: Style) -> set[int]:
    """Rows at the foot of each column that are set smaller than the body, from the first one with a mark on."""
    footnote_rows: set[int] = set()
    for column in {row.column for row in sheet.rows}:
        rows = [row for row in sheet.rows if row.column == column]
        tail: list[Line] = []
        for row in reversed(rows):
            if row.size > style.size - 0.4 or row.base < 0.4 * sheet.height or _CAPTION.match(row.text):
                break
            tail.append(row)
        starts = [n for n, row in enumerate(reversed(tail)) if _MARK.match(row.text) or row.text.lstrip()[:1].isupper()]
        if starts and rows and rows[-1].base > 0.75 * sheet.height:
            footnote_rows.update(id(row) for row in list(reversed(tail))[starts[0] :])
    return footnote_rows


def _breaks(group: Sequence[Line], row: Line, style: Style) -> bool:
    """Whether a new block begins with `row`."""
    last = group[-1]
    if last.column != row.column:
        return True
    step = row.base - last.base
    if _heading_goes_on(group, row) and 0 < step < 1.5 * row.size:
        return False
    if step < 0 or step > 1.32 * max(style.step * min(1.0, row.size / style.size), 1.12 * row.size):
        return True
    if abs(row.size - last.size) > 0.7 or (_wholly_bold(row) != _wholly_bold(last) and len(last.text) > 3):
        return True
    if _CAPTION.match(row.text) and _is_caption(row, style) and not _CAPTION.match(last.text):
        return True
    if (row.gaps >= 2) != (last.gaps >= 2):
        return True
    if (row.math > 0.5) != (last.math > 0.5) and _is_apart(row if row.math > 0.5 else last, style):
        return True
    if _NUMBERED.match(last.text) and last.bold and row.bold and _NUMBERED.match(row.text):
        return True
    return _new_paragraph(last, row, style, group)


def _wholly_bold(row: Line) -> bool:
    """Whether a row is bold to its end, as headings are, and not only in the title that a paragraph runs in with."""
    return sum(b - a for a, b in row.bolds) >= 0.9 * len(row.text)


def _heading_goes_on(group: Sequence[Line], row: Line) -> bool:
    """Whether a row is the second or third of a numbered heading."""
    first = group[0]
    same = row.bold and first.bold and abs(row.size - first.size) < 0.3 and not row.gaps
    return same and len(group) < 3 and bool(_NUMBERED.match(first.text)) and not _NUMBERED.match(row.text) and not _ENDS.search(group[-1].text)


def _is_apart(row: Line, style: Style) -> bool:
    return row.box[0] > style.left(row) + 2 * style.size


def _new_paragraph(last: Line, row: Line, style: Style, group: Sequence[Line]) -> bool:
    indent = row.box[0] - style.left(row)
    was = last.box[0] - style.left(last)
    ended = bool(_ENDS.search(last.text))
    if _BULLET.match(row.text) and (ended or row.text.lstrip()[:1] in "•●▪◦‣■") and indent > -2:
        return True
    if 0.6 * row.size < indent < 5 * row.size and was < 0.3 * row.size and not _BULLET.match(group[0].text):
        return ended or row.text.lstrip()[:1].isupper()
    short = last.box[2] < style.right(last) - 0.2 * (style.right(last) - style.left(last))
    return ended and short and row.text.lstrip()[:1].isupper() and abs(indent - was) < 1.5 * row.size


def _is_caption(row: Line, style: Style) -> bool:
    """Whether a row begins a caption, not a sentence that begins with "Table 2 shows"."""
    match = _CAPTION.match(row.text)
    if not match:
        return False
    return match[3].strip() != "" or row.size < style.size - 0.4 or bool(row.bolds and row.bolds[0][0] == 0) or match[0] == row.text.strip()


def _block(rows: Sequence[Line], style: Style, note: bool) -> Block:
    rows = tuple(rows)
    first = rows[0]
    if _CAPTION.match(first.text) and _is_caption(first, style):
        match = _CAPTION.match(first.text)
        return Block("caption", rows, label=f"{first.text[: match.start(1)]}{match[1]} {match[2]}" if match else "")
    if note:
        return Block("footnote", rows)
    if level := heading_level(rows, style):
        return Block("heading", rows, level, label=_label(first.text))
    words = sum(len(row.text.split()) for row in rows)
    if sum(row.gaps >= 2 for row in rows) > 0.5 * len(rows) and (len(rows) > 1 or first.gaps >= 3):
        return Block("table", rows)
    if sum(row.math * len(row.text) for row in rows) > 0.45 * sum(len(row.text) for row in rows):
        return Block("equation", rows)
    if first.size < style.size - 1.2 and (words < 12 or len(rows) == 1):
        return Block("flow", rows)
    return Block("list" if _BULLET.match(first.text) and words > 3 else "paragraph", rows)


def _label(text: str) -> str:
    match = _NUMBERED.match(text.strip())
    return match[1] if match else ""


def heading_level(rows: Sequence[Line], style: Style) -> int:
    """1 for a section, 2 for a subsection and so on; 0 where the rows are no heading."""
    text = " ".join(row.text.strip() for row in rows)
    bare = _NUMBERED.sub("", text, count=1) if _NUMBERED.match(text) else text
    first = rows[0]
    if len(rows) > 3 or len(text) > 130 or len(re.findall(r"[^\W\d_]", bare)) < 3 or first.gaps > 2 or first.math > 0.4:
        return 0
    strong = first.bold or first.size > style.size + 0.7 or (bare.isupper() and len(bare) > 4)
    italic = bool(first.italic) and sum(b - a for a, b in first.italic) > 0.7 * len(first.text)
    numbered = _NUMBERED.match(text)
    if _KNOWN.match(bare) and (strong or italic or (len(rows) == 1 and bare[:1].isupper() and bare == bare.title())):
        return max(1, _depth(numbered[1]) if numbered else 1)
    if text.rstrip().endswith((".", ",", ";")) and not (numbered and strong):
        return 0
    if first.size < style.size - 0.6 and not numbered:
        return 0
    if numbered and (strong or italic) and bare[:1].isupper():
        return _depth(numbered[1])
    if first.gaps or sum(c.isdigit() for c in bare) * 4 > len(bare) or not _is_wholly_set(rows, style):
        return 0
    if strong and len(text) < 90 and bare[:1].isupper() and (first.size >= style.size - 0.6):
        return 1 if _APPENDIX.match(bare) or first.size > style.size + 1.6 else 2 if first.size > style.size + 0.3 else 3
    return 0


def _is_wholly_set(rows: Sequence[Line], style: Style) -> bool:
    """Whether all of the rows is bold (or larger, or capitals), not only the title that a paragraph runs in with."""
    text = rows[-1].text
    return (_wholly_bold(rows[-1]) or rows[0].size > style.size + 0.7 or text.isupper()) and not text.rstrip().endswith("-")


def _depth(number: str) -> int:
    """The level that a printed number stands for: "3" and "IV" are 1, "3.2" and "A.1" are 2."""
    return number.strip(".").count(".") + 1


def _headed(block: Block, style: Style) -> Iterator[Block]:
    """Part a heading that shares its block with the first rows of bold text, else give the block as it is."""
    rows = block.rows
    if block.role == "paragraph" and len(rows) > 1 and _KNOWN.match(rows[0].text.strip()) and heading_level(rows[:1], style):
        yield _block(rows[:1], style, False)
        yield _block(rows[1:], style, False)
    else:
        yield block
