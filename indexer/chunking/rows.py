"""Parts of tables: few enough rows that an embedder reads them all, with what is needed to read them apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from indexer.chunking.pieces import Piece, SourceText, cut, packed
from indexer.parsers.code.markdown import is_rule

MOST_CHARS = 700
"""Of a table's rows in one chunk: about what an embedder of 256 tokens reads beside title, caption and column heads."""

HEAD = 200
CAPTION = 160
FAR = 100
"""Rows above a part among which its group's name is looked for."""

_ANY = 1_000_000
_NUMBER = re.compile(r"[$(~+-]*\d")


def parts(text: SourceText, piece: Piece) -> Iterator[Piece]:
    """A table by its rows in parts of about one size, its caption with the rows beside it; anything else is cut as prose."""
    table = next((span for span in piece.spans if span.role == "table"), None)
    if table is None or table.end - table.start <= MOST_CHARS:
        yield from cut(text, piece, _ANY)
        return
    lines = range(text.line(table.start), text.line(table.end - 1) + 1)
    each = (Piece(max(table.start, text.starts[line]), min(table.end, text.end(line)), piece.spans) for line in lines)
    pieces = list(packed(text, (row for row in each if row.end > row.start), _ANY, MOST_CHARS))
    pieces[0], pieces[-1] = replace(pieces[0], start=piece.start), replace(pieces[-1], end=piece.end)
    for part in pieces:
        yield from cut(text, part, _ANY)


def head(text: SourceText, piece: Piece) -> str:
    """What a part of a table needs to be read: its caption, column heads and group of rows, those that stand in another part.

    In a repository the span's own header says what the table is, so that a caption is only what was marked as one.
    """
    table = next((span for span in piece.spans if span.role == "table"), None)
    if table is None:
        return ""
    own = [text.text[span.start : span.end] for span in piece.spans if span.role == "caption"]
    captions = dict.fromkeys([*own, table.header] if table.label else own)
    short_captions = [_short(caption, CAPTION) for caption in captions if caption not in text.text[piece.start : piece.end]]
    if table.start < piece.start:
        short_captions += [_short(row, HEAD) for row in _columns(text, table.start, piece.start)]
        short_captions.append(_group(text, table.start, piece.start))
    return " · ".join(part for part in short_captions if part)


def _columns(text: SourceText, start: int, end: int) -> Iterator[str]:
    """The first row of the table, and up to two more while heads go on: below an empty or shared cell, without a number."""
    at = text.line(start)
    rows = [text.row(line) for line in range(at, min(at + 3, text.line(end)))]
    yield from rows[:1]
    for above, row in pairwise(rows):
        if is_rule(row) or "" not in _cells(above) or any(_NUMBER.match(cell) for cell in _cells(row)):
            return
        yield row


def _group(text: SourceText, start: int, at: int) -> str:
    """The first cell above that is not empty, where the part begins with a row that has none of its own."""
    line, first = text.line(at), text.line(start)
    skip = 1 if first + 1 < len(text.starts) and is_rule(text.row(first + 1)) else 0  # rows of Markdown begin with a bar
    cells = (_cells(text.row(number))[skip : skip + 1] for number in range(line, max(first + skip, line - FAR), -1))
    group = next((row_cells for row_cells in cells if row_cells != [""]), [""])
    own = _cells(text.row(line))[skip : skip + 1]
    return "".join(group)[:80] if own == [""] else ""


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")]


def _short(words: str, most: int) -> str:
    return " ".join(words[:most].split())
