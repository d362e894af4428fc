r"""Short TeX strings (titles, names, notes) to plain text, by linear regular expressions.

For the values of .bib and biblatex files, of which there may be 10^5: no macros, no structure.
"""

from __future__ import annotations

import re

from indexer.parsers.latex.symbols import LETTERS, MATH_SIGNS, SYMBOLS, accented, typeset

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
