"""Figures, tables and their rows: streams of their own that follow the paragraph they stand in."""

from __future__ import annotations

from indexer.tex.machine import Float, Group, Machine
from indexer.tex.stream import Mark, Stream

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


def floating(m: Machine, name: str) -> None:
    """A float: a stream of its own that follows the paragraph it stands in."""
    kind = FLOATS[name.rstrip("*")]
    m.reader.take(_ARGUMENTS.get(name.rstrip("*"), "" if name in TABULARS else "o"))
    m.floats.append(Float(kind))
    role = "algorithm" if kind in ("Algorithm", "Listing") else "paragraph"
    tabulars, m.tabulars = m.tabulars, 0
    lists, m.lists = m.lists, []

    def then(stream: Stream) -> None:
        m.tabulars, m.lists = tabulars, lists
        _end_float(m, stream)

    m.divert(Group("env", name), Stream(flowing=True, style=(role, m.path, "")), then)
    if name in TABULARS:
        m.reader.take(TABULARS[name])
        _rows(m)


def _end_float(m: Machine, stream: Stream) -> None:
    stream.end_block()
    each = m.floats.pop()
    stream.marks = [_of_float(mark, each) for mark in stream.marks]
    if m.out.flowing:
        m.out.defer(stream)
    else:
        m.out.inline(stream)


def _of_float(mark: Mark, each: Float) -> Mark:
    if mark.role in ("table", "algorithm", "paragraph", "equation"):
        return Mark(mark.start, mark.end, mark.role, mark.path, each.label or mark.label, each.caption)
    return mark


def tabular(m: Machine, name: str) -> None:
    """Rows on lines, cells between bars."""
    m.reader.take(TABULARS[name])
    out, style = m.out, m.out.style

    def close() -> None:
        m.tabulars -= 1
        if m.tabulars == 0 and out.flowing:
            out.cut()
            out.style = style

    m.open(Group("env", name, close))
    _rows(m)


def _rows(m: Machine) -> None:
    m.tabulars += 1
    if m.tabulars == 1 and m.out.flowing:
        m.out.cut()
        m.out.style = ("table", m.out.style[1], m.out.style[2])
