"""Facts of tables: settings by row ("weight decay | 0.05") and by column ("epochs" over 200, 300, 400).

A table is a run of lines with cells between bars, as LaTeX, HTML and Markdown leave them. A row whose first cell names a
detail says its values, one whose second does too: its first is the group of rows; under a head that names one every row does.
The scope is the other head, or the group. A head over its own values ("image size" over 64 and 256) names these alone; a
corner "A / B" names the first column and the head row; what stands in brackets, and what an abbreviation is, a caption says.
In a table of settings the last words of a first cell name a detail too, whatever stands before ("Schedule-Free LR"): that is
a scope of its own.
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
_SETTINGS = re.compile(r"\bhyper-?\s?param|\bhparam|\b(?:parameters?|settings?|config\w*|options?|arguments?)\s*(?:name\s*)?\b.*\bvalues?\b")
_VALUES = re.compile(r"\b(?:parameters?|settings?|config\w*|options?|arguments?|values?)\b")
_CHANGE = re.compile(
    r"(?:\A|[\s(])(?:w/o|without|no|with|w/|remov\w+|larger|smaller|higher|lower|effect|vs\.?|[-+−×]|\d*x|(?:\w+-)?(?:minus|log|inverse))(?=\s)",
    re.IGNORECASE,
)
"""What the rows of an ablation begin with: such a row says what came of a setting."""
_MEASURED = re.compile(
    r"\W{0,20}(?:(?:total|trainable|number of|num\.?|no\.)\s+){0,2}"
    r"(?:params?|parameters|[GMTP]?FLOPs?|MACs|throughput|latency|memory|runtime|speed|seq\S{0,6} len\w*)\b",
    re.IGNORECASE,
)
"""What a row begins with that is measured: its values are none of a column's detail."""
_IN_BRACKETS = r"\s+in\s+(?:the\s+)?(?:parenthes[ei]s|(?:round\s|square\s)?brackets)\b"
_BRACKETED = [
    re.compile(rf"\b(?P<what>[A-Za-z][A-Za-z -]{{1,40}}){_IN_BRACKETS}(?!\s+(?:represents?|are|is|denotes?|indicates?|shows?))", re.IGNORECASE),
    re.compile(
        rf"{_IN_BRACKETS}\s+(?:represents?|are|is|denotes?|indicates?|shows?|gives?|refers?\sto|mean)\s+(?:the\s+)?"
        r"(?P<what>[A-Za-z][A-Za-z -]{1,40}?)(?:\s+used)?(?=[.,;)]|\Z|\sfor\s|\sof\s)",
        re.IGNORECASE,
    ),
]
_BRACKET = re.compile(r"\S\s*\((?P<inner>[^()]{1,30})\)\s*\Z")
_WITH = re.compile(r"\bw/")
_DEFINED = re.compile(
    r"(?P<short>\b(?:[A-Za-z]\w{0,4}|[A-Za-z]\w{0,12}\.))[\"'“”`‘’]{0,3}\s(?:denotes?|stands?\sfor|is\sshort\sfor|means|refers?\sto|represents?|indicates?)\s(?:the\s)?"
    r"(?P<what>[A-Za-z][A-Za-z -]{1,60})"
)
"""An abbreviation that a caption spells out."""
_LONGEST_NAME, _LONGEST_HEAD, _LONGEST_CAPTION = 50, 300, 4_000
_FEWEST = 3
_SHORT = {"frequency": "freq", "maximum": "max", "minimum": "min", "iterations": "iters", "dimension": "dim", "coefficient": "coef"}
"""Words that code shortens: "Update Frequency" is its `update_freq`."""
_SPACED = re.compile(r"\d{1,3}(?: \d{3})+")
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


def read(rows: Sequence[Row], sink: Sink, caption: str = "") -> None:
    """Put the facts of one table into `sink`."""
    _brackets(rows, caption, sink)
    if _grid(rows, sink):
        return
    rows = _spanned(rows, sink)
    other = _otherwise(caption, sink.ontology)
    head = ["" if fold(cell) in other else named(cell, sink.ontology) for cell in rows[0][1]]
    listing = _lists_settings(rows, sink.ontology)
    for number, cells in rows:
        for first, *further_cells in _apart(cells):
            own = named(first, sink.ontology)
            if listing and number != rows[0][0]:
                _switched(number, first, further_cells, sink)
                if not own:
                    _headed(number, [first, *further_cells], rows[0], sink)
            if any("=" in cell for cell in further_cells):
                prose.read("\n".join(further_cells), sink, first=number, kind="table")
            below = named(further_cells[0], sink.ontology) if len(further_cells) > 1 and number != rows[0][0] else ""
            if below:
                _row(number, further_cells, below, (rows[0][0], rows[0][1][1:]), sink, group=first)
            elif own and further_cells:
                _row(number, [first, *further_cells], own, rows[0], sink)
            elif number != rows[0][0] and len(further_cells) == len(cells) - 1 and not _MEASURED.match(first):
                _under(number, cells, head, rows[0][1], sink)


def _brackets(rows: Sequence[Row], caption: str, sink: Sink) -> None:
    """`64.9 (4e-4)` under a caption that says what the brackets hold: its value, for the row and the column."""
    bracket_words = next((match["what"].split() for form in _BRACKETED if (match := form.search(caption))), [])
    name = next((name for at in range(len(bracket_words)) if (name := named(" ".join(bracket_words[at:]), sink.ontology))), "")
    for number, cells in rows[1:] if name else ():
        for at, cell in enumerate(cells[1:], 1):
            match = _BRACKET.search(cell[-100:])
            value = read_cell(name, match["inner"], sink.ontology) if match else None
            if value:
                scope = ", ".join(part for part in (cells[0], "".join(rows[0][1][at : at + 1])) if part)
                sink.state(number, name, value.value, cell, written=" ".join(bracket_words), scope=scope[:80], kind="table", unit=value.unit)


def _otherwise(caption: str, ontology: Ontology) -> set[str]:
    """The abbreviations that a caption spells out as something else than the detail that they are taken for."""
    other = set()
    for match in _DEFINED.finditer(caption[:_LONGEST_CAPTION]):
        words, name = match["what"].split(), named(match["short"], ontology)
        spans = [" ".join(words[a:b]) for a in range(len(words)) for b in range(a + 2, min(a + 6, len(words)) + 1)]
        if name and name not in {named(wording, ontology) for wording in (match["what"], *spans)}:
            other.add(fold(match["short"]))
    return other


def _grid(rows: Sequence[Row], sink: Sink) -> bool:
    """Whether a corner "width / depth" says what the first column and the head row are: their cells are the values, those below are none."""
    names = [named(part, sink.ontology) for part in re.split(r"[/\\]", rows[0][1][0])]
    across = [(rows[0][0], cell) for cell in rows[0][1][1:]]
    down = [(number, cells[0]) for number, cells in rows[1:]]
    if len(names) != 2 or not all(names) or len(across) < 2 or not down:
        return False
    cells = [(number, name, cell) for name, placed_cells in zip(names, (down, across), strict=True) for number, cell in placed_cells]
    read = [(*placed_cell, read_cell(placed_cell[1], placed_cell[2], sink.ontology)) for placed_cell in cells]
    if not all(value for *_, value in read):
        return False
    for number, name, cell, value in read:
        if value:
            sink.state(number, name, value.value, cell, written=rows[0][1][0][:80], kind="table", unit=value.unit)
    return True


def _spanned(rows: Sequence[Row], sink: Sink) -> Sequence[Row]:
    """The rows below a head that spans its own values: these are stated, and head the columns in its stead."""
    over = rows[0][1]
    at = max((n for n, cell in enumerate(over) if cell), default=0)
    name = named(over[at], sink.ontology) if at and len(rows) > 2 else ""
    number, under = rows[1] if name else (0, [])
    values = [read_cell(name, cell, sink.ontology) for cell in under[at:]]
    if len(values) < 2 or any(under[:at]) or not all(values):
        return rows
    for value, cell in zip(values, under[at:], strict=True):
        if value:
            sink.state(number, name, value.value, cell, written=over[at][:80], kind="table", unit=value.unit)
    return [(number, [*over[:at], *under[at:]]), *rows[2:]]


def _apart(cells: list[str]) -> Iterator[list[str]]:
    """A row as it is; "mixup, cutmix | 0.8, 1.0" as two."""
    names = [name.strip() for name in re.split(r",|\band\b|/", cells[0])] if cells else []
    if len(names) > 1 and len(cells) == 2:
        values = [value.strip() for value in re.split(r",(?!\d{3}\b)|/", cells[1])]
        if len(values) == len(names):
            yield from ([name, value] for name, value in zip(names, values, strict=True))
            return
    if cells:
        yield cells


def named(cell: str, ontology: Ontology) -> str:
    """The detail that a cell names, "" for none; symbols, units and remarks in brackets aside."""
    words = " ".join(_ASIDE.sub(" ", cell).split()).strip(" :.=")
    if not words or _SYMBOL.fullmatch(cell.strip()):
        words = re.sub(r"[${}\\\s]", "", cell)
    if not 1 < len(words) < 60 or len(words.split()) > 6 or _WITH.search(cell):
        return ""
    counted = _COUNT.sub("", words)
    name = "_".join(counted.replace("-", " ").split())
    return ontology.name_of(name) or (counted != words and ontology.name_of(f"n_{name}")) or _shortened(name, ontology)


def _shortened(name: str, ontology: Ontology) -> str:
    """The detail that code would name by the same words, some of them shortened; none for a part of another name."""
    short = "_".join(_SHORT.get(word, word) for word in name.lower().split("_"))
    naming = ontology.naming(short) if short != name.lower() else None
    return naming.name if naming and not naming.scope else ""


def _lists_settings(rows: Sequence[Row], ontology: Ontology) -> bool:
    """Whether a table lists settings: its head says so, or most of its first cells name a detail."""
    header_words = " ".join(rows[0][1][:2]).lower()[:_LONGEST_HEAD]
    if _SETTINGS.search(header_words):
        return True
    own = [bool(named(cells[0], ontology)) for _, cells in rows[1:] if cells and cells[0]]
    return len(own) >= _FEWEST and sum(own) > len(own) * (0.3 if _VALUES.search(header_words) else 0.5)


def _switched(number: int, first: str, rest: Sequence[str], sink: Sink) -> None:
    """`Float16 | True`: a row whose truth is a choice."""
    name = "_".join(first.split())
    naming = sink.ontology.naming(name)
    for cell in rest if naming and naming.meant else ():
        sink.text(number, name, cell, kind="table")


def _headed(number: int, cells: Sequence[str], head: Row, sink: Sink) -> None:
    """The values of a row whose first cell ends in a noun for a detail, each for the words before the noun."""
    written = " ".join(re.sub(r"\([^()]*\)|\[[^\[\]]*\]|[$\\{}*`]", " ", cells[0]).replace(" _", "_").split()).strip(" :.=")
    if len(written) > _LONGEST_NAME or _CHANGE.search(written):
        return
    meanings = sink.ontology.headed(written)
    for at, cell in enumerate(cells[1:], 1) if meanings else ():
        column = head[1][at] if len(cells) > 2 and at < len(head[1]) else ""
        for name, scope, low, high in meanings:
            value = read_cell(name, cell, sink.ontology)
            if value and _between(value.value, low, high):
                within = ", ".join(part for part in (_scope(scope), _scope(column)) if part)
                sink.state(number, name, value.value, cell, written=cells[0][:80], scope=within, kind="table", unit=value.unit)
                break


def _between(value: str, low: float, high: float) -> bool:
    try:
        return low <= float(value) <= high
    except ValueError:  # a choice
        return True


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
        if _SPACED.fullmatch(text):
            text = text.replace(" ", "")
        cell_quantity = quantity(text, 0, term)
        return ontology.normalise(name, cell_quantity.text) if cell_quantity and _covers(text, cell_quantity.end) else None
    if term.type == "boolean":
        return ontology.normalise(name, text)
    spellings = (text, " ".join(_ASIDE.sub(" ", text).split()))
    known_choice = next((spelling for spelling in spellings if fold(spelling) in term.choices and not spelling.replace(".", "").isdigit()), None)
    return ontology.normalise(name, known_choice) if known_choice else None


def _covers(text: str, end: int) -> bool:
    """Whether a quantity is what the cell says, not the beginning of something else."""
    remaining_text = _ASIDE.sub(" ", text[end:]).strip()
    return len(remaining_text) < 24 and not re.match(r"[±/\d]|[A-Za-z]*\d", remaining_text)
