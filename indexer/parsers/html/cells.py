"""Cells of an HTML table that reach over columns or rows: HTML leaves no cells there, a row of text must have them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

MOST = 40
"""Columns or rows that a cell may say it has."""

LONGEST = 120
"""Of a cell that is repeated: a name or a number, no paragraph."""

_COUNT = re.compile(r"[1-9][0-9]{0,2}")


@dataclass
class HtmlTable:
    """Where a table stands: its column, the part its cell begins with, and what reaches down (column -> rows left, words)."""

    column: int = 0
    first: int = 0
    down: dict[int, tuple[int, str]] = field(default_factory=dict)

    def reaching(self) -> str:
        """What reaches down from the rows above to where the row stands now, with its borders."""
        words = []
        while self.column in self.down:
            words.append(f"{self.down[self.column][1]} | ".lstrip())
            self.column += 1
        return "".join(words)

    def cell(self, element: etree._Element, words: str) -> str:
        """The borders behind a cell; its words are kept for the rows that it reaches down to."""
        width, rows = _span(element, "colspan"), _span(element, "rowspan")
        if rows > 1:
            cell_texts = [words if len(words) <= LONGEST else "", *[""] * (width - 1)]
            self.down |= {self.column + at: (rows, word) for at, word in enumerate(cell_texts) if self.column + at < MOST}
        self.column += width
        return " |" * width + " "

    def end_row(self) -> None:
        """The next row."""
        self.column, self.down = 0, {column: (left - 1, words) for column, (left, words) in self.down.items() if left > 1}


def _span(element: etree._Element, name: str) -> int:
    attribute = element.get(name) or ""
    return min(int(attribute), MOST) if _COUNT.fullmatch(attribute) else 1
