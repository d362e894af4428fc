"""Documents to chunks, the units of retrieval.

A chunk is what a hit shows: at most 60 lines and 2,400 characters, along the borders of what the text is made of. Every
line with content lies in at least one. The same document always gives the same chunks with the same ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from indexer.chunking import lines, prose
from indexer.chunking.pieces import Piece, SourceText, table_head
from indexer.read_document import Bounds
from lineage.records import Chunk, Document, Span

VERSION = "chunk@4"
MAX_HEADER = 500


def chunks(document: Document) -> list[Chunk]:
    """Every chunk of a document, in the order of its text."""
    return chunks_at(document, cuts(document))


def chunks_at(document: Document, bounds: Iterable[Bounds]) -> list[Chunk]:
    """The chunks that cuts of a document are.

    An id names a place of one work by the text that stands there, whatever the commit: a file that another commit left alone keeps its
    chunks. The same file in another work is another place, with its own standing and license.
    """
    file = _hash(document.work, document.path, document.parser, VERSION, document.text)
    return [
        Chunk(
            id=f"c_{_hash(file, str(cut.start), str(cut.end))[:20]}",
            work=document.work,
            path=document.path,
            kind=document.kind,
            text=document.text[cut.start : cut.end],
            language=document.language,
            **vars(cut),
        )
        for cut in bounds
    ]


def cuts(document: Document) -> Iterator[Bounds]:
    """Where a document is cut, in the order of its text."""
    text = SourceText(document.text)
    split = prose.pieces if document.kind == "paper" else lines.pieces
    pieces = (text.trimmed(piece) for piece in split(document, text))
    return (_cut(document, text, piece) for piece in pieces if piece.end > piece.start)


def _cut(document: Document, text: SourceText, piece: Piece) -> Bounds:
    own = _units(piece)
    main = _main(document, own)
    page, box = _place(piece.spans)
    prose = document.kind in {"paper", "docs"}
    return Bounds(
        role=main.role,
        header=_header(document, text, piece, own)[:MAX_HEADER],
        start=piece.start,
        end=piece.end,
        start_line=text.line(piece.start) + 1,
        end_line=text.line(piece.end - 1) + 1,
        symbol="" if prose else _symbol(own),
        section=_common(own) if prose else (),
        page=page,
        box=box,
        label=main.label or next((span.label for span in piece.spans if span.label), ""),
    )


def _main(document: Document, own: list[Span]) -> Span:
    """What a chunk is: its table, else of prose the longest of its units (a footnote does not name the words around it)."""
    tables = [span for span in own if span.role == "table"]
    if document.kind == "paper" and own and not tables:
        return max(own, key=lambda span: span.end - span.start)
    return next(iter((*tables, *own)), Span(0, 0, "text"))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _units(piece: Piece) -> list[Span]:
    """The innermost units of a piece: those that contain no other of its units."""
    spans = piece.spans
    return [span for at, span in enumerate(spans) if not any(_holds(span, other) for other in spans[at + 1 :])]


def _holds(span: Span, other: Span) -> bool:
    return span.start <= other.start and other.end <= span.end and len(other.path) >= len(span.path)


def _symbol(own: list[Span]) -> str:
    """Qualified names of what is in the chunk, at most eight."""
    names = dict.fromkeys(".".join(span.path) for span in own if span.path)
    return ", ".join(list(names)[:8])


def _common(own: list[Span]) -> tuple[str, ...]:
    """The title path that all units of a chunk share, or that of the first."""
    shared = _prefix([span.path for span in own])
    return shared or (own[0].path if own else ())


def _prefix(rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """What all rows begin with."""
    same = takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return tuple(column[0] for column in same)


def _header(document: Document, text: SourceText, piece: Piece, own: list[Span]) -> str:
    if document.kind == "paper":
        top = " > ".join(part for part in (document.title, *_common(own)) if part)
        return f"{top} · {table_head(text, piece) or _first_row(text, piece) or _around(own, piece)}".removesuffix(" · ")
    if document.kind == "docs":
        first_header = next((span.header for span in own if span.header), document.path)
        return f"{first_header} · {table_head(text, piece)}".removesuffix(" · ")
    # Signatures and docstrings stand in the text itself, and an embedder reads only so many tokens.
    return " · ".join(part for part in (document.path, _symbol(own), _class_around(piece), _settings(text, piece)) if part)


def _settings(text: SourceText, piece: Piece) -> str:
    """Where a part goes on with settings, how those began: with the comment above, or the parser that was made."""
    span = next((span for span in piece.spans if span.role == "config" and span.start < piece.start), None)
    first = " ".join(text.row(text.line(span.start))[:120].split()) if span else ""
    return first if first.startswith(("#", "//")) or "Parser" in first else ""


def _class_around(piece: Piece) -> str:
    """The signature of the class that a method, or a part of one, belongs to."""
    around = [span for span in piece.spans if span.role == "class" and span.start < piece.start and span.path]
    return next((part for part in around[-1].header.split(" · ")[1:] if around[-1].path[-1] in part), "") if around else ""


def _first_row(text: SourceText, piece: Piece) -> str:
    """What a later part of an algorithm needs to be read: its first line."""
    span = next((span for span in piece.spans if span.role == "algorithm" and span.start < piece.start), None)
    return " ".join(text.text[span.start : text.end(text.line(span.start))][:200].split()) if span else ""


def _around(own: list[Span], piece: Piece) -> str:
    """The sentence that leads to a formula which begins a chunk."""
    first = own[0] if own else None
    return first.header[:200].partition(" … ")[0] if first and first.role == "equation" and first.start <= piece.start else ""


def _place(spans: tuple[Span, ...]) -> tuple[int | None, tuple[float, float, float, float] | None]:
    """The page a chunk begins on and the box around what it has there."""
    page = next((span.page for span in spans if span.page is not None), None)
    boxes = [span.box for span in spans if span.page == page and span.box]
    if page is None or not boxes:
        return page, None
    left, top, right, bottom = zip(*boxes, strict=True)
    return page, (min(left), min(top), max(right), max(bottom))
