"""Matching lines and cited passages as every door gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.wire.hits import TRUST, HitView, Trust, hit_view
from lineage import licenses
from lineage.records import UNKNOWN, ChunkKind, Provenance
from lineage.text.hidden_text import inline, visible

if TYPE_CHECKING:
    from retrieval.search.exact import ExactAnswer, LineMatch
    from retrieval.search.read import CitedPassage


@dataclass(frozen=True)
class LineView:
    """A matching line with its citation. `definition` says that it defines what was asked for; `copies` counts files with the same line."""

    citation: str
    text: str
    line: int
    kind: ChunkKind
    symbol: str
    definition: bool
    copies: int
    work: str
    path: str
    license: str | None
    from_target: bool
    chunk: str
    trust: Trust


@dataclass(frozen=True)
class LinesView:
    """The first matching lines of a pattern, definitions before uses, and how many there are in all."""

    lineage: str
    generation: str
    pattern: str
    total: int
    has_more: bool
    matches: tuple[LineView, ...]
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class PassageView:
    """Cited lines. `symbol` is the definition they stand in, from line `defined_at`; `callers` name it elsewhere; the file has `lines` lines."""

    lineage: str
    generation: str
    hit: HitView
    symbol: str
    defined_at: int
    lines: int
    callers: tuple[LineView, ...]
    provenance: Provenance = UNKNOWN


def lines_view(answer: ExactAnswer) -> LinesView:
    """The matching lines of one page."""
    more = answer.offset + len(answer.matches) < answer.total
    return LinesView(answer.lineage, answer.generation, answer.pattern, answer.total, more, tuple(map(line_view, answer.matches)), answer.provenance)


def line_view(match: LineMatch) -> LineView:
    """One matching line."""
    hit = match.hit
    return LineView(
        match.citation,
        visible(match.text)[0],
        match.line,
        hit.chunk.kind,
        inline(match.symbol),
        match.definition,
        match.copies,
        hit.work.id,
        inline(hit.chunk.path),
        licenses.shown(hit.work.license),
        hit.from_target,
        hit.chunk.id,
        TRUST,
    )


def passage_view(passage: CitedPassage) -> PassageView:
    """A cited passage, whole."""
    callers = tuple(map(line_view, passage.callers))
    hit = hit_view(passage.hit, whole=True)
    symbol, of = inline(passage.symbol), (passage.lineage, passage.generation)
    return PassageView(*of, hit, symbol, passage.defined_at, passage.lines, callers, passage.provenance)
