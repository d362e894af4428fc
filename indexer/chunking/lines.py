"""Chunks of code, configuration and documentation: along units, with small neighbors packed together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from indexer.chunking.pieces import MAX_CHARS, MAX_LINES, MOST_CHARS, Piece, SourceText, cut, packed, table_parts
from lineage.records import Document, Span


@dataclass(frozen=True)
class ChunkSizes:
    """Sizes of one kind, in lines: units below `tiny` are loose, loose neighbours are packed to `lines` and `chars`.

    A class of at most `together` is one piece; a unit too long to be shown is cut into pieces of about `piece`, which
    is what an embedder sees of it (some 250 tokens). Settings in a row of more than `settings` characters (the options
    of a parser, the fields of a class) are pieces of their own, of at most so many.
    """

    tiny: int
    lines: int
    chars: int
    together: int = 0
    piece: int = 30
    settings: int = 1_000_000


POLICIES = {
    "code": ChunkSizes(tiny=5, lines=40, chars=2_400, together=60, settings=900),
    "config": ChunkSizes(tiny=10_000, lines=40, chars=1_600),
    "docs": ChunkSizes(tiny=6, lines=40, chars=1_600),
}
_NAMED = {"function", "method", "class", "command", "cell", "text"}


@dataclass
class _Node:
    span: Span
    parts: list[_Node] = field(default_factory=list)


def pieces(document: Document, text: SourceText) -> Iterator[Piece]:
    """Every line with content in at least one piece, in the order of the text."""
    policy = POLICIES[document.kind]
    root = _tree(document)
    yield from _attached(text, list(_inside(text, root, (), policy)))


def _tree(document: Document) -> _Node:
    """Spans by containment; one that crosses the end of another becomes its neighbour."""
    root = _Node(Span(0, len(document.text), "file"))
    stack = [root]
    for span in document.spans:
        while len(stack) > 1 and span.end > stack[-1].span.end:
            stack.pop()
        node = _Node(span)
        stack[-1].parts.append(node)
        stack.append(node)
    return root


def _inside(text: SourceText, node: _Node, around: tuple[Span, ...], policy: ChunkSizes) -> Iterator[Piece]:
    """Pieces of what lies inside a node, loose neighbours packed."""
    is_unit = node.span.role != "file"
    inner = (*around, node.span) if is_unit and node.span.role != "block" else around
    long = bool(inner) and inner[-1].role in {"function", "method", "command", "cell"}
    lines, chars = (policy.piece, MAX_CHARS) if long else (policy.lines, policy.chars)
    for loose, group in groupby(_parts(text, node, inner, policy), key=lambda piece: piece.loose):
        run = list(group)
        yield from packed(text, run, lines, chars) if loose else run


def _parts(text: SourceText, node: _Node, inner: tuple[Span, ...], policy: ChunkSizes) -> Iterator[Piece]:
    """The node's parts in order, what lies between them as loose pieces."""
    at = node.span.start
    for part in node.parts:
        yield from _gap(text, at, part.span.start, inner)
        yield from _unit(text, part, inner, policy)
        at = max(at, part.span.end)
    yield from _gap(text, at, node.span.end, inner)


def _gap(text: SourceText, start: int, end: int, inner: tuple[Span, ...]) -> Iterator[Piece]:
    if start < end and not text.blank(start, end):
        yield text.trimmed(Piece(start, end, inner, loose=True))


def _unit(text: SourceText, node: _Node, inner: tuple[Span, ...], policy: ChunkSizes) -> Iterator[Piece]:
    if text.blank(node.span.start, node.span.end):
        return
    named = node.span.role in _NAMED
    piece = text.trimmed(Piece(node.span.start, node.span.end, inner if node.span.role == "block" else (*inner, node.span)))
    most = policy.together if node.span.role == "class" else MAX_LINES
    if node.span.role == "table" and piece.end - piece.start > MOST_CHARS:
        yield from table_parts(text, piece)
    elif _many_settings(node, policy):
        unit_pieces = packed(text, _parts(text, node, piece.spans, policy), policy.piece, policy.settings)
        yield from (replace(part, loose=False) for part in unit_pieces)
    elif text.fits(piece, most, policy.chars) and not _opens(node, policy):
        small = text.lines(piece) < policy.tiny or not named
        yield Piece(piece.start, piece.end, piece.spans, small)
    elif node.parts:
        unit_pieces = _inside(text, node, inner, policy)
        # A section of prose ends where it ends: its last words do not go with the next one's heading, nor those that open
        # a class of settings with what stands before it.
        apart = node.span.role == "text" or _opens(node, policy)
        yield from (replace(part, loose=False) for part in _attached(text, list(unit_pieces))) if apart else unit_pieces
    else:
        yield from (replace(part, loose=not named) for part in cut(text, piece, policy.piece, policy.chars))


def _many_settings(node: _Node, policy: ChunkSizes) -> bool:
    return node.span.role == "config" and node.span.end - node.span.start > policy.settings


def _opens(node: _Node, policy: ChunkSizes) -> bool:
    """Whether many settings stand in a unit or in a statement of it, so that it is no piece as a whole."""
    return any(_many_settings(part, policy) or (part.span.role == "block" and _opens(part, policy)) for part in node.parts)


def _attached(text: SourceText, pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces, those of one or two lines joined to the piece after them, else to the one before, where that fits."""
    done: list[Piece] = []
    for at, piece in enumerate(pieces):
        last = done[-1] if done else None
        if last and _scrap(text, last) and text.fits(Piece(last.start, piece.end)):
            done[-1] = Piece(last.start, piece.end, piece.spans or last.spans)
        elif last and _scrap(text, piece) and not _goes_on(text, pieces[at : at + 2]) and text.fits(Piece(last.start, piece.end)):
            done[-1] = Piece(last.start, piece.end, last.spans or piece.spans)
        else:
            done.append(piece)
    yield from done


def _goes_on(text: SourceText, pair: list[Piece]) -> bool:
    return len(pair) == 2 and text.fits(Piece(pair[0].start, pair[1].end))


def _scrap(text: SourceText, piece: Piece) -> bool:
    return text.lines(piece) < 3 and piece.end - piece.start < 200
