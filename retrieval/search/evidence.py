"""A chunk with surrounding lines of its document."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lineage.catalog.reader import Catalog
from lineage.records import UNKNOWN, Chunk, Focus, Hit, Provenance
from retrieval.search.work_relations import WorkRelation

MAX_LINES = 400
MAX_CHARACTERS = 24_000


@dataclass(frozen=True)
class EvidenceWindow:
    """A chunk, widened. The hit's chunk has the text and lines of the window, its `focus` those of the chunk itself.

    `before` and `after` are the lines of the document that the window leaves out on either side; `previous` and `next`
    are the neighbouring chunks, empty at the ends.
    """

    lineage: str
    generation: str
    hit: Hit
    before: int
    after: int
    previous: str = ""
    next: str = ""
    provenance: Provenance = UNKNOWN


def widened(catalog: Catalog, chunk: Chunk, relation: WorkRelation, before: int, after: int) -> tuple[Hit, int, int]:
    """The hit of the window, and how many lines there are before and after it.

    The window grows line by line on both sides, at most by `before` and `after` lines, while it holds no more than
    400 lines and 24,000 characters.
    """
    text = catalog.document_text(chunk.work, chunk.path)
    if text and chunk.start_line > text.count("\n") + 1:  # a document that is shorter than its chunk says is none
        text = ""
    lines = text.split("\n") if text else chunk.text.split("\n")
    first, last = (chunk.start_line, min(chunk.end_line, len(lines))) if text else (1, len(lines))
    top, bottom = _window(lines, first, last, before, after)
    shift = 0 if text else chunk.start_line - 1
    shown = chunk if (top, bottom) == (first, last) else replace(chunk, text="\n".join(lines[top - 1 : bottom]), start_line=top, end_line=bottom)
    hit = relation.hit(shown, Focus(first + shift, last + shift))
    return hit, top - 1, len(lines) - bottom


def _window(lines: list[str], first: int, last: int, before: int, after: int) -> tuple[int, int]:
    """The lines (from 1, both included) to show around [first, last]."""
    top, bottom = first, last
    room = MAX_CHARACTERS - sum(len(line) + 1 for line in lines[first - 1 : last])
    lowest, highest = max(1, first - before), min(len(lines), last + after)
    while (top > lowest or bottom < highest) and bottom - top + 1 < MAX_LINES:
        up = top > lowest and (first - top <= bottom - last or bottom >= highest)
        room -= len(lines[top - 2 if up else bottom]) + 1
        if room < 0:
            break
        top, bottom = (top - 1, bottom) if up else (top, bottom + 1)
    return top, bottom


def neighbours(catalog: Catalog, chunk: Chunk) -> tuple[str, str]:
    """Identifiers of the chunks before and after in the same document, empty at the ends."""
    around = [neighbor.id for neighbor in catalog.chunks(catalog.neighbours(chunk.work, chunk.path))]
    at = around.index(chunk.id)
    return around[at - 1] if at else "", around[at + 1] if at + 1 < len(around) else ""
