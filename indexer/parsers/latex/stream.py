"""The output stream: pieces of text with their spans, citations and links.

A stream is a list of blocks. White space is only remembered and written when text follows, so every offset is
already final within its stream; `absorb` puts one stream behind another and moves its offsets.
What stands beside the text (footnotes, floats) is deferred to the end of the block it was met in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from indexer.parsers.latex.symbols import typeset

Path = tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """A stretch of a stream: `kind` is a span's role."""

    start: int
    end: int
    role: str
    path: Path = ()
    label: str = ""
    header: str = ""

    def moved(self, by: int) -> Mark:
        """The same mark further on."""
        return Mark(self.start + by, self.end + by, self.role, self.path, self.label, self.header)


@dataclass(frozen=True)
class LatexCitation:
    """A citation as it stands in the stream; `place` is where in the main text it belongs (its footnote's anchor)."""

    keys: tuple[str, ...]
    start: int
    end: int
    path: Path


@dataclass(frozen=True)
class LatexLink:
    """An address written in the stream at `start`; `anchor` is the offset its footnote hangs on, or -1."""

    url: str
    start: int
    anchor: int = -1


@dataclass
class TextStream:
    """Text under construction. `flowing` streams cut themselves into paragraphs; others are one block.

    What nobody sees is written `instead_of` the stream where it would stand.
    """

    flowing: bool = False
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    gap: str = ""
    marks: list[Mark] = field(default_factory=list)
    cites: list[LatexCitation] = field(default_factory=list)
    links: list[LatexLink] = field(default_factory=list)
    deferred: list[tuple[TextStream, int]] = field(default_factory=list)
    block: tuple[int, str, Path, str] | None = None
    style: tuple[str, Path, str] = ("paragraph", (), "")
    last: str = ""
    instead_of: TextStream | None = None

    def write(self, text: str) -> None:
        """Add a run of prose: white space is collapsed, ligatures are made."""
        if text[:1].isspace():
            self.space()
        body = " ".join(text.split())
        if body:
            self.put(typeset(body))
            if text[-1].isspace():
                self.space()

    def put(self, text: str) -> None:
        """Add text exactly as it is, after whatever white space is due."""
        gap = self.gap if self.length else ""
        self.gap = ""
        if self.flowing and self.block is None:
            self.block = (self.length + len(gap), *self.style)
        self.pieces.append(gap + text)
        self.length += len(gap) + len(text)
        self.last = text[-1:]

    def space(self) -> None:
        """A space is due, unless something stronger is."""
        self.gap = self.gap or " "

    def newline(self, indent: str = "") -> None:
        """A new line of the same block is due."""
        if self.gap != "\n\n" and (self.block is not None or not self.flowing):
            self.gap = "\n" + indent

    def here(self) -> int:
        """Where the next character will stand."""
        return self.length + (len(self.gap) if self.length else 0)

    def cut(self) -> None:
        """The block is over, but what hangs on it waits: a formula stands between two halves of a paragraph."""
        if self.block is not None:
            start, role, path, label = self.block
            self.marks.append(Mark(start, self.length, role, path, label))
            self.block = None
        self.gap = "\n\n" if self.length else ""

    def end_block(self) -> None:
        """The block is over: its span is closed, what hung on it follows, an empty line is due."""
        self.cut()
        while self.deferred:
            waiting, self.deferred = self.deferred, []
            for stream, anchor in waiting:
                self.absorb(stream, anchor)

    def absorb(self, other: TextStream, anchor: int = -1) -> None:
        """Put a finished stream behind this one as blocks of its own."""
        if not other.length:
            return
        offset = self.here()
        self.pieces.append(self.gap if self.length else "")
        self.pieces += other.pieces
        self.length = offset + other.length
        self.gap = "\n\n"
        self.marks += [mark.moved(offset) for mark in other.marks]
        self.cites += [LatexCitation(cite.keys, cite.start + offset, cite.end + offset, cite.path) for cite in other.cites]
        self.links += [LatexLink(link.url, link.start + offset, anchor if link.anchor < 0 else link.anchor + offset) for link in other.links]
        self.deferred += other.deferred

    def inline(self, other: TextStream) -> None:
        """Put a finished stream into the running text."""
        text = other.text().strip()
        if not text:
            return
        offset = self.here()
        self.put(text)
        self.cites += [LatexCitation(cite.keys, cite.start + offset, cite.end + offset, cite.path) for cite in other.cites]
        self.links += [LatexLink(link.url, link.start + offset, link.anchor) for link in other.links]
        self.deferred += other.deferred

    def defer(self, other: TextStream, *, hanging: bool = True) -> None:
        """Keep a finished stream until the block is over; `hanging` on the words that stand here, or on none."""
        if other.length:
            self.deferred.append((other, self.length if hanging else -1))

    def whole(self, role: str, path: Path, label: str = "") -> None:
        """Mark everything written so far as one span."""
        if self.length:
            self.marks.append(Mark(0, self.length, role, path, label))

    def text(self) -> str:
        """What was written."""
        return "".join(self.pieces)
