"""Text in the source that no reader of the page can see: leave it out and note how it is hidden.

In the color of what it stands on (under whatever name, mix or model), nearly without size, without opacity or ink, off the page,
printed upon by what follows, clipped, or in a box that is never printed. Names of commands and lengths are followed to their values.
Measured over generated papers (`python -m benchmarks.hidden_text`); no promise beyond those ways.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial
from itertools import chain, islice

from indexer.parsers.latex.machine import Color, Group, Machine
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
MIN_LINE = 7.0
"""Points: what is cut off by so much of its height shows no letter."""
UNUSED = "words of a box that is printed nowhere were left out"
PAGE = 800.0
"""Points: what is moved up or down further than that is off every page."""
CONTRAST = 0.0501
"""Difference of brightness, of 1, from which a color is told from what it stands on."""
WHITE: Color = (1.0, 1.0, 1.0)
_POINTS = {"pt": 1.0, "bp": 1.004, "mm": 2.845, "cm": 28.45, "in": 72.27, "em": 10.0, "ex": 4.3, "pc": 12.0, "sp": 0.0, "px": 1.0}
_LENGTH = re.compile(r"\s*([+-]?)\s*(\d*\.?\d+)?\s*([a-z]{2})?(\\[A-Za-z@]+)?")
_PAGE = re.compile(r"\\(?:text|line|paper|column)width|\\(?:text|paper)height")
_NAMED: dict[str, Color] = {
    "white": WHITE, "black": (0, 0, 0), "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0), "cyan": (0, 1, 1),
    "magenta": (1, 0, 1), "gray": (0.5, 0.5, 0.5), "darkgray": (0.25, 0.25, 0.25), "lightgray": (0.75, 0.75, 0.75), "orange": (1, 0.5, 0),
    "brown": (0.75, 0.5, 0.25), "lime": (0.75, 1, 0), "olive": (0.5, 0.5, 0), "pink": (1, 0.75, 0.75), "purple": (0.75, 0, 0.25),
    "teal": (0, 0.5, 0.5), "violet": (0.5, 0, 0.5),
}  # fmt: skip
"""Colors of xcolor."""
_NUMBERS = re.compile(r"[+-]?\d*\.?\d+")
_EXPANSIONS, MAX_MIXED = 10, 20


def _value(m: Machine, tokens: list[Token]) -> str:
    """An argument with the author's commands of no argument replaced by what they stand for."""
    for _ in range(_EXPANSIONS):
        if not any(tok in m.macros and not m.macros[tok].signature for tok in tokens):
            break
        bodies = (m.macros[tok].body if tok in m.macros and not m.macros[tok].signature else (tok,) for tok in tokens)
        tokens = list(islice(chain.from_iterable(bodies), MAX_SKIPPED))
        m.work += len(tokens)
    return "".join(tokens).strip()


def _argument(m: Machine) -> str:
    return _value(m, m.reader.argument())


def _number(text: str) -> float | None:
    match = _NUMBERS.match(text)
    return float(match[0]) if match else None


def _length(m: Machine) -> float | None:
    return points(_argument(m), m.lengths)


def points(text: str, lengths: Mapping[Token, float] | None = None) -> float | None:
    r"""A length or a sum of lengths in points, of a number alone as points; of `\textwidth` and its like a page's worth, of the author's own
    what it was set to."""
    total, text = 0.0, text.removeprefix(r"\dimexpr").removesuffix(r"\relax").strip()
    while match := _LENGTH.match(text):
        sign, number, unit, name = match.groups()
        factor = float(f"{sign}{number or 1}")
        if not name and not number:
            return None
        known = (lengths or {}).get(name, 400.0 if _PAGE.match(name) else None) if name else _POINTS.get(unit or "pt", 1.0)
        if known is None:
            return None
        total, text = total + factor * known, text[match.end() :].lstrip()
        if text[:1] not in ("+", "-"):
            return total
    return None


_SHAPES = frozenset({r"\leftskip", r"\rightskip", r"\parindent", r"\hangindent", r"\hoffset", r"\voffset"})
"""Lengths that move the lines of what follows."""


def set_length(m: Machine, tok: Token) -> None:
    r"""`\setlength{\name}{length}` and `\addtolength{\name}{length}`."""
    name, length = m.reader.word(), _length(m)
    assign(m, name, None if length is None else length + (m.lengths.get(name, 0.0) if tok == r"\addtolength" else 0.0))


def assign(m: Machine, name: Token, length: float | None) -> None:
    """What a length is from here on, where that is known."""
    if length is None:
        return
    m.lengths[name] = length
    if name in _SHAPES:
        _state(m, "text off the page", unseen=abs(length) > PAGE)


def color_of(m: Machine, model: str, value: str) -> Color | None:
    """A color by a name, a mix (`name!20!other`) or the values of a model; None for one that is not known."""
    model = model.strip()
    if not model or model == "named":
        return _mixed(m, value)
    parts = [float(part) for part in _NUMBERS.findall(value)]
    if model == "HTML" and re.fullmatch(r"[0-9A-Fa-f]{6}", value):
        parts, model = [float(part) for part in bytes.fromhex(value)], "RGB"
    if model == "RGB":
        parts, model = [part / 255 for part in parts], "rgb"
    if model == "gray":
        parts, model = parts * 3, "rgb"
    if model == "cmyk" and len(parts) == 4:
        parts, model = [min(1.0, part + parts[3]) for part in parts[:3]], "cmy"
    if model == "cmy":
        parts, model = [1 - part for part in parts], "rgb"
    return (parts[0], parts[1], parts[2]) if model == "rgb" and len(parts) == 3 else None


def _mixed(m: Machine, value: str) -> Color | None:
    name, *rest = (part.strip() for part in value.split("!", MAX_MIXED))
    made = _known(m, name)
    while rest and made:
        share, other = _number(rest[0]), _known(m, rest[1]) if len(rest) > 1 else WHITE
        if share is None or other is None:
            return None
        part = min(max(share / 100, 0.0), 1.0)
        red, green, blue = (part * own + (1 - part) * mixed for own, mixed in zip(made, other, strict=True))
        made, rest = (red, green, blue), rest[2:]
    return made


def _known(m: Machine, name: str) -> Color | None:
    return m.colors.get(name) or _NAMED.get(name) or _NAMED.get(name.lower())


def _unseen(m: Machine, ink: Color | None) -> bool:
    """Whether a color is that of what it stands on, or nearly so, where that is known: white stands on dark cells of tables and in figures."""
    if ink is None or m.ground is None or m.tabulars or m.floats:
        return False
    red, green, blue = (abs(own - ground) for own, ground in zip(ink, m.ground, strict=True))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue <= CONTRAST


def define_color(m: Machine, tok: Token) -> None:
    r"""`\definecolor{name}{model}{value}` and `\colorlet{name}{mix}`."""
    m.reader.optional()
    name = m.reader.word()
    made = color_of(m, "" if tok == r"\colorlet" else m.reader.word(), _argument(m))
    if made:
        m.colors[name] = made
    else:
        m.colors.pop(name, None)


def color(m: Machine, tok: Token) -> None:
    r"""`\textcolor{name}{words}` and `\color{name}`: words in the color of what they stand on are left out."""
    ink = color_of(m, "".join(m.reader.optional() or ()), _argument(m))
    if tok == r"\color":
        _state(m, "white text", unseen=_unseen(m, ink))
    elif _unseen(m, ink) and m.in_document:
        _hide(m, "white text")


def normal_color(m: Machine, tok: Token) -> None:
    r"""`\normalcolor`."""
    m.show("white text")


def ground(m: Machine, tok: Token) -> None:
    r"""`\colorbox{name}{words}`, `\fcolorbox{frame}{name}{words}` and `\pagecolor{name}`: what words stand on from here on, or in the box."""
    model = "".join(m.reader.optional() or ())
    if tok == r"\fcolorbox":
        m.reader.argument()
    made = color_of(m, model, _argument(m))
    if tok == r"\pagecolor":
        m.ground = made
    else:
        _scoped(m, "ground", made)


def _scoped(m: Machine, name: str, value: object) -> None:
    """Set what holds inside the braces that come next."""
    before = getattr(m, name)
    if m.reader.skip_spaces() != "{":
        m.reader.back()
        return
    setattr(m, name, value)
    m.open(Group("{", close=lambda: setattr(m, name, before)))


def transparent(m: Machine, tok: Token) -> None:
    r"""`\transparent{0}` and `\texttransparent{0}{words}`."""
    opacity = _number(_argument(m))
    faint = opacity is not None and opacity < MIN_OPACITY
    if tok == r"\transparent":
        _state(m, "transparent text", unseen=faint)
    elif faint:
        _hide(m, "transparent text")


def font_size(m: Machine, tok: Token) -> None:
    r"""`\fontsize{1pt}{1pt}`: what follows is too small to be read, until another size is set."""
    size = _length(m)
    m.reader.take("m")
    _state(m, "tiny text", unseen=size is not None and abs(size) * m.scale < MIN_POINTS)


def named_size(m: Machine, tok: Token) -> None:
    r"""`\normalsize` and its like."""
    m.show("tiny text")


def scale(m: Machine, tok: Token) -> None:
    r"""`\scalebox{0.01}{words}` and `\resizebox{1pt}{!}{words}`, one in another too."""
    if tok == r"\scalebox":
        factor = _number(_argument(m))
        m.reader.optional()
        whole = m.scale * abs(1.0 if factor is None else factor)
        if whole >= MIN_SCALE:
            _scoped(m, "scale", whole)
            return
    elif not any(length is not None and abs(length) < MIN_POINTS for length in (_length(m), _length(m))):
        return
    _hide(m, "tiny text")


def overlap(m: Machine, tok: Token) -> None:
    r"""`\rlap{words}`, `\llap{words}` and `\makebox[0pt]{words}`: a sentence without width is printed upon."""
    if tok in (r"\makebox", r"\framebox"):
        width = points(_value(m, m.reader.optional() or []), m.lengths)
        m.reader.optional()
        if width is None or abs(width) >= MIN_POINTS:
            return
    inside = m.reader.argument()
    if len("".join(part for part in inside if part[0] not in "\\{}$")) > MAX_OVERPRINT and not m.tabulars and not m.floats:
        m.note("overprinted text", Status.POLICY_SKIPPED, "a sentence in a box without width was left out")
    else:
        m.reader.push(["{", *inside, "}"])


def shift(m: Machine, tok: Token) -> None:
    r"""`\hspace{-50cm}` and `\vspace{-100cm}`: what follows on its line, or in its paragraph, stands off the page."""
    m.reader.flag("*")
    length = _length(m)
    least, most = (-PAGE, math.inf) if tok == r"\vspace" else (-OFF_PAGE, PAGE)
    if length is not None and not least <= length <= most and m.in_document and not m.floats:
        _drop_line(m)


def raise_box(m: Machine, tok: Token) -> None:
    r"""`\raisebox{100cm}[..][..]{words}`."""
    height = _length(m)
    m.reader.take("oo")
    if height is not None and abs(height) > OFF_PAGE:
        _hide(m, "text off the page")


def put(m: Machine, tok: Token) -> None:
    r"""`\put(900,0){words}`, in points."""
    place, _, rest = (m.reader.skip_spaces() or "").partition(")")
    m.reader.push([rest] if rest else [])
    if any(abs(float(number)) > PAGE for number in _NUMBERS.findall(place)):
        _hide(m, "text off the page")


def clip(m: Machine, tok: Token) -> None:
    r"""`\clipbox{left bottom right top}{words}`: what is cut off by more than a line's height or a line's length."""
    m.reader.flag("*")
    m.reader.optional()
    cuts = [points(part, m.lengths) or 0.0 for part in _argument(m).split()]
    left, bottom, right, top = (cuts * 4 if len(cuts) == 1 else cuts * 2 if len(cuts) == 2 else [*cuts, 0.0, 0.0, 0.0, 0.0])[:4]
    if bottom + top > MIN_LINE or left + right > OFF_PAGE:
        _hide(m, "clipped text")


def save_box(m: Machine, tok: Token) -> None:
    r"""`\sbox{\name}{words}` and `\savebox{\name}[..][..]{words}`: words that are printed where `\usebox{\name}` stands, if it does."""
    name = m.reader.word()
    m.reader.take("oo")
    m.capture(lambda stream: _kept(m, name, stream))


def begin_box(m: Machine, name: str) -> None:
    r"""The environment `lrbox`."""
    box = m.reader.word()
    m.divert(Group("env", name), TextStream(flowing=True), lambda stream: _kept(m, box, stream))


def _kept(m: Machine, name: Token, stream: TextStream) -> None:
    m.boxes[name] = stream
    if stream.length:
        m.note(f"the box {name}", Status.POLICY_SKIPPED, UNUSED)


def use_box(m: Machine, tok: Token) -> None:
    r"""`\usebox{\name}`: the words are printed, once for this reader."""
    name = m.reader.word()
    stream = m.boxes.pop(name, None)
    m.found.lost.pop(f"the box {name}", None)
    if stream and stream.flowing and m.out.flowing:
        stream.end_block()
        m.out.absorb(stream)
    elif stream:
        m.out.inline(stream)


def literal_pdf(m: Machine, tok: Token) -> None:
    r"""`\pdfliteral{3 Tr}` and `\special{pdf: 3 Tr}`: text without ink or in white, until another operator says otherwise."""
    for word in ("direct", "page", "shipout"):
        m.reader.flag(word)
    code = _argument(m)
    for mode in _RENDERED.findall(code):
        _state(m, "text without ink", unseen=mode in "37")
    for numbers, operator in _PAINTED.findall(code):
        model = {"g": "gray", "rg": "rgb", "k": "cmyk"}[operator]
        _state(m, "white text", unseen=_unseen(m, color_of(m, model, numbers)))


_RENDERED = re.compile(r"\b([0-7])\s+Tr\b")
_PAINTED = re.compile(r"((?:[\d.]+\s+){1,4})(g|rg|k)\b")


_INKS, _GROUND_KEYS = ("coltext", "colupper", "fontcolor", "text", "color"), ("colback", "backgroundcolor", "fill", "bgcolor")
_OPACITIES = ("opacity", "text opacity", "opacitytext", "opacityupper")


def _hidden_by(m: Machine, options: list[Token], *, scaled: bool) -> str:
    """How options like `coltext=white`, `opacity=0` and `scale=0.01` hide the words of a box; empty where they are seen."""
    pairs = (option.partition("=") for option in _value(m, options).split(","))
    values = {key.strip(): value.strip() for key, _, value in pairs}
    ink, ground = ([_mixed(m, values[key]) for key in keys if key in values] for keys in (_INKS, _GROUND_KEYS))
    faint = [_number(values[key]) for key in _OPACITIES if key in values]
    sizes = [points(values[key], m.lengths) for key in ("width", "height", "totalheight") if key in values and scaled]
    factor = _number(values.get("scale", "")) if scaled else None
    before, m.ground = m.ground, ground[0] if ground else m.ground
    unseen, m.ground = any(_unseen(m, each) for each in ink), before
    if unseen:
        return "white text"
    if any(each is not None and each < MIN_OPACITY for each in faint):
        return "transparent text"
    tiny = (factor is not None and abs(factor) * m.scale < MIN_SCALE) or any(size is not None and abs(size) < MIN_POINTS for size in sizes)
    return "tiny text" if tiny else ""


def hide_by_options(m: Machine, options: list[Token], *, scaled: bool = False) -> None:
    """What the options of the environment that was just opened do to its words; those of `adjustbox` (`scaled`) say sizes of what is in it."""
    if m.in_document and (how := _hidden_by(m, options, scaled=scaled)):
        m.hide(how, partial(_noted, m, how))


def adjust_box(m: Machine, tok: Token) -> None:
    r"""`\adjustbox{scale=0.01}{words}`."""
    if how := _hidden_by(m, m.reader.argument(), scaled=True):
        _hide(m, how)


def new_box(m: Machine, tok: Token) -> None:
    r"""`\newtcolorbox[..]{name}[..][..]{options}` and `\newmdenv[options]{name}`."""
    options, name = m.reader.optional() or [], m.reader.word()
    m.reader.take("oo" if tok == r"\newtcolorbox" else "")
    m.looks[name] = m.reader.argument() if tok == r"\newtcolorbox" else options


def _noted(m: Machine, how: str, stream: TextStream) -> None:
    if stream.length:
        m.note(how, Status.POLICY_SKIPPED, "words printed so that nobody sees them were left out")


def _state(m: Machine, how: str, *, unseen: bool) -> None:
    """From here to the end of the group words are seen, or not; a box of some other ground is no group of the page."""
    group = m.groups[-1] if m.groups else None
    if not unseen:
        m.show(how)
    elif m.in_document and not (group and group.kind == "env" and (group.name in _GROUNDS or not _is_known(m, group.name))):
        m.hide(how, partial(_noted, m, how))


_GROUNDS = frozenset({"tcolorbox", "mdframed", "framed"})


def _is_known(m: Machine, environment: str) -> bool:
    return environment in m.environments or environment.rstrip("*") in m.tables.environments


def _hide(m: Machine, how: str) -> None:
    """Leave out the next argument."""
    m.capture(partial(_noted, m, how))


def _drop_line(m: Machine) -> None:
    """Pass over the rest of the group or paragraph."""
    depth, dropped = 0, ""
    for _ in range(MAX_SKIPPED):
        tok = m.reader.next()
        if tok is None:
            break
        if tok == PAR and not dropped.strip():
            continue
        if tok in (PAR, r"\par", r"\end", r"\\") or (tok == "}" and not depth):
            m.reader.back()
            break
        depth += (tok == "{") - (tok == "}")
        dropped += tok if tok[0] not in "\\{}" else ""
    if dropped.strip():
        m.note("text off the page", Status.POLICY_SKIPPED, "words printed so that nobody sees them were left out")
