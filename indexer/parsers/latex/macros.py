r"""The author's own commands, expanded within the reader's budget, and which branch of a condition is read.

What is understood: `\newcommand` and its kin with optional first argument, `\def` with plain or delimited-by-nothing
parameters, `\let`, `\DeclareMathOperator`, `\NewDocumentCommand` with `m o O s`, `\newenvironment`. A definition with
delimiters is kept as opaque: its command is dropped and its text stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from indexer.parsers.latex.reader import Token, TokenReader, TokenReplay
from indexer.parsers.latex.symbols import words

NEW = frozenset({r"\newcommand", r"\renewcommand", r"\providecommand", r"\DeclareRobustCommand", r"\newrobustcmd", r"\renewrobustcmd", r"\robustify"})
DEF = frozenset({r"\def", r"\edef", r"\gdef", r"\xdef"})
OPERATOR = frozenset({r"\DeclareMathOperator"})
DOCUMENT = frozenset({r"\NewDocumentCommand", r"\RenewDocumentCommand", r"\ProvideDocumentCommand", r"\DeclareDocumentCommand"})
DEFINING = NEW | DEF | OPERATOR | DOCUMENT


@dataclass(frozen=True)
class Macro:
    """A definition. `signature` has one letter per argument (`m`, `o`, `s`), `defaults` what an absent `o` stands for."""

    body: tuple[Token, ...]
    signature: str = ""
    defaults: tuple[tuple[Token, ...], ...] = ()
    opaque: bool = False


@dataclass(frozen=True)
class Environment:
    """An environment of the author's: what stands for its beginning and its end."""

    begin: Macro
    end: tuple[Token, ...]


def read_definition(reader: TokenReader, tok: Token) -> tuple[Token, Macro] | None:
    """The rest of a definition that `token` (one of `DEFINING`) began: name and macro, or None for something unreadable."""
    if tok in NEW:
        return read_new(reader)
    if tok in DEF:
        return read_def(reader)
    return read_operator(reader) if tok in OPERATOR else read_document(reader)


def read_new(reader: TokenReader) -> tuple[Token, Macro] | None:
    r"""The rest of a `\newcommand`: its name and definition, or None for something unreadable."""
    reader.flag("*")
    name = _name(reader)
    count, default = _arity(reader)
    body = tuple(reader.body())
    return (name, _macro(body, count, default)) if name else None


def _name(reader: TokenReader) -> Token | None:
    name_tokens = [tok for tok in reader.argument() if not tok.isspace()]
    if name_tokens == [r"\csname"]:
        return read_csname(reader) or None
    return name_tokens[0] if len(name_tokens) == 1 and name_tokens[0][0] in "\\~" and name_tokens[0] != "\\" else None


def _arity(reader: TokenReader) -> tuple[int, list[Token] | None]:
    digits = "".join(reader.optional() or []).strip()
    count = int(digits) if digits.isdigit() and len(digits) == 1 else 0
    return count, reader.optional() if count else None


def _macro(body: tuple[Token, ...], count: int, default: list[Token] | None) -> Macro:
    if default is None:
        return Macro(body, "m" * count)
    return Macro(body, "o" + "m" * (count - 1), (tuple(default),))


def read_def(reader: TokenReader) -> tuple[Token, Macro] | None:
    r"""The rest of a `\def`: its name and definition, or None."""
    name = reader.skip_spaces()
    while name == r"\expandafter":
        name = reader.skip_spaces()
    if name == r"\csname":
        name = read_csname(reader)
    parameters: list[Token] = []
    while (tok := reader.next()) is not None and tok != "{" and len(parameters) < 40:
        if tok != r"\expandafter":
            parameters.append(tok)
    if tok != "{" or not name:
        return None
    reader.back()
    body = tuple(reader.argument())
    if name[0] not in "\\~":
        return None
    plain = all(tok == f"#{number}" for number, tok in enumerate(parameters, 1))
    return name, Macro(body, "m" * len(parameters), opaque=not plain)


def read_let(reader: TokenReader) -> tuple[Token, Token] | None:
    r"""The two sides of a `\let`, or None."""
    name, equals = reader.skip_spaces(), reader.skip_spaces()
    if equals is not None and equals.startswith("="):
        if len(equals.strip()) > 1:
            return None
        equals = reader.skip_spaces()
    if name is None or equals is None or name[0] != "\\" or equals[0] != "\\":
        return None
    return name, equals


def read_operator(reader: TokenReader) -> tuple[Token, Macro] | None:
    r"""The rest of a `\DeclareMathOperator`."""
    reader.flag("*")
    name, body = _name(reader), tuple(reader.argument())
    return (name, Macro((r"\operatorname", "{", *body, "}"))) if name else None


def read_document(reader: TokenReader) -> tuple[Token, Macro] | None:
    r"""The rest of a `\NewDocumentCommand` whose arguments are of the kinds `m`, `o`, `O` and `s`."""
    name = _name(reader)
    spec = [tok.strip() for tok in reader.argument()]
    body = tuple(reader.body())
    return (name, _from_spec(spec, body)) if name else None


def _from_spec(spec: list[Token], body: tuple[Token, ...]) -> Macro:
    signature, depth = "", 0
    defaults: list[tuple[Token, ...]] = []
    for tok in spec:
        depth += (tok == "{") - (tok == "}")
        if depth and tok != "{" and defaults:
            defaults[-1] += (tok,)
        elif depth == 0:
            for letter in tok.replace(" ", "").replace("}", ""):
                signature += letter.lower()
                defaults += [()] if letter in "oO" else []
    if set(signature) - set("mos"):
        return Macro(body, opaque=True)
    return Macro(body, signature, tuple(defaults))


def read_environment(reader: TokenReader) -> tuple[str, Environment]:
    r"""The rest of a `\newenvironment`."""
    reader.flag("*")
    name = reader.word()
    count, default = _arity(reader)
    begin = tuple(reader.body())
    return name, Environment(_macro(begin, count, default), tuple(reader.body()))


def without_itself(name: Token, macro: Macro, old: Macro | None) -> Macro:
    r"""The macro with its own name in its body replaced by what that meant before (`\def\x\expandafter{\x more}`)."""
    if name not in macro.body:
        return macro
    before = old.body if old and not old.signature else ()
    body = [part for tok in macro.body for part in (before if tok == name else (tok,))]
    return Macro(tuple(body), macro.signature, macro.defaults, macro.opaque)


def expand(reader: TokenReader, macro: Macro) -> bool:
    """Read the macro's arguments and put its text before what comes next; False when the budget forbids it."""
    if reader.spent:
        return False
    if not macro.signature:
        return reader.push(macro.body)
    defaults = iter(macro.defaults)
    arguments = [_argument(reader, kind, defaults) for kind in macro.signature]
    return reader.push(_filled(macro.body, arguments, reader.left))


def _argument(reader: TokenReader, kind: str, defaults: Iterator[tuple[Token, ...]]) -> tuple[Token, ...]:
    if kind == "s":
        return ("*",) if reader.flag("*") else ()
    if kind == "o":
        default = next(defaults, ())
        given = reader.optional()
        return default if given is None else tuple(given)
    return tuple(reader.argument())


def _filled(body: tuple[Token, ...], arguments: list[tuple[Token, ...]], room: int) -> list[Token]:
    out: list[Token] = []
    for tok in body:
        if tok[0] == "#" and len(tok) == 2 and tok[1].isdigit():
            number = int(tok[1])
            out += arguments[number - 1] if number <= len(arguments) else ()
        else:
            out.append(tok[1:] if tok.startswith("##") else tok)
        if len(out) > room:
            break
    return out


FALSE = frozenset({r"\iffalse", r"\ifluatex", r"\ifxetex", r"\ifLuaTeX", r"\ifXeTeX", r"\ifvoid", r"\ifeof", r"\ifdraft"})
TRUE = frozenset({r"\iftrue", r"\ifpdf", r"\ifPDFTeX", r"\ifpdftex"})
_RUNS = frozenset(words(r"\if \ifcat \ifnum \ifdim \ifodd \ifvmode \ifhmode \ifmmode \ifinner \ifhbox \ifvbox \ifcase \ifcsname"))
_MADE = r"\ifx", r"\ifdefined"


class Switches:
    """The conditions a document knows: name (with its `\\if`) to state."""

    def __init__(self) -> None:
        self.ifs: dict[Token, bool] = {}
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
    return None


def _same(first: Token | None, other: Token | None, reader: TokenReader, macros: dict[Token, Macro]) -> bool | None:
    if first == r"\csname" or other is None or first is None:
        read_csname(reader)
        return reader.skip_spaces() == r"\relax"
    if r"\undefined" in (first, other) or r"\relax" in (first, other):
        return not any(name in macros for name in (first, other))
    left, right = macros.get(first), macros.get(other)
    if left is None and right is None:
        return first == other if first[0] == "\\" and other[0] == "\\" else None
    return left is not None and right is not None and left.body == right.body


MAX_NAME = 20


def read_csname(reader: TokenReader) -> Token:
    r"""The command whose name stands before `\endcsname`; one that never ends is read again, and gives an empty one."""
    passed: list[Token] = []
    while len(passed) < MAX_NAME and (part := reader.next()) is not None:
        if part == r"\endcsname":
            return "\\" + "".join(passed).strip()
        passed.append(part)
    if not reader.push(passed):
        reader.inputs.append(TokenReplay(passed))
    return ""


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
