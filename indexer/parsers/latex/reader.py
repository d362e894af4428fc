"""TeX source to tokens: the scanner, the stack of inputs, the arguments of commands, and the budget that ends every bomb.

Whatever reads an argument pays for it token by token. When the budget is spent, arguments are no longer
collected and macros no longer expanded: commands are then dropped and their text stays, so a hostile file
costs bounded time and still gives what it says in plain words.
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


BUDGET = 200_000
"""Tokens that may be collected as arguments or written by macros before any file is opened."""

PER_CHARACTER = 2
"""Further tokens of that kind per character of every file opened."""

MAX_ARGUMENT = 40_000
"""Tokens of one argument; a longer one is an argument whose brace was never closed."""

MAX_DEPTH = 2_000
"""Inputs on the stack (macros in macros, files in files)."""

_MAX_OPTIONAL = 2_000


class TokenReader:
    """Tokens out of a stack of inputs, the last pushed read first. `spent` tells that what followed was cut."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.inputs: list[TexSource | TokenReplay] = []
        self.left = budget

    @property
    def spent(self) -> bool:
        """Whether the budget is used up."""
        return self.left <= 0

    def next(self) -> Token | None:
        """The next token of the uppermost input that has one."""
        while self.inputs:
            tok = self.inputs[-1].next()
            if tok is not None:
                return tok
            self.inputs.pop()
        return None

    def back(self) -> None:
        """Unread the token that was just read."""
        self.inputs[-1].back()

    def push(self, tokens: list[Token] | tuple[Token, ...]) -> bool:
        """Read these tokens next; False (and nothing done) when budget or depth forbid it."""
        self.left -= 1 + len(tokens)
        while self.inputs and isinstance(top := self.inputs[-1], TokenReplay) and top.pos >= len(top.tokens):
            self.inputs.pop()
        if self.spent or len(self.inputs) > MAX_DEPTH:
            return False
        self.inputs.append(TokenReplay(tokens))
        return True

    def open(self, source: TexSource) -> None:
        """Read this file next; it brings its own share of the budget."""
        self.left += PER_CHARACTER * len(source.text)
        self.inputs.append(source)

    def source(self) -> TexSource | None:
        """The file being read right now, if nothing but white space lies above it."""
        while self.inputs and isinstance(top := self.inputs[-1], TokenReplay) and not "".join(top.tokens[top.pos : top.pos + 20]).strip():
            self.inputs.pop()
        last = self.inputs[-1] if self.inputs else None
        return last if isinstance(last, TexSource) else None

    def files(self) -> list[TexSource]:
        """Files open now, outermost first."""
        return [item for item in self.inputs if isinstance(item, TexSource)]

    def skip_spaces(self) -> Token | None:
        """The next token that is not white space, read; blank lines count as tokens."""
        tok = self.next()
        while tok is not None and tok != PAR and tok.isspace():
            tok = self.next()
        return tok

    def flag(self, sign: str) -> bool:
        """Whether `sign` (a star, an equals sign) comes next; it is then read."""
        tok = self.next()
        if tok is not None and tok.startswith(sign) and tok != PAR:
            self._rest(tok[len(sign) :])
            return True
        if tok is not None:
            self.back()
        return False

    def _rest(self, text: str) -> None:
        if text:
            self.inputs.append(TokenReplay([text]))

    def optional(self) -> list[Token] | None:
        """The tokens of an optional argument `[...]`, or None where there is none."""
        gap, tok = None, self.next()
        if tok is not None and tok != PAR and tok.isspace():
            gap, tok = tok, self.next()
        if tok == "[" and not self.spent:
            inside = self._collect("[", "]", _MAX_OPTIONAL, blank_ends=True)
            if inside is not None:
                return inside
            self.inputs.append(TokenReplay(["{", "}"]))  # the bracket stays text: nothing may take it for an option again
            return None
        if tok is not None:
            self.back()
        if gap:
            self.inputs.append(TokenReplay([gap]))
        return None

    def argument(self) -> list[Token]:
        """The tokens of a mandatory argument: a group without its braces, or the next single token."""
        tok = self.skip_spaces()
        if tok is None:
            return []
        if tok == "{":
            if self.spent:
                return []
            inside = self._collect("{", "}", MAX_ARGUMENT)
            return [] if inside is None else inside
        if tok in ("}", PAR):
            self.back()
            return []
        if tok[0] not in "\\$#&~^_[]" and len(tok.lstrip()) > 1:
            tok = tok.lstrip()
            self._rest(tok[1:])
            return [tok[0]]
        return [tok]

    def body(self) -> list[Token]:
        """Like `argument`, but a blank line is taken as TeX takes it: as the argument."""
        tok = self.skip_spaces()
        if tok == PAR:
            return [PAR]
        if tok is not None:
            self.back()
        return self.argument()

    def _collect(self, opening: str, closing: str, limit: int, *, blank_ends: bool = False) -> list[Token] | None:
        inside: list[Token] = []
        braces = brackets = 0
        while (tok := self.next()) is not None and len(inside) < limit:
            if tok == closing and braces == 0 and brackets == 0:
                self.left -= len(inside)
                return inside
            if (tok == "}" and braces == 0) or (blank_ends and tok == PAR):
                break
            braces += (tok == "{") - (tok == "}")
            if opening == "[":
                brackets += (tok == "[" and braces == 0) - (tok == "]" and braces == 0)
            inside.append(tok)
        self._give_back(inside, tok)
        return None

    def _give_back(self, inside: list[Token], last: Token | None) -> None:
        self.left -= 2 * len(inside)
        if last is not None:
            inside.append(last)
        self.inputs.append(TokenReplay(inside))

    def take(self, signature: str) -> None:
        """Read and forget arguments: `s` a star, `o` an optional one, `m` a mandatory one."""
        for kind in signature:
            if kind == "s":
                self.flag("*")
            elif kind == "o":
                self.optional()
            elif self._opens():
                self.argument()

    def _opens(self) -> bool:
        """Whether an argument that may be forgotten comes next: a group or a command, not running text."""
        tok = self.skip_spaces()
        if tok is None:
            return False
        self.back()
        return tok == "{" or tok[0] == "\\"

    def word(self) -> str:
        """A mandatory argument as a trimmed string (a file name, a key, a label)."""
        return "".join(self.argument()).strip()
