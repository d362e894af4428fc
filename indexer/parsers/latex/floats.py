"""Figures, tables, their rows and cells: separate streams that follow the paragraph they are in."""

from __future__ import annotations

from bisect import bisect_right

from indexer.parsers.latex.machine import Float, Group, LatexTable, Machine
from indexer.parsers.latex.reader import Token
from indexer.parsers.latex.stream import Mark, TextStream
from indexer.parsers.latex.symbols import grouped

MAX_SPAN = 40
LONGEST = 120
"""Of a cell that is repeated: a name or a number, no paragraph."""


def begin(m: Machine) -> LatexTable:
    """A table begins."""
    return LatexTable(m.out, start=m.out.length)


def _grid(m: Machine) -> LatexTable | None:
    return m.grid if m.grid and m.tabulars == 1 and m.out is m.grid.out else None


def _fill(m: Machine, grid: LatexTable) -> None:
    """What reaches down into a cell that the author left empty."""
    _, words = grid.down.get(grid.column, (0, ""))
    if words and m.out.length == grid.start:
        m.work += len(words) // 4
        m.out.put(words)
        m.out.space()


def border(m: Machine) -> None:
    """The next cell."""
    grid = _grid(m)
    if grid:
        _fill(m, grid)
    m.out.put("|")
    m.out.space()
    if grid:
        grid.column, grid.start = grid.column + 1, m.out.length


def row_end(m: Machine) -> None:
    """The row is over; one without any cell is a rule or a gap and gets no words."""
    if not (grid := _grid(m)):
        return
    if grid.column:
        _fill(m, grid)
    grid.down = {column: (left - 1, words) for column, (left, words) in grid.down.items() if left > 1}
    grid.column, grid.start = 0, m.out.length


def multirow(m: Machine, tok: Token) -> None:
    r"""`\multirow[t]{3}[1]{*}[2pt]{words}`: a cell that is said again in the rows below, where they leave it empty."""
    m.reader.optional()
    count = m.reader.word()[:3]
    m.reader.optional()
    if not m.reader.flag("*"):
        m.reader.take("m")
    m.reader.optional()
    more = min(int(count), MAX_SPAN) - 1 if count.isascii() and count.isdigit() else 0
    grid = _grid(m)

    def then(stream: TextStream) -> None:
        m.out.inline(stream)
        words = stream.text().strip()
        if grid and more > 0 and len(words) <= LONGEST:
            grid.down[grid.column] = (more + 1, words)

    m.capture(then)


def multicolumn(m: Machine, tok: Token) -> None:
    r"""`\multicolumn{3}{c}{...}`: a cell with two empty ones behind it, so that columns stay columns."""
    count = m.reader.word()[:3]
    m.reader.take("m")
    more = min(int(count), MAX_SPAN) - 1 if count.isascii() and count.isdigit() else 0
    opening = m.reader.skip_spaces()
    if opening == "{" and more > 0 and m.tabulars:
        m.open(Group("{", close=lambda: _empty_cells(m, more)))
    elif opening is not None:
        m.reader.back()


def _empty_cells(m: Machine, count: int) -> None:
    m.work += count
    for _ in range(count):
        m.out.space()
        border(m)


FLOATS = grouped(
    {
        "Figure": "figure wrapfigure SCfigure sidewaysfigure teaserfigure marginfigure floatingfigure",
        "Table": "table wraptable sidewaystable SCtable margintable longtable supertabular longtblr talltblr",
        "Algorithm": "algorithm algorithm2e algo",
        "Listing": "listing program",
    }
)
_ARGUMENTS = {"wrapfigure": "omom", "wraptable": "omom", "SCfigure": "oo", "floatingfigure": "om"}
TABULARS = grouped(
    {
        "om": "tabular array longtable supertabular tblr longtblr talltblr",
        "mom": "tabular* tabularx NiceTabular* NiceTabularX",
        "mm": "tabulary xltabular",
        "m": "tabu",
        "omo": "NiceTabular",
        "": "tabbing",
    }
)
_FRAMED = ("table", "algorithm", "paragraph", "equation")


def floating(m: Machine, name: str) -> None:
    """A float: a stream of its own that follows the paragraph it stands in."""
    kind = FLOATS[name.rstrip("*")]
    m.reader.take(_ARGUMENTS.get(name.rstrip("*"), "" if name in TABULARS else "o"))
    m.floats.append(Float(kind))
    role = "algorithm" if kind in ("Algorithm", "Listing") else "paragraph"
    tabulars, m.tabulars = m.tabulars, 0
    lists, m.lists = m.lists, []

    def then(stream: TextStream) -> None:
        m.tabulars, m.lists = tabulars, lists
        _end_float(m, stream)

    m.divert(Group("env", name), TextStream(flowing=True, style=(role, m.path, "")), then)
    if name in TABULARS:
        m.reader.take(TABULARS[name])
        _rows(m)


def _end_float(m: Machine, stream: TextStream) -> None:
    stream.end_block()
    each = m.floats.pop()
    captions = [mark for mark in stream.marks if mark.role == "caption" and mark.label]
    if len(captions) > 1:
        stream.marks = _beside(stream, captions)
    else:
        stream.marks = [_of_float(mark, each) for mark in stream.marks]
    if m.out.flowing:
        m.out.defer(stream)
    else:
        m.out.inline(stream)


def _of_float(mark: Mark, each: Float) -> Mark:
    if mark.role in _FRAMED:
        return Mark(mark.start, mark.end, mark.role, mark.path, each.label or mark.label, each.caption)
    return mark


def _beside(stream: TextStream, captions: list[Mark]) -> list[Mark]:
    """Several numbered parts in one float: each has its caption on the side where the first part has its own."""
    text, starts = stream.text(), [caption.start for caption in captions]
    above = starts[0] == min(mark.start for mark in stream.marks)
    marks = []
    for mark in stream.marks:
        at = bisect_right(starts, mark.start) - above
        own = captions[max(0, min(at, len(captions) - 1))]
        framed = mark.role in _FRAMED
        marks.append(Mark(mark.start, mark.end, mark.role, mark.path, own.label, text[own.start : own.end]) if framed else mark)
    return marks


def tabular(m: Machine, name: str) -> None:
    """Rows on lines, cells between bars."""
    m.reader.take(TABULARS[name])
    out, style = m.out, m.out.style

    def close() -> None:
        row_end(m)
        m.tabulars -= 1
        if m.tabulars == 0 and out.flowing:
            out.cut()
            out.style = style

    m.open(Group("env", name, close))
    _rows(m)


def _rows(m: Machine) -> None:
    m.tabulars += 1
    if m.tabulars == 1 and m.out.flowing:
        m.grid = begin(m)
        m.out.cut()
        m.out.style = ("table", m.out.style[1], m.out.style[2])
