r"""Citations: `\cite` in all its spellings, and keys that are listed without being cited."""

from __future__ import annotations

import re

from indexer.parsers.latex.machine import Machine
from indexer.parsers.latex.plain import plain
from indexer.parsers.latex.scanner import Token, written
from indexer.parsers.latex.stream import LatexCitation
from indexer.parsers.latex.symbols import words

_CITE = re.compile(r"\\[A-Za-z]*[cC]ite[A-Za-z]*\*?\Z")
_NOT_CITES = frozenset(words(r"\citestyle \citealias \citenamefont \citetext \citeindextrue \citeindexfalse \newcites \nocites"))
_MULTI = {"cites", "parencites", "textcites", "autocites", "footcites", "smartcites", "supercites", "fullcites"}


def is_cite(tok: Token) -> bool:
    """Whether a command without an entry is a citation by its name."""
    return _CITE.match(tok) is not None and tok not in _NOT_CITES


def cite(m: Machine, tok: Token) -> None:
    """A citation: its keys stay readable as `[key; key]`, the notes around them too."""
    m.reader.flag("*")
    notes = [note for note in (m.reader.optional(), m.reader.optional()) if note is not None]
    if tok.endswith("s") and tok[1:].lower() in _MULTI:
        _cite_many(m)
        return
    keys = _keys(m.reader.word())
    before, after = (notes[0], notes[1]) if len(notes) == 2 else ([], notes[0] if notes else [])
    _cited(m, keys, plain(written(before)), plain(written(after)))


def _keys(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for part in text.split(",") if (key := " ".join(part.split()))))


def _cited(m: Machine, keys: tuple[str, ...], before: str = "", after: str = "") -> None:
    if not keys:
        return
    m.work += 15 * len(keys)
    start = m.out.here()
    m.out.put("[" + (before + " " if before else "") + "; ".join(keys) + (", " + after if after else "") + "]")
    m.out.cites.append(LatexCitation(keys, start, m.out.length, m.path))


def _cite_many(m: Machine) -> None:
    keys: list[str] = []
    while len(keys) < 1000 and (tok := m.reader.skip_spaces()) is not None:
        m.reader.back()
        if tok == "[" and m.reader.optional() is not None:
            continue
        if tok != "{":
            break
        keys += _keys(m.reader.word())
    _cited(m, tuple(keys))


def cite_text(m: Machine, tok: Token) -> None:
    r"""`\citetext{...}` and the like: their argument is text in brackets."""
    m.capture(lambda stream: m.out.inline(stream))


def nocite(m: Machine, tok: Token) -> None:
    """Keys that belong to the list without being cited."""
    m.found.nocite += _keys(m.reader.word())
