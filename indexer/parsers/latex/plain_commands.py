r"""Commands and characters without structure: accents, lengths, braces, cell borders, line ends, arguments that are not text.

Formatting needs no entry anywhere: an unknown command is dropped, its braces are groups and its words are text.
"""

from __future__ import annotations

import re

from indexer.parsers.latex.floats import border, row_end
from indexer.parsers.latex.formula import Formula
from indexer.parsers.latex.hiding import assign, points
from indexer.parsers.latex.machine import BRACE, Group, Handler, Machine
from indexer.parsers.latex.numbering import LabelTarget
from indexer.parsers.latex.reader import PAR, Token, written
from indexer.parsers.latex.stream import LatexCitation
from indexer.parsers.latex.symbols import MATH_SIGNS, SYMBOLS, accented, plain, words

_GLUE = re.compile(r"[ \t]*=?[ \t]*-?[\d.]*[ \t]*(?:true)?(?:pt|cm|mm|in|ex|em|bp|pc|sp|fil+)?(?:\s+(?:plus|minus)\s*[\d.]+[a-z]{2,4})*")
_ASSIGNED = re.compile(
    r"[ \t]*=[ \t]*-?[\d.]*[ \t]*(?:true)?(?:pt|cm|mm|in|ex|em|bp|pc|sp)?(?![A-Za-z])(?:[ \t]+(?:plus|minus)[ \t]*[\d.]+[a-z]{2,4})*"
)
_KEEP_OPTION = frozenset(words(r"\noindent \centering \small \footnotesize \normalsize \large \par \bf \it \em \tt \rm \sc \bfseries \itshape \quad"))
_NO_XSPACE = frozenset(words(r"\/ \, \@ \- \xspace \footnote \footnotemark \space \unskip"))
_CITE = re.compile(r"\\[A-Za-z]*[cC]ite[A-Za-z]*\*?\Z")
_NOT_CITES = frozenset(words(r"\citestyle \citealias \citenamefont \citetext \citeindextrue \citeindexfalse \newcites \nocites"))
_MULTI = {"cites", "parencites", "textcites", "autocites", "footcites", "smartcites", "supercites", "fullcites"}


def unknown(m: Machine, tok: Token) -> None:
    """Anything without an entry: a sign, a citation of some package, or formatting, which is dropped."""
    sign = SYMBOLS.get(tok[1:])
    if sign is not None:
        m.out.space() if sign == " " else m.out.put(sign) if sign else None
    elif tok.startswith((r"\bibliography", r"\putbib")):  # multibib, bibunits: \bibliographyapp{refs}
        m.found.bibliographies += [name.strip() for name in m.reader.word().split(",") if name.strip()]
    elif _CITE.match(tok) is not None and tok not in _NOT_CITES:
        cite(m, tok)
    elif tok[1:] in MATH_SIGNS:
        m.out.put(MATH_SIGNS[tok[1:]])
    elif tok not in _KEEP_OPTION:
        _option_or_value(m, tok)


def _option_or_value(m: Machine, tok: Token) -> None:
    following = m.reader.next()
    if following is None:
        return
    if following.startswith("=") and (match := _ASSIGNED.match(following)):
        m.reader.push([following[match.end() :] or " "])
        assign(m, tok, points(match[0].replace("=", "")))
        return
    m.reader.back()
    if following == "[":
        m.reader.optional()


def swallow(signature: str) -> Handler:
    """A handler for commands whose arguments are no text."""

    def handler(m: Machine, tok: Token) -> None:
        m.reader.take(signature)

    return handler


def glue(m: Machine, tok: Token) -> None:
    r"""`\vskip 3pt plus 1pt`: a length without braces."""
    following = m.reader.next()
    if following is None:
        return
    match = _GLUE.match(following) if following[0] not in "\\{" and following != PAR else None
    if match and match.end():
        m.reader.push([following[match.end() :] or " "])
    elif following[0] != "\\":
        m.reader.back()


def accent(m: Machine, tok: Token) -> None:
    """A letter under an accent."""
    if m.tabulars and tok in (r"\=", r"\>", r"\'", r"\`") and m.within("tabbing"):
        return
    m.out.put(accented(tok[1:], plain(written(m.reader.argument()))))


def xspace(m: Machine, tok: Token) -> None:
    """A space, unless punctuation follows."""
    following = m.reader.next()
    while following in ("}", "{") and m.mode is None:
        m.step(following)
        following = m.reader.next()
    if following is None:
        return
    m.reader.back()
    if following not in _NO_XSPACE and following[0] not in ".,'/?;:!~-)}{&":
        m.out.space()


def onedot(m: Machine, tok: Token) -> None:
    """The full stop of `e.g.` in the conference styles, left out before another one."""
    following = m.reader.next()
    if following is not None:
        m.reader.back()
        if not following.startswith("."):
            m.out.put(".")
            xspace(m, tok)


def ensuremath(m: Machine, tok: Token) -> None:
    r"""`\ensuremath{...}` outside a formula."""
    m.reader.push(["$", *m.reader.argument(), "$"])


def first_of_two(m: Machine, tok: Token) -> None:
    r"""`\texorpdfstring{TeX}{plain}`: the first is what is printed."""
    first_argument = m.reader.argument()
    m.reader.argument()
    m.reader.push(first_argument)


def ding(m: Machine, tok: Token) -> None:
    r"""`\ding{51}`: the numbers of ticks, crosses and circled digits."""
    number = m.reader.word()
    circled = int(number) - 171 if number.isdigit() and 172 <= int(number) <= 181 else 0
    m.out.put({"51": "✓", "52": "✓", "55": "✗", "56": "✗"}.get(number, f"({circled})" if circled else "•"))


def subfloat(m: Machine, tok: Token) -> None:
    r"""`\subfloat[caption]{...}`: the option is text."""
    if given := m.reader.optional():
        m.reader.push(["{", *given, "}", " "])


def midrule(m: Machine, tok: Token) -> None:
    r"""`\cmidrule[w](lr){2-3}`."""
    m.reader.optional()
    trim = m.reader.skip_spaces()
    if trim is None or not trim.startswith("("):
        if trim is not None:
            m.reader.back()
    elif after_trim := trim.partition(")")[2]:
        m.reader.push([after_trim])
    m.reader.take("m")


def verb(m: Machine, tok: Token) -> None:
    """Words to be taken as they are."""
    m.reader.flag("*")
    source = m.reader.source()
    verbatim = source.delimited() if source else None
    if verbatim:
        m.out.put(verbatim)


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


def par(m: Machine, tok: Token) -> None:
    """The paragraph is over."""
    if m.lists and m.out.flowing:
        m.out.newline("  " * len(m.lists))
    elif m.tabulars or not m.out.flowing:
        m.out.space()
    else:
        m.out.end_block()


def line_break(m: Machine, tok: Token) -> None:
    r"""`\\`: a row of a table or only a space, as within a cell (`\makecell`, `\newline`)."""
    m.reader.flag("*")
    m.reader.optional()
    within = tok == r"\newline" or (bool(m.groups) and m.groups[-1].kind in ("{", "capture"))
    if m.tabulars == 1 and m.out.flowing and not within:
        row_end(m)
        m.out.newline()
    elif m.tabulars > 1 and not within:
        m.out.write(" / ")
    else:
        m.out.space()


def ampersand(m: Machine, tok: Token) -> None:
    """The border of two cells."""
    if m.tabulars:
        border(m)
        return
    m.out.put("&")
    m.out.space()


def cell_border(m: Machine, tok: Token) -> None:
    """`&` with space around it."""
    m.out.space()
    ampersand(m, tok)


def item(m: Machine, tok: Token) -> None:
    """An item of a list on a line of its own."""
    given = m.reader.optional()
    m.out.newline("  " * (len(m.lists) - 1))
    bullet = "-"
    if m.lists and m.lists[-1][0] == "enumerate":
        m.lists[-1][1] = int(m.lists[-1][1]) + 1
        bullet = f"{m.lists[-1][1]}."
        m.target = LabelTarget("item", str(m.lists[-1][1]))
    m.out.put(bullet if m.lists else "")
    m.out.space()
    if given:
        m.reader.push(["{", *given, "}", " "])


def open_brace(m: Machine, tok: Token) -> None:
    """A group."""
    m.groups.append(BRACE)


def close_brace(m: Machine, tok: Token) -> None:
    """The end of a group."""
    m.brace()


def dollar(m: Machine, tok: Token) -> None:
    """A formula begins."""
    m.mode = Formula(tok, display=tok == "$$")


def math_open(m: Machine, tok: Token) -> None:
    r"""`\(` and `\[`."""
    m.mode = Formula(r"\)" if tok == r"\(" else r"\]", display=tok == r"\[")


def tie(m: Machine, tok: Token) -> None:
    """A space that does not break."""
    m.out.space()


def literal(m: Machine, tok: Token) -> None:
    """A sign that stands for itself here."""
    m.out.put(tok)


def open_bracket(m: Machine, tok: Token) -> None:
    """A bracket in the text."""
    m.out.put("[")


def close_bracket(m: Machine, tok: Token) -> None:
    """The end of a bracket, or of `\\twocolumn[...]`."""
    if m.groups and m.groups[-1].kind == "[":
        m.close()
    else:
        m.out.put("]")


def two_column(m: Machine, tok: Token) -> None:
    r"""`\twocolumn[...]`: the bracket holds title and abstract."""
    if m.reader.skip_spaces() == "[":
        m.open(Group("["))
    else:
        m.reader.back()


def _signs() -> dict[str, Handler]:
    table: dict[str, Handler] = {PAR: par, "{": open_brace, "}": close_brace, "$": dollar, "&": cell_border, "~": tie}
    table |= {"[": open_bracket, "]": close_bracket, "#": literal, "^": literal, "_": literal}
    return table


SIGNS = _signs()
