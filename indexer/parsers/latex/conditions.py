r"""Which branch of a condition is read.

Switches made by `\newif`, `\newtoggle` and `\newboolean` are followed; `\ifdefined` and `\ifx` are decided by
what is defined; of anything that TeX would have to run for, the first branch is read and the run says so.
"""

from __future__ import annotations

from indexer.parsers.latex.macros import Macro
from indexer.parsers.latex.reader import TokenReader
from indexer.parsers.latex.scanner import Token
from indexer.parsers.latex.symbols import words

FALSE = frozenset({r"\iffalse", r"\ifluatex", r"\ifxetex", r"\ifLuaTeX", r"\ifXeTeX", r"\ifvoid", r"\ifeof", r"\ifdraft"})
TRUE = frozenset({r"\iftrue", r"\ifpdf", r"\ifPDFTeX", r"\ifpdftex"})
_RUNS = frozenset(words(r"\if \ifcat \ifnum \ifdim \ifodd \ifvmode \ifhmode \ifmmode \ifinner \ifhbox \ifvbox \ifcase \ifcsname"))
_MADE = r"\ifx", r"\ifdefined"


class Switches:
    """The conditions a document knows: name (with its `\\if`) to state, and toggles by name."""

    def __init__(self) -> None:
        self.ifs: dict[Token, bool] = {}
        self.toggles: dict[str, bool] = {}
        self.open = 0

    def known(self, tok: Token) -> bool:
        r"""Whether this token opens a condition that a `\fi` closes."""
        return tok in FALSE or tok in TRUE or tok in _RUNS or tok in _MADE or tok in self.ifs

    def declare(self, tok: Token) -> None:
        r"""`\newif\ifname`."""
        if tok.startswith(r"\if"):
            self.ifs.setdefault(tok, False)

    def assign(self, tok: Token) -> bool:
        r"""`\nametrue` or `\namefalse`; False where it is none of a known switch."""
        for ending, state in (("true", True), ("false", False)):
            name = r"\if" + tok[1 : -len(ending)]
            if tok.endswith(ending) and name in self.ifs:
                self.ifs[name] = state
                return True
        return False


def decide(tok: Token, reader: TokenReader, switches: Switches, macros: dict[Token, Macro]) -> bool | None:
    """Whether the first branch is read; None where it cannot be told without running TeX."""
    if tok in switches.ifs:
        return switches.ifs[tok]
    if tok in FALSE or tok in TRUE:
        return tok in TRUE
    if tok == r"\ifdefined":
        return reader.skip_spaces() in macros
    if tok == r"\ifx":
        return _same(reader.skip_spaces(), reader.skip_spaces(), reader, macros)
    if tok == r"\if":
        return _sign(reader, macros)
    if tok == r"\ifnum":
        return _number(reader, macros)
    return None


def _same(one: Token | None, other: Token | None, reader: TokenReader, macros: dict[Token, Macro]) -> bool | None:
    if one == r"\csname" or other is None or one is None:
        _past_csname(reader)
        return reader.skip_spaces() == r"\relax"
    if r"\undefined" in (one, other) or r"\relax" in (one, other):
        return not any(name in macros for name in (one, other))
    left, right = macros.get(one), macros.get(other)
    if left is None and right is None:
        return one == other if one[0] == "\\" and other[0] == "\\" else None
    return left is not None and right is not None and left.body == right.body


MAX_NAME = 20


def _past_csname(reader: TokenReader) -> None:
    """Read past the name; one that never ends is read again."""
    passed: list[Token] = []
    while len(passed) < MAX_NAME and (part := reader.next()) is not None:
        if part == r"\endcsname":
            return
        passed.append(part)
    reader.push(passed)


def _sign(reader: TokenReader, macros: dict[Token, Macro]) -> bool | None:
    r"""`\if0\blind`: two characters, of which one may be a macro's."""
    signs = ""
    while len(signs) < len("ab"):
        tok = reader.skip_spaces()
        body = macros[tok].body if tok in macros else (tok or "",)
        text = "".join(body).strip()
        if not text or text[0] in "\\{}$":
            return None
        signs += text[0]
        if tok not in macros and len(text) > 1:
            reader.push([text[1:]])
    return signs[0] == signs[1]


def _number(reader: TokenReader, macros: dict[Token, Macro]) -> bool | None:
    first = reader.skip_spaces()
    text = "".join(macros[first].body).strip() if first in macros else first or ""
    next_token = reader.next() or ""
    both = (text + next_token).split("=", 1)
    if len(both) == 2 and both[0].strip().isdigit() and both[1].strip()[:1].isdigit():
        digits = both[1].strip()
        return both[0].strip() == digits[: len(digits) - len(digits.lstrip("0123456789"))]
    return None


def skip_branch(reader: TokenReader, switches: Switches, *, to_else: bool) -> Token | None:
    r"""Pass over a branch: to its `\else` (if wanted) or `\fi`, which is returned; None where the input ends first."""
    depth = 0
    while (tok := reader.next()) is not None:
        if tok[0] != "\\":
            continue
        if tok == r"\fi":
            if depth == 0:
                return tok
            depth -= 1
        elif depth == 0 and to_else and tok in (r"\else", r"\or"):
            return tok
        elif switches.known(tok):
            depth += 1
    return None
