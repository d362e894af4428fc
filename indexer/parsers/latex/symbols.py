"""Characters that TeX commands stand for, and short TeX strings (titles, names, notes) to plain text.

One table for prose, one for the accents; mathematics keeps its TeX and only borrows `SYMBOLS` for a formula
that is a single sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping


def words(text: str) -> list[str]:
    """The words of a table row."""
    return text.split()


def pairs(text: str) -> dict[str, str]:
    """A table written as names and values in turn."""
    return dict(zip(text.split()[::2], text.split()[1::2], strict=True))


def grouped(names: Mapping[str, str]) -> dict[str, str]:
    """A table written as values, each with the names that have it."""
    return {name: value for value, row in names.items() for name in row.split()}


COMBINING = dict(
    zip("`'^~\"=.uvHcdbkrt", "\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u0328\u030a\u0361", strict=True)
)

LETTERS = pairs("ss ß SS ẞ ae æ AE Æ oe œ OE Œ aa å AA Å o ø O Ø l ł L Ł i ı j ȷ dh ð DH Ð dj đ DJ Đ th þ TH Þ ng ŋ NG Ŋ")

SYMBOLS = {
    **LETTERS,
    **{char: char for char in "&%$#_{}"},
    **dict.fromkeys(" \n\t,;:>", " "),
    **dict.fromkeys(
        words(
            "quad qquad enspace enskip thinspace space nobreakspace textvisiblespace bibnamedelima bibnamedelimb bibnamedelimc"
            " bibnamedelimd bibnamedelimi bibinitdelim"
        ),
        " ",
    ),
    **dict.fromkeys(words("! / - @ nobreakdash today"), ""),
    **pairs(
        "S § P ¶ dag † ddag ‡ dagger † ddagger ‡ copyright © textcopyright © textregistered ® texttrademark ™ pounds £ textsterling £"
        " euro € texteuro € textdollar $ dots … ldots … textellipsis … cdots ⋯ textendash – textemdash — textquoteleft ‘ textquoteright"
        " ’ textquotedblleft “ textquotedblright ” textquotesingle ' textquotedbl \" lq ‘ rq ’ guillemotleft « guillemotright »"
        " textasciitilde ~ texttildelow ~ textapprox ~ textasciicircum ^ textbackslash \\ textunderscore _ textbar | textless <"
        " textgreater > textbraceleft { textbraceright } lbrack [ rbrack ] textdegree ° degree ° textmu µ textpm ± texttimes ×"
        " textbullet • textperiodcentered · slash / checkmark ✓ cmark ✓ xmark ✗ LaTeX LaTeX LaTeXe LaTeX2e TeX TeX BibTeX BibTeX ie"
        " i.e. eg e.g. etc etc. wrt w.r.t. vs vs. cf cf. textnumero № BBA & BBOP ( BBCP ) BBC , BPBI . BHBI - BCBT , BCBL ,"
        " bibinitperiod . bibrangedash – BBOQ “ BBCQ ”"
    ),
    "etal": "et al.",
}

MATH_SIGNS = pairs(
    "times × pm ± mp ∓ sim ~ approx ≈ cdot · bullet • star ⋆ ast * rightarrow → to → leftarrow ← uparrow ↑ downarrow ↓ Rightarrow"
    " ⇒ leftrightarrow ↔ leq ≤ le ≤ geq ≥ ge ≥ neq ≠ infty ∞ checkmark ✓ dagger † ddagger ‡ circ ° ldots … dots … cdots ⋯ surd √"
    " alpha α beta β gamma γ delta δ epsilon ε varepsilon ε lambda λ mu μ pi π sigma σ tau τ theta θ Delta Δ Lambda Λ Omega Ω Sigma"
    " Σ"
)

_LIGATURES = (("```", "“‘"), ("``", "“"), ("'''", "”’"), ("''", "”"), ("---", "—"), ("--", "–"), ("?`", "¿"), ("!`", "¡"), ("`", "‘"))
_LIGATURE = re.compile(r"`|''|--")


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


_ACCENT = re.compile(r"\\(?:(['`^\"~=.])|([uvHcdbkrt])(?![A-Za-z]))\s*(?:\{\s*\\?([A-Za-z]?)\s*\}|\\([ij])(?![A-Za-z])|([A-Za-z]))")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)\*?[ \t]*|(.))", re.DOTALL)
_DROPPED = re.compile(r"\\(?:penalty-?\d+|(?:vspace|hspace|cite|citep|footnote)\*?\{[^{}]*\})")
_BRACES = re.compile(r"[{}]")
_ADDRESS = re.compile(r"\\(?:url|path|href)\s*\{([^{}]*)\}(?:\s*\{([^{}]*)\})?")
_SIGN = re.compile(r"\$([^$\\]{1,2})\$")
_CONTROL = re.compile("[\x00-\x1f]+")


def plain(text: str, limit: int = 20_000) -> str:
    """Plain text of a TeX string: accents composed, commands and braces gone, one line."""
    text = _CONTROL.sub(" ", text[:limit])
    if "\\" in text:
        text = _ADDRESS.sub(lambda match: match[2] or match[1], text)
        text = _DROPPED.sub("", text)
        text = _ACCENT.sub(_accent, text)
        text = _COMMAND.sub(_command, text)
    text = _SIGN.sub(lambda match: match[1], text)
    text = _BRACES.sub("", text).replace("~", " ")
    return " ".join(typeset(text).replace("\x00", "{").replace("\x01", "}").split())


def _accent(match: re.Match[str]) -> str:
    return accented(match[1] or match[2], match[3] or match[4] or match[5] or "")


def _command(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if name in LETTERS:
        return LETTERS[name]
    if name in "{}":
        return "\x00" if name == "{" else "\x01"
    return SYMBOLS.get(name, MATH_SIGNS.get(name, ""))
