"""Text in the source that no reader of the page can see: leave it out and note how it is hidden.

White (also under a name of the author's), nearly no size, no opacity, off the page, and printed upon by what follows.
Measured over generated papers (`python -m benchmarks.hidden_text`); no promise beyond those ways.
"""

from __future__ import annotations

import re

from indexer.parsers.latex.machine import BRACE, Group, Machine
from indexer.parsers.latex.reader import PAR, Token
from indexer.parsers.latex.stream import TextStream
from lineage.records import Status

MIN_POINTS = 3.0
MIN_SCALE = 0.15
MIN_OPACITY = 0.1
OFF_PAGE = 200.0
"""Points: a line or a box that is moved further than that is no correction of a layout."""
MAX_OVERPRINT = 40
"""Characters that a box without width may hold: symbols and labels are put over others, sentences are not."""
MAX_SKIPPED = 2_000
_POINTS = {"pt": 1.0, "bp": 1.004, "mm": 2.845, "cm": 28.45, "in": 72.27, "em": 10.0, "ex": 4.3, "pc": 12.0, "sp": 0.0, "px": 1.0}
_LENGTH = re.compile(r"\s*([+-]?\s*\d*\.?\d+)\s*([a-z]{2})?")
_PAGE = re.compile(r"\\(?:text|line|paper|column)width|\\(?:text|paper)height")
_WHOLES = {"rgb": 1.0, "gray": 1.0, "RGB": 255.0}


def _number(text: str) -> float | None:
    match = _LENGTH.match(text)
    return float(match[1].replace(" ", "")) if match else None


def points(text: str) -> float | None:
    r"""A length in points, of a number alone as points; of `\textwidth` and its like a page's worth."""
    match = _LENGTH.match(text)
    if "\\" in text:
        if not _PAGE.search(text):
            return None
        return 400.0 * (float(match[1].replace(" ", "")) if match else -1.0 if text.lstrip().startswith("-") else 1.0)
    return float(match[1].replace(" ", "")) * _POINTS.get(match[2] or "pt", 1.0) if match else None


def is_white(model: str, value: str) -> bool:
    """Whether a colour is white or nearly so."""
    if model.upper() == "HTML":
        return bool(re.fullmatch(r"(?:F[5-9A-F]){3}", value.strip().upper()))
    if model in {"rgb", "gray", "RGB"}:
        parts = [_number(part) for part in value.split(",")]
        return all(part is not None and part >= 0.95 * _WHOLES[model] for part in parts)
    if model == "cmyk":
        return all(part is not None and part <= 0.05 for part in map(_number, value.split(",")))
    return value.strip().lower() in {"white", "1,1,1", "ffffff"} or bool(re.fullmatch(r"\w+!0!white|white!\d+", value.strip().lower()))


def define_color(m: Machine, tok: Token) -> None:
    r"""`\definecolor{name}{model}{value}` and `\colorlet{name}{other}`: names for white are remembered."""
    m.reader.optional()
    name = m.reader.word()
    model = "" if tok == r"\colorlet" else m.reader.word()
    value = m.reader.word()
    if is_white(model, value) or value in m.whites:
        m.whites.add(name)
    else:
        m.whites.discard(name)


def color(m: Machine, tok: Token) -> None:
    r"""`\textcolor{name}{words}` and `\color{name}`: words in white are left out.

    Not in tables and floats, where white stands on dark cells.
    """
    model = "".join(m.reader.optional() or ())
    value = m.reader.word()
    if (is_white(model, value) or value in m.whites) and m.in_document and not m.tabulars and not m.floats:
        _hide(m, "white text", argument=tok == r"\textcolor")


def transparent(m: Machine, tok: Token) -> None:
    r"""`\transparent{0}` and `\texttransparent{0}{words}`."""
    opacity = _number(m.reader.word())
    if opacity is not None and opacity < MIN_OPACITY:
        _hide(m, "transparent text", argument=tok == r"\texttransparent")


def font_size(m: Machine, tok: Token) -> None:
    r"""`\fontsize{1pt}{1pt}`: what follows in its group is too small to be read."""
    size = points(m.reader.word())
    m.reader.take("m")
    if size is not None and size < MIN_POINTS and m.in_document:
        _hide(m, "tiny text", argument=False)


def scale(m: Machine, tok: Token) -> None:
    r"""`\scalebox{0.01}{words}` and `\resizebox{1pt}{!}{words}`."""
    first = m.reader.word()
    factor = _number(first)
    if tok == r"\scalebox":
        m.reader.optional()
        small = factor is not None and abs(factor) < MIN_SCALE
    else:
        width, height = points(first), points(m.reader.word())
        small = any(length is not None and abs(length) < MIN_POINTS for length in (width, height))
    if small:
        _hide(m, "tiny text", argument=True)


def overlap(m: Machine, tok: Token) -> None:
    r"""`\rlap{words}` and `\llap{words}`: a sentence without width is printed upon."""
    inside = m.reader.argument()
    if len("".join(part for part in inside if part[0] not in "\\{}$")) > MAX_OVERPRINT and not m.tabulars and not m.floats:
        m.note("overprinted text", Status.POLICY_SKIPPED, "a sentence in a box without width was left out")
    else:
        m.reader.push(["{", *inside, "}"])


def shift(m: Machine, tok: Token) -> None:
    r"""`\hspace{-50cm}`: what follows on its line stands off the page."""
    m.reader.flag("*")
    length = points(m.reader.word())
    if length is not None and length < -OFF_PAGE and m.in_document and not m.floats:
        _drop_line(m)


def raise_box(m: Machine, tok: Token) -> None:
    r"""`\raisebox{100cm}[..][..]{words}`."""
    height = points(m.reader.word())
    m.reader.take("oo")
    if height is not None and abs(height) > OFF_PAGE:
        _hide(m, "text off the page", argument=True)


def _hide(m: Machine, how: str, *, argument: bool) -> None:
    """Leave out the next argument, or the rest of the group that is open."""

    def then(stream: TextStream) -> None:
        if stream.length:
            m.note(how, Status.POLICY_SKIPPED, "words printed so that nobody sees them were left out")

    if argument:
        m.capture(then)
    elif m.groups and m.groups[-1] is BRACE:
        m.groups.pop()
        m.divert(Group("capture"), TextStream(), then)


def _drop_line(m: Machine) -> None:
    """Pass over the rest of the group or paragraph."""
    depth, dropped = 0, ""
    for _ in range(MAX_SKIPPED):
        tok = m.reader.next()
        if tok is None:
            break
        if tok in (PAR, r"\par", r"\end", r"\\") or (tok == "}" and not depth):
            m.reader.back()
            break
        depth += (tok == "{") - (tok == "}")
        dropped += tok if tok[0] not in "\\{}" else ""
    if dropped.strip():
        m.note("text off the page", Status.POLICY_SKIPPED, "words printed so that nobody sees them were left out")
