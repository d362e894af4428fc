"""Tables and paragraphs as HTML and Markdown, shared by all reports, and the rendering of notebooks.

Text of third parties is escaped, addresses are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal
from urllib.parse import quote

from lineage.text.hidden_text import inline, literal, shortened, visible

LEFT = ' style="text-align:left"'
"""For cells in notebooks, which show numbers to the right."""
LONGEST = 300
"""Characters of a text that are shown."""
renderers: dict[type, Callable[[Any], str]] = {}
"""How a notebook shows results, by their type (`api.notebook` registers them)."""


class Rendered:
    """A result that a notebook shows with its registered renderer, or as plain text."""

    def _repr_html_(self) -> str | None:
        render = renderers.get(type(self))
        return render(self) if render else None


@dataclass(frozen=True)
class Text:
    """A piece of text; `lines` are lines of a source as they stand. `url` is followed where it is an address of the web."""

    text: str
    kind: Literal["plain", "strong", "quiet", "lines"] = "plain"
    url: str = ""


Cell = Sequence[Text] | str


@dataclass(frozen=True)
class Heading:
    """A heading of a level from 1 (the document's) to 4."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Cell


@dataclass(frozen=True)
class Table:
    """A table; a cell is a text or pieces of one. One that is `folded` shows its caption alone until it is opened."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    folded: bool = False


Block = Heading | Paragraph | Table


def html(blocks: Iterable[Block], cell: str = "") -> str:
    """The blocks as HTML without script and style; `cell` are attributes of every cell."""
    return "\n".join(_html(block, cell) for block in blocks)


def _html(block: Block, attributes: str) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_text(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{_html_cell(block.text)}</p>"
    caption = f"<caption>{_text(block.caption)}</caption>" if block.caption and not block.folded else ""
    heads = "".join(f'<th scope="col">{_text(head)}</th>' for head in block.heads)
    rows = "".join(f"<tr>{''.join(f'<td{attributes}>{_html_cell(cell)}</td>' for cell in row)}</tr>\n" for row in block.rows)
    table = f"<table>{caption}<thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>"
    return f"<details><summary>{_text(block.caption)}</summary>\n{table}</details>" if block.folded else table


def _html_cell(cell: Cell) -> str:
    return _text(cell) if isinstance(cell, str) else "".join(map(_html_span, cell))


def _html_span(span: Text) -> str:
    if span.kind == "lines":
        return f"<pre>{escape(visible(span.text)[0])}</pre>"
    text = _text(span.text)
    tag = {"strong": "b", "quiet": "small"}.get(span.kind)
    text = f"<{tag}>{text}</{tag}>" if tag else text
    return f'<a href="{escape(span.url)}">{text}</a>' if is_web(span.url) else text


def _text(text: str) -> str:
    return escape(_line(text))


def _line(text: str) -> str:
    return shortened(inline(text), LONGEST)


def is_web(url: str) -> bool:
    """Whether an address may become a link."""
    return url.startswith("https://")


def markdown(blocks: Iterable[Block]) -> str:
    """The blocks as Markdown with tables (https://github.github.com/gfm)."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {literal(_line(block.text))}"
    if isinstance(block, Paragraph):
        return _markdown_cell(block.text)
    rows = [tuple(map(literal, block.heads)), ("---",) * len(block.heads), *(tuple(map(_markdown_cell, row)) for row in block.rows)]
    caption = f"{literal(_line(block.caption))}\n\n" if block.caption else ""
    return caption + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _markdown_cell(cell: Cell) -> str:
    spans = (Text(cell),) if isinstance(cell, str) else cell
    return " ".join(filter(None, map(_markdown_span, spans)))


def _markdown_span(span: Text) -> str:
    if span.kind == "lines":
        return "<br>" + "<br>".join(literal(line.strip()) for line in visible(span.text)[0].splitlines() if line.strip())
    text = literal(_line(span.text).strip())
    text = f"**{text}**" if span.kind == "strong" and text else text
    return f"[{text}](<{quote(span.url, safe=_PLAIN_URL)}>)" if is_web(span.url) and text else text


_PLAIN_URL = "%/:=&?~#+!$,;'@*-._"
