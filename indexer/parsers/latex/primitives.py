r"""TeX's own boxes, glue, fonts and registers, said in LaTeX's commands, which `hiding` and the tables know."""

from __future__ import annotations

import re

from indexer.parsers.latex import hiding
from indexer.parsers.latex.machine import Machine
from indexer.parsers.latex.macros import Macro
from indexer.parsers.latex.reader import PAR, Token

BOXES = frozenset({r"\hbox", r"\vbox", r"\vtop"})
_DIMEN = re.compile(r"[ \t]*=?[ \t]*([+-]?[ \t]*\d*\.?\d*[ \t]*)(?:true[ \t]*)?([a-z]{2})?[ \t]*(?:(?:plus|minus)[ \t]*-?[\d.]+[a-z]{2,5}[ \t]*)*")
_FONT = re.compile(r"[ \t]*=?[ \t]*([\w.:+-]+)[ \t]*(?:at[ \t]*([\d.]+)[ \t]*(?:true[ \t]*)?([a-z]{2})|scaled[ \t]*(\d+))?[ \t]?")
_BOX_NUMBER = re.compile(r"[ \t]*(\d+)[ \t]*")
_RULE = re.compile(r"[ \t]*(?:height|depth|width)[ \t]*")
_DESIGNED = re.compile(r"\d+(?=\D*\Z)")


def dimension(m: Machine) -> str:
    r"""A length without braces, as it is written: `=-3.5 true cm`, `\far`, `-2\far`; empty where there is none."""
    tok = m.reader.next()
    if tok is None or tok in ("{", "}", PAR):
        return _unread(m, tok)
    if tok[0] == "\\":
        return tok
    match = _DIMEN.match(tok)
    number, unit = (match[1].replace(" ", ""), match[2]) if match else ("", None)
    if match is None or not match.end() or (match.end() < len(tok) and not unit):
        return _unread(m, tok)
    if unit:
        m.reader.push([tok[match.end() :] or " "])
        return number + unit
    return number + (m.reader.next() or "")


def _unread(m: Machine, tok: Token | None) -> str:
    if tok is not None:
        m.reader.back()
    return ""


def rule(m: Machine, tok: Token) -> None:
    r"""`\hrule height 1pt depth 0pt`: no text."""
    while (part := m.reader.next()) is not None and part != PAR and (match := _RULE.match(part)):
        m.reader.push([part[match.end() :]] if match.end() < len(part) else [])
        dimension(m)
    _unread(m, part)


def skip(m: Machine, tok: Token) -> None:
    r"""`\hskip`, `\kern` and `\vskip`: LaTeX's `\hspace` and `\vspace`."""
    if length := dimension(m):
        m.reader.push([r"\vspace" if tok == r"\vskip" else r"\hspace", "{", length, "}"])


def _width(m: Machine) -> str:
    """What stands between `\\hbox` and its brace, as a length; empty for the natural width."""
    tok = m.reader.skip_spaces()
    if tok is None or not tok.startswith(("to", "spread")):
        return _unread(m, tok)
    m.reader.push([tok.removeprefix("to").removeprefix("spread")])
    length = dimension(m)
    return length if tok.startswith("to") else ""


def box(m: Machine, tok: Token) -> None:
    r"""`\hbox to 0pt{words}`: LaTeX's `\makebox[0pt]{words}`; any other box is a group."""
    width = _width(m)
    if width and tok == r"\hbox":
        m.reader.push([r"\makebox", "[", width, "]"])


def shift_box(m: Machine, tok: Token) -> None:
    r"""`\raise`, `\lower`, `\moveleft` and `\moveright`, a length and a box: LaTeX's `\raisebox{length}{words}`."""
    length, moved = dimension(m), m.reader.skip_spaces()
    if moved not in BOXES:
        _unread(m, moved)
    elif length:
        _width(m)
        m.reader.push([r"\raisebox", "{", length, "}"])


def _register(m: Machine) -> str:
    """The number or the name of a box; empty for neither."""
    tok = m.reader.skip_spaces()
    match = _BOX_NUMBER.match(tok) if tok and tok != PAR else None
    if match and tok:
        m.reader.push([tok[match.end() :] or " "])
        return match[1]
    return tok if tok and tok[0] == "\\" else _unread(m, tok)


def set_box(m: Machine, tok: Token) -> None:
    r"""`\setbox0=\hbox{words}`: LaTeX's `\sbox`."""
    name = _register(m)
    m.reader.flag("=")
    kept = m.reader.skip_spaces()
    if name and kept in BOXES:
        _width(m)
        m.reader.push([r"\sbox", "{", name, "}"])
    else:
        _unread(m, kept)


def use_box(m: Machine, tok: Token) -> None:
    r"""`\box0`, `\copy0`, `\unhbox0`: LaTeX's `\usebox`."""
    if name := _register(m):
        m.reader.push([r"\usebox", "{", name, "}"])


def font(m: Machine, tok: Token) -> None:
    r"""`\font\name=cmr10 at 0.5pt`: LaTeX's `\fontsize` where nobody can read it."""
    name, loaded = m.reader.next(), m.reader.next()
    match = _FONT.match(loaded) if loaded and loaded[0] not in "\\{}" and loaded != PAR else None
    if name is None or match is None or loaded is None:
        _unread(m, loaded)
        return
    m.reader.push([loaded[match.end() :] or " "])
    designed = _DESIGNED.search(match[1])
    natural = float(designed[0]) if designed else 10.0
    size = hiding.points(match[2] + match[3]) if match[2] else natural * float(match[4] or 1000) / 1000
    if name[0] == "\\" and size is not None and size < hiding.MIN_POINTS:
        m.define(name, Macro((r"\fontsize", "{", f"{size:.2f}pt", "}", "{", f"{size:.2f}pt", "}")))
