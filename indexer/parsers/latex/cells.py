"""Cells of a table: those that share columns or rows, so that columns stay columns and each row reads whole."""

from __future__ import annotations

from indexer.parsers.latex.machine import Group, LatexTable, Machine
from indexer.parsers.latex.scanner import Token
from indexer.parsers.latex.stream import TextStream

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
