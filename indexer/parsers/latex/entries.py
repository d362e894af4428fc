r"""`\bibitem` entries with the markup their fields are read from, and addresses in text and entries."""

from __future__ import annotations

from indexer.parsers.latex.machine import BRACE, Bibitem, Group, Handler, Machine
from indexer.parsers.latex.reader import Token, written
from indexer.parsers.latex.stream import LatexLink, TextStream
from indexer.parsers.latex.symbols import plain, words

_ITALIC = frozenset(words(r"\emph \textit \textsl \em \it \itshape \sl \booktitle"))


def bibitem(m: Machine, tok: Token) -> None:
    r"""An entry of the reference list: it lasts until the next one or the end of the list."""
    while m.groups and m.groups[-1].kind in ("{", "capture", "item", "["):
        m.close()
    printed = plain(written(m.reader.optional() or []))
    key = " ".join(m.reader.word().split())
    origin = m.origin
    m.work += 15

    def then(stream: TextStream) -> None:
        m.found.entries.append(Bibitem(key, printed, stream.text(), origin))

    m.divert(Group("item"), TextStream(), then)


def in_entry(m: Machine) -> bool:
    """Whether a reference entry is being read."""
    return m.within("thebibliography", "references")


def marker(before: str, after: str = "") -> Handler:
    """A handler that leaves marks around an argument of a reference entry."""

    def handler(m: Machine, tok: Token) -> None:
        if in_entry(m):
            m.out.put(before)
            if after:
                m.capture(lambda stream: _marked(m, stream, after))

    return handler


def _marked(m: Machine, stream: TextStream, after: str) -> None:
    m.out.inline(stream)
    m.out.put(after)


def field(name: str, signature: str = "m") -> Handler:
    r"""A handler for `\bibinfo{name}{...}`-like commands: the argument is that field. Empty name: it comes first."""

    def handler(m: Machine, tok: Token) -> None:
        named = name or m.reader.word()
        if in_entry(m):
            m.out.put(f"\x0f{named}\x10")
            m.capture(lambda stream: _marked(m, stream, "\x16"))
        m.reader.take(signature[1:])

    return handler


def italic(m: Machine, tok: Token) -> None:
    """Italics matter only in reference entries, where they set off the venue."""
    if not in_entry(m):
        return
    if tok in (r"\emph", r"\textit", r"\textsl"):
        m.out.put("\x11")
        m.capture(lambda stream: _marked(m, stream, "\x12"))
    elif m.groups and m.groups[-1] is BRACE:
        m.out.put("\x11")
        m.groups[-1] = Group("{", close=lambda: m.out.put("\x12"))


def url(m: Machine, tok: Token) -> None:
    """An address: kept as a link and as text."""
    address = _address(m)
    if in_entry(m) and tok != r"\path":
        m.out.put(f"\x13{address}\x14\x15")
    elif address:
        start = m.out.here()
        m.out.put(address)
        m.out.links.append(LatexLink(address, start))


def href(m: Machine, tok: Token) -> None:
    """An address behind some text."""
    m.reader.optional()
    address = _address(m)
    if in_entry(m):
        m.out.put(f"\x13{address}\x14")
        m.capture(lambda stream: _marked(m, stream, "\x15"))
    elif address:
        m.out.links.append(LatexLink(address, m.out.here()))


def _address(m: Machine) -> str:
    source = m.reader.source()
    address_text = source.address() if source else None
    if address_text is None:
        address_text = written(m.reader.argument())
    address_text = address_text.replace(r"\doibase", "https://doi.org/")
    return "".join(address_text.replace(r"\%", "%").replace(r"\_", "_").replace(r"\#", "#").replace(r"\&", "&").replace(r"\~", "~").split())
