"""Characters that TeX commands stand for.

One table for prose, one for the accents; mathematics keeps its TeX and only borrows `SYMBOLS` for a formula
that is a single sign.
"""

from __future__ import annotations

import re
import unicodedata

COMBINING = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    '"': "\u0308",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "d": "\u0323",
    "b": "\u0331",
    "k": "\u0328",
    "r": "\u030a",
    "t": "\u0361",
}

LETTERS = {
    "ss": "ß",
    "SS": "ẞ",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "aa": "å",
    "AA": "Å",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "i": "ı",
    "j": "ȷ",
    "dh": "ð",
    "DH": "Ð",
    "dj": "đ",
    "DJ": "Đ",
    "th": "þ",
    "TH": "Þ",
    "ng": "ŋ",
    "NG": "Ŋ",
}

SYMBOLS = {
    **LETTERS,
    **{char: char for char in "&%$#_{}"},
    " ": " ",
    "\n": " ",
    "\t": " ",
    ",": " ",
    ";": " ",
    ":": " ",
    ">": " ",
    "!": "",
    "/": "",
    "-": "",
    "@": "",
    "quad": " ",
    "qquad": " ",
    "enspace": " ",
    "enskip": " ",
    "thinspace": " ",
    "space": " ",
    "nobreakspace": " ",
    "textvisiblespace": " ",
    "nobreakdash": "",
    "S": "§",
    "P": "¶",
    "dag": "†",
    "ddag": "‡",
    "dagger": "†",
    "ddagger": "‡",
    "copyright": "©",
    "textcopyright": "©",
    "textregistered": "®",
    "texttrademark": "™",
    "pounds": "£",
    "textsterling": "£",
    "euro": "€",
    "texteuro": "€",
    "textdollar": "$",
    "dots": "…",
    "ldots": "…",
    "textellipsis": "…",
    "cdots": "⋯",
    "textendash": "–",
    "textemdash": "—",
    "textquoteleft": "‘",
    "textquoteright": "’",
    "textquotedblleft": "“",
    "textquotedblright": "”",
    "textquotesingle": "'",
    "textquotedbl": '"',
    "lq": "‘",
    "rq": "’",
    "guillemotleft": "«",
    "guillemotright": "»",
    "textasciitilde": "~",
    "texttildelow": "~",
    "textapprox": "~",
    "textasciicircum": "^",
    "textbackslash": "\\",
    "textunderscore": "_",
    "textbar": "|",
    "textless": "<",
    "textgreater": ">",
    "textbraceleft": "{",
    "textbraceright": "}",
    "lbrack": "[",
    "rbrack": "]",
    "textdegree": "°",
    "degree": "°",
    "textmu": "µ",
    "textpm": "±",
    "texttimes": "×",
    "textbullet": "•",
    "textperiodcentered": "·",
    "slash": "/",
    "checkmark": "✓",
    "cmark": "✓",
    "xmark": "✗",
    "LaTeX": "LaTeX",
    "LaTeXe": "LaTeX2e",
    "TeX": "TeX",
    "BibTeX": "BibTeX",
    "etal": "et al.",
    "ie": "i.e.",
    "eg": "e.g.",
    "etc": "etc.",
    "wrt": "w.r.t.",
    "vs": "vs.",
    "cf": "cf.",
    "textnumero": "№",
    "BBA": "&",
    "BBOP": "(",
    "BBCP": ")",
    "BBC": ",",
    "BPBI": ".",
    "BHBI": "-",
    "BCBT": ",",
    "BCBL": ",",
    "natexlab": "",
    "today": "",
}

MATH_SIGNS = {
    "times": "×",
    "pm": "±",
    "mp": "∓",
    "sim": "~",
    "approx": "≈",
    "cdot": "·",
    "bullet": "•",
    "star": "⋆",
    "ast": "*",
    "rightarrow": "→",
    "to": "→",
    "leftarrow": "←",
    "uparrow": "↑",
    "downarrow": "↓",
    "Rightarrow": "⇒",
    "leftrightarrow": "↔",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "infty": "∞",
    "checkmark": "✓",
    "dagger": "†",
    "ddagger": "‡",
    "circ": "°",
    "ldots": "…",
    "dots": "…",
    "cdots": "⋯",
    "surd": "√",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "varepsilon": "ε",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "sigma": "σ",
    "tau": "τ",
    "theta": "θ",
    "Delta": "Δ",
    "Lambda": "Λ",
    "Omega": "Ω",
    "Sigma": "Σ",
}

_LIGATURES = (("```", "“‘"), ("``", "“"), ("'''", "”’"), ("''", "”"), ("---", "—"), ("--", "–"), ("?`", "¿"), ("!`", "¡"), ("`", "‘"))
_LIGATURE = re.compile(r"`|''|--")


def words(text: str) -> list[str]:
    """The words of a table row."""
    return text.split()


def accented(mark: str, base: str) -> str:
    """The letter `base` under the TeX accent `mark` (`'`, `"`, `v` ...), composed where Unicode has it."""
    base = {"ı": "i", "ȷ": "j"}.get(base, base)
    if not base:
        return ""
    return unicodedata.normalize("NFC", base[0] + COMBINING[mark]) + base[1:]


def typeset(text: str) -> str:
    """A run of ordinary characters with TeX's ligatures made: quotes, dashes, inverted marks."""
    if _LIGATURE.search(text):
        for written, printed in _LIGATURES:
            text = text.replace(written, printed)
    return text
