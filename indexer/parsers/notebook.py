"""Jupyter notebooks to a `Document`: the sources of cells, outputs dropped.

Where the file is written as Jupyter writes it (one line of source a line of JSON), each line of source keeps the number
of the line it stands on in the file and everything else is left blank, so that citations hold. Other files become their
cells one after another, and the document says so.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from indexer.parsers import plain
from indexer.parsers.code import python
from indexer.parsers.code.spans import LONG, CodeUnit, LineIndex, labelled, one_line, spans
from indexer.parsers.decode import decode, newlines
from lineage.errors import ParseError
from lineage.records import Document, Span, Status, WorkId
from lineage.text.syntax import UNREADABLE

VERSION = "notebook@2"
MAX_CELLS = 5_000
_OPENS = re.compile(r'\s*"(?:source|input)"\s*:\s*\[\s*$')


@dataclass(frozen=True)
class _Cell:
    number: int
    kind: str
    lines: tuple[str, ...]
    first: int = 0


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """Parse a notebook (nbformat 3 or 4); raises `ParseError` for anything else."""
    raw = decode(data)
    cells, language = _cells(path, raw)
    if not cells:
        raise ParseError(Status.EMPTY, f"{path}: a notebook without sources")
    placed = _in_file(raw.split("\n"), cells)
    detail = "" if placed else "line numbers count the sources of cells one after another"
    text, placed = _text(placed, raw.count("\n") + 1) if placed else _one_after_another(cells)
    cell_spans = tuple(span for cell in placed for span in _spans(cell, path, LineIndex(text), language))
    return Document(work, path, text, cell_spans, VERSION, "code", language, blob, detail=detail)


def _cells(path: str, raw: str) -> tuple[list[_Cell], str]:
    try:
        book = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ParseError(Status.PARSE_ERROR, f"{path}: not JSON ({str(error)[:100]})") from error
    if not isinstance(book, dict):
        raise ParseError(Status.PARSE_ERROR, f"{path}: JSON, but no notebook")
    listed = book.get("cells")
    if listed is None:
        sheets = book.get("worksheets")
        listed = [cell for sheet in _list(sheets) if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    cells = [cell for number, entry in enumerate(_list(listed)[:MAX_CELLS], 1) if (cell := _cell(number, entry))]
    return cells, _language(book)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _cell(number: int, entry: Any) -> _Cell | None:
    if not isinstance(entry, dict):
        return None
    source = entry.get("source", entry.get("input", ""))
    parts = [part for part in source if isinstance(part, str)] if isinstance(source, list) else [source if isinstance(source, str) else ""]
    text = newlines("".join(parts)).replace("\0", " ").encode("utf-8", "replace").decode()
    kind = "code" if entry.get("cell_type") == "code" else "text"
    return _Cell(number, kind, tuple(text.removesuffix("\n").split("\n"))) if text.strip() else None


def _language(book: dict[str, Any]) -> str:
    meta = book.get("metadata")
    kernel = meta.get("kernelspec") if isinstance(meta, dict) else None
    language = kernel.get("language") if isinstance(kernel, dict) else None
    return language.lower()[:20] if isinstance(language, str) and language else "python"


def _in_file(raw: list[str], cells: list[_Cell]) -> list[_Cell] | None:
    """The cells with the lines they stand on, or None if the file is not written a line of source a line."""
    placed: list[_Cell] = []
    at = 0
    for cell in cells:
        while at < len(raw) and not (_OPENS.match(raw[at]) and _same(raw, at + 1, cell)):
            at += 1
        if at >= len(raw):
            return None
        placed.append(replace(cell, first=at + 2))
        at += len(cell.lines) + 1
    return placed


def _same(raw: list[str], at: int, cell: _Cell) -> bool:
    return len(raw) >= at + len(cell.lines) and all(_unquoted(line) == want for line, want in zip(raw[at:], cell.lines, strict=False))


def _unquoted(line: str) -> str | None:
    try:
        value = json.loads(line.strip().removesuffix(","))
    except ValueError:
        return None
    return value.removesuffix("\n") if isinstance(value, str) else None


def _text(cells: list[_Cell], count: int) -> tuple[str, list[_Cell]]:
    lines = [""] * count
    for cell in cells:
        lines[cell.first - 1 : cell.first - 1 + len(cell.lines)] = cell.lines
    return "\n".join(lines), cells


def _one_after_another(cells: list[_Cell]) -> tuple[str, list[_Cell]]:
    placed: list[_Cell] = []
    at = 1
    for cell in cells:
        placed.append(replace(cell, first=at))
        at += len(cell.lines) + 1
    return "\n\n".join("\n".join(cell.lines) for cell in placed) + "\n", placed


def _spans(cell: _Cell, path: str, lines: LineIndex, language: str) -> tuple[Span, ...]:
    last = cell.first + len(cell.lines) - 1
    label = f"cell {cell.number}"
    if cell.kind == "text":
        title = plain.first_heading(cell.lines)
        unit = CodeUnit(cell.first, last, "text", title, title)
    else:
        unit = _code_unit(cell, last, language)
    return labelled(spans((unit,), lines, (path, label)), label)


def _code_unit(cell: _Cell, last: int, language: str) -> CodeUnit:
    """A code cell, named after what it defines, and cut where it is long."""
    names = [line.split("(")[0].split(":")[0].split()[-1] for line in cell.lines if line.startswith(("def ", "class ")) and len(line.split()) > 1]
    parts: tuple[CodeUnit, ...] = ()
    if len(cell.lines) > LONG and language == "python":
        # Magics and shell escapes are no Python; blanked, the rest keeps its lines.
        code = "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in cell.lines)
        try:
            parts = tuple(_moved(unit, cell.first - 1) for unit in python.outline(code))
        except UNREADABLE:
            parts = ()
    return CodeUnit(cell.first, last, "cell", one_line(", ".join(names), 80), parts=parts)


def _moved(unit: CodeUnit, by: int) -> CodeUnit:
    return replace(unit, first=unit.first + by, last=unit.last + by, parts=tuple(_moved(part, by) for part in unit.parts))
