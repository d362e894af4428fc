r"""Source text to tokens, one at a time, in linear time.

A token is a string whose first character says what it is: `\name` a command (the space after it is gone),
one of `{ } [ ] & ~ ^ _`, `$` or `$$`, `#1` a parameter, `PAR` a blank line, anything else a run of ordinary
characters with its spaces and single line ends. Comments never come out.
"""

from __future__ import annotations

import re

Token = str
PAR = "\n\n"

_TAIL = r"(?:[ \t]*+\n(?![ \t]*+\n)[ \t]*+|[ \t]++)?+"
_REST = (
    r"|((?:[^\\{}$&#~%^_\[\]\n]++|\n(?![ \t]*+\n))++)"  # 2 a run of text
    r"|(\n[ \t]*+\n\s*+)"  # 3 a blank line
    r"|(%[^\n]*+(?:\n[ \t]*+)?+|(?:\$\$\$\$)++)(\n\s*+)?"  # 4 a comment or an empty formula, 5 a blank line after a comment
    r"|(\$\$?|##?[1-9]|[{}&#~^_\[\]])"  # 6 a sign of its own
    r"|(\\(?:[^A-Za-z]|\Z))"  # 7 a command of one sign
)
_PATTERN = re.compile(r"(\\[A-Za-z]++)" + _TAIL + _REST)
_AT_LETTER = re.compile(r"(\\[A-Za-z@]++)" + _TAIL + _REST)
_URL = re.compile(r"[ \t]*+\{((?:[^{}\n]|\n(?!\s)|\{[^{}\n]*+\})*+)\}")
_TEXT, _BLANK, _COMMENT, _COMMENT_BLANK = 2, 3, 4, 5


class TexSource:
    """One text being read; `name` is the member it came from, `pos` how far reading has come."""

    def __init__(self, text: str, name: str = "", *, at_letter: bool = False) -> None:
        self.text = text
        self.name = name
        self.pos = 0
        self.mark = 0
        self.absent: set[str] = set()
        self.at_letter(at_letter)

    def at_letter(self, on: bool) -> None:
        r"""Whether `@` is a letter from here on (`\makeatletter`, style files)."""
        self._match = (_AT_LETTER if on else _PATTERN).match

    def next(self) -> Token | None:
        """The next token, or None at the end."""
        self.mark = self.pos
        while match := self._match(self.text, self.pos):
            self.pos = match.end()
            kind = match.lastindex
            if kind == _TEXT:
                return match[0]
            if kind in (_BLANK, _COMMENT_BLANK):
                return PAR
            if kind != _COMMENT and kind is not None:
                return match[kind]
        return None

    def back(self) -> None:
        """Unread the last token."""
        self.pos = self.mark

    def until(self, marker: str) -> str | None:
        """Everything up to `marker`, unscanned, with the marker passed; None (and nothing read) where it is not."""
        end = self.text.find(marker, self.pos) if marker not in self.absent else -1
        if end < 0:
            self.absent.add(marker)  # searched once to the end, never again
            return None
        text_before, self.pos = self.text[self.pos : end], end + len(marker)
        return text_before

    def address(self) -> str | None:
        """A braced argument read without scanning (`%`, `#` and `_` are themselves), or None."""
        match = _URL.match(self.text, self.pos)
        if not match:
            return None
        self.pos = match.end()
        return match[1]

    def delimited(self) -> str | None:
        r"""The argument of `\verb`: everything between two equal signs on one line, or None."""
        mark = self.text[self.pos : self.pos + 1]
        end = self.text.find(mark, self.pos + 1, self.pos + 2000) if mark else -1
        delimited_text = self.text[self.pos + 1 : end] if end > 0 else None
        if delimited_text is None or "\n" in delimited_text:
            return None
        self.pos = end + 1
        return delimited_text


class TokenReplay:
    """Tokens being read again: a macro's body, an argument."""

    name = ""

    def __init__(self, tokens: list[Token] | tuple[Token, ...]) -> None:
        self.tokens = tokens
        self.pos = 0

    def next(self) -> Token | None:
        """The next token, or None at the end."""
        if self.pos >= len(self.tokens):
            return None
        self.pos += 1
        return self.tokens[self.pos - 1]

    def back(self) -> None:
        """Unread the last token."""
        self.pos -= 1


def letters_end(tok: Token) -> bool:
    """Whether a letter written right after this command would become part of its name."""
    return len(tok) > 1 and tok[0] == "\\" and tok[-1].isalpha()


def written(tokens: list[Token] | tuple[Token, ...]) -> str:
    """Tokens as TeX source again."""
    out: list[str] = []
    for tok in tokens:
        if out and letters_end(out[-1]) and tok[:1].isalnum():
            out.append(" ")
        out.append(tok)
    return "".join(out)
