"""Characters with a meaning: braces, dollars, cell borders, line ends, items."""

from __future__ import annotations

from indexer.parsers.latex.cells import border, row_end
from indexer.parsers.latex.formula import Formula
from indexer.parsers.latex.machine import BRACE, Group, Handler, Machine
from indexer.parsers.latex.numbering import LabelTarget
from indexer.parsers.latex.scanner import PAR, Token


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
