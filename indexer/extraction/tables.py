"""Facts of tables: settings by row ("weight decay | 0.05") and by column ("epochs" over 200, 300, 400).

A table is a run of lines with cells between bars, as LaTeX, HTML and Markdown leave them. A row whose first cell names a
detail says its values, one whose second does too: its first is the group of rows; under a head that names one every row does.
The scope is the other head, or the group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexer.extraction import prose
from indexer.extraction.collector import Sink
from indexer.extraction.quantity import quantity
from lineage.hyperparameters.ontology import NormalizedValue, Ontology
from lineage.hyperparameters.terms import fold

Row = tuple[int, list[str]]
_RULE = re.compile(r"\s*\|?[\s:|+=-]*\|?\s*\Z")
_ASIDE = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,60}\]|\$[^$]{0,60}\$|[*_`↑↓†‡§]|\\[a-zA-Z]+|&nbsp;")
_COUNT = re.compile(r"\A(?:#|no\.|num\.?|number|nr\.?)\s*(?:of\s+)?", re.IGNORECASE)
_SYMBOL = re.compile(r"\$?\\?[A-Za-zα-ω]{1,10}_?\{?\w{0,6}\}?\$?")
_MEASURED = re.compile(
    r"\W{0,20}(?:(?:total|trainable|number of|num\.?|no\.)\s+){0,2}"
    r"(?:params?|parameters|[GMTP]?FLOPs?|MACs|throughput|latency|memory|runtime|speed|seq\S{0,6} len\w*)\b",
    re.IGNORECASE,
)
"""What a row begins with that is measured: its values are none of a column's detail."""
_WITH = re.compile(r"\bw/")
_MOST_CELLS = 40
_NUMERIC = {"number", "integer", "fraction", "list"}


def blocks(lines: Sequence[str], first: int = 1) -> Iterator[list[Row]]:
    """Runs of lines with cells, each row with its line number."""
    rows: list[tuple[int, str]] = []
    for number, line in enumerate([*lines, ""], first):
        if line.count("|") >= 1 and len(line) < 4_000 and not line.lstrip().startswith(("$ ", "%")):
            if not _RULE.match(line):
                rows.append((number, line.strip()))
        elif rows:
            framed = all(row.startswith("|") for _, row in rows)  # in Markdown; elsewhere a bar at the beginning follows an empty cell
            yield [(at, [cell.strip() for cell in row.rstrip("|")[framed:].split("|")][:_MOST_CELLS]) for at, row in rows]
            rows = []


def read(rows: Sequence[Row], sink: Sink) -> None:
    """Put the facts of one table into `sink`."""
    (top, titles), head = rows[0], [named(cell, sink.ontology) for cell in rows[0][1]]
    for number, cells in rows:
        first, *further_cells = cells
        own = named(first, sink.ontology)
        if any("=" in cell for cell in further_cells):
            prose.read("\n".join(further_cells), sink, first=number, kind="table")
        below = named(further_cells[0], sink.ontology) if len(further_cells) > 1 and number != top else ""
        if below:
            _row(number, further_cells, below, (top, titles[1:]), sink, group=first)
        elif own and further_cells:
            _row(number, cells, own, rows[0], sink)
        elif number != top and not _MEASURED.match(first):
            _under(number, cells, head, titles, sink)


def named(cell: str, ontology: Ontology) -> str:
    """The detail that a cell names, "" for none; symbols, units and remarks in brackets aside."""
    words = " ".join(_ASIDE.sub(" ", cell).split()).strip(" :.=")
    if not words or _SYMBOL.fullmatch(cell.strip()):
        words = re.sub(r"[${}\\\s]", "", cell)
    if not 1 < len(words) < 60 or len(words.split()) > 6 or _WITH.search(cell):
        return ""
    counted = _COUNT.sub("", words)
    name = "_".join(counted.replace("-", " ").split())
    return ontology.name_of(name) or (ontology.name_of(f"n_{name}") if counted != words else "") or ""


def _row(number: int, cells: Sequence[str], name: str, head: Row, sink: Sink, group: str = "") -> None:
    for at, cell in enumerate(cells[1:], 1):
        if sink.ontology.terms[name].type == "choice" and "," in cell:
            for part in cell.split(","):
                if value := read_cell(name, part, sink.ontology):
                    sink.state(number, name, value.value, part.strip(), written=cells[0][:80], kind="table")
        value = read_cell(name, cell, sink.ontology)
        if value:
            column = head[1][at] if head[0] != number and len(cells) > 2 and at < len(head[1]) else ""
            label = cells[1] if at > 1 and head[1][1:2] == [""] and not read_cell(name, cells[1], sink.ontology) else ""
            scope = ", ".join(part for part in (_scope(label), _scope(column or group)) if part)
            sink.state(number, name, value.value, cell, written=cells[0][:80], scope=scope, kind="table", unit=value.unit)


def _under(number: int, cells: Sequence[str], names: Sequence[str], head: Sequence[str], sink: Sink) -> None:
    for at, (name, cell) in enumerate(zip(names, cells, strict=False)):
        value = read_cell(name, cell, sink.ontology) if name else None
        if value:
            scope = cells[0] if at else ""
            sink.state(number, name, value.value, cell, written=head[at][:80], scope=_scope(scope), kind="table", unit=value.unit)


def _scope(cell: str) -> str:
    """A cell as a scope, without remarks; a symbol that stands alone is kept."""
    words = " ".join(_ASIDE.sub(" ", cell).split()) or ("".join(_SYMBOL.findall(cell)[:1]) if _SYMBOL.fullmatch(cell.strip()) else "")
    return words.strip(" ,;:$\\")[:60]


def read_cell(name: str, cell: str, ontology: Ontology) -> NormalizedValue | None:
    """The value of a cell: one quantity, or one of the detail's known choices."""
    term = ontology.terms[name]
    text = cell.strip().strip("*`").strip()
    if not text or len(text) > 80 or term.type == "text":
        return None
    if term.type in _NUMERIC:
        cell_quantity = quantity(text, 0, term)
        return ontology.normalize(name, cell_quantity.text) if cell_quantity and _covers(text, cell_quantity.end) else None
    if term.type == "boolean":
        return ontology.normalize(name, text)
    spellings = (text, " ".join(_ASIDE.sub(" ", text).split()))
    known_choice = next((spelling for spelling in spellings if fold(spelling) in term.choices and not spelling.replace(".", "").isdigit()), None)
    return ontology.normalize(name, known_choice) if known_choice else None


def _covers(text: str, end: int) -> bool:
    """Whether a quantity is what the cell says, not the beginning of something else."""
    remaining_text = _ASIDE.sub(" ", text[end:]).strip()
    return len(remaining_text) < 24 and not re.match(r"[±/\d]|[A-Za-z]*\d", remaining_text)
