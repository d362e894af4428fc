"""Figures, tables and their rows: streams of their own that follow the paragraph they stand in."""

from __future__ import annotations

from bisect import bisect_right

from indexer.parsers.latex.cells import begin, row_end
from indexer.parsers.latex.machine import Float, Group, Machine
from indexer.parsers.latex.stream import Mark, TextStream

FLOATS = {
    "figure": "Figure",
    "wrapfigure": "Figure",
    "SCfigure": "Figure",
    "sidewaysfigure": "Figure",
    "teaserfigure": "Figure",
    "marginfigure": "Figure",
    "floatingfigure": "Figure",
    "table": "Table",
    "wraptable": "Table",
    "sidewaystable": "Table",
    "SCtable": "Table",
    "margintable": "Table",
    "longtable": "Table",
    "supertabular": "Table",
    "longtblr": "Table",
    "talltblr": "Table",
    "algorithm": "Algorithm",
    "algorithm2e": "Algorithm",
    "algo": "Algorithm",
    "listing": "Listing",
    "program": "Listing",
}
_ARGUMENTS = {"wrapfigure": "omom", "wraptable": "omom", "SCfigure": "oo", "floatingfigure": "om"}
TABULARS = {
    "tabular": "om",
    "tabular*": "mom",
    "tabularx": "mom",
    "tabulary": "mm",
    "array": "om",
    "longtable": "om",
    "supertabular": "om",
    "tabu": "m",
    "tblr": "om",
    "longtblr": "om",
    "talltblr": "om",
    "NiceTabular": "omo",
    "NiceTabular*": "mom",
    "NiceTabularX": "mom",
    "tabbing": "",
    "xltabular": "mm",
}
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
