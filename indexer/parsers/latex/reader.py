"""The stack of inputs that tokens come from, the arguments of commands, and the budget that ends every bomb.

Whatever reads an argument pays for it token by token. When the budget is spent, arguments are no longer
collected and macros no longer expanded: commands are then dropped and their text stays, so a hostile file
costs bounded time and still gives what it says in plain words.
"""

from __future__ import annotations

from indexer.parsers.latex.scanner import PAR, TexSource, Token, TokenReplay

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
