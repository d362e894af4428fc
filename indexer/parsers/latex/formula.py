r"""Mathematics: kept as compact TeX between dollars, with the author's macros expanded.

A formula ends where TeX would end it, and also at a blank line, a heading or an item, so that one lost dollar costs
a line and not the paper.
"""

from __future__ import annotations

import re

from indexer.parsers.latex.machine import Machine, Mode
from indexer.parsers.latex.numbering import LabelTarget
from indexer.parsers.latex.reader import PAR, Token, written
from indexer.parsers.latex.stream import LatexCitation
from indexer.parsers.latex.symbols import MATH_SIGNS, words

NUMBERED = frozenset({"equation", "align", "gather", "multline", "eqnarray", "flalign", "alignat", "dmath", "IEEEeqnarray", "xalignat"})
UNNUMBERED = frozenset({"displaymath", "math"})
ROWS = NUMBERED - {"equation", "multline", "dmath"}
MAX_TOKENS = 30_000

_SPACES = frozenset([*words(r"\, \; \: \! \> \quad \qquad \enspace \thinspace \/"), "\\ "])
_DROPPED = frozenset(
    words(
        r"\left \right \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \displaystyle \textstyle \scriptstyle \limits \nolimits"
        r" \text \textrm \textnormal \mathrm \textsc \textit \textbf \textsf \texttt \mathit \mathsf \mathtt \operatorname \mbox \hbox"
        r" \xspace \protect \relax \ensuremath \allowbreak \nobreak \null \hfill \noindent \centering \small \footnotesize \normalsize \scriptsize"
        r" \mathop \mathrel \mathbin \mathord \bm \rm \it \bf \sf \tt"
    )
)
_WORDS = frozenset(words(r"\text \textrm \textnormal \textsc \textit \textbf \textsf \texttt \mbox \hbox \textcolor"))
_ARGUMENT = {
    r"\addtocounter": "mm",
    r"\includegraphics": "om",
    r"\adjincludegraphics": "om",
    r"\setlength": "mm",
    r"\vspace": "m",
    r"\hspace": "sm",
    r"\color": "om",
    r"\textcolor": "om",
    r"\phantom": "m",
    r"\vphantom": "m",
    r"\hphantom": "m",
    r"\raisebox": "moo",
}
_PLAIN_ENVIRONMENTS = frozenset(words("aligned split gathered alignedat subequations"))
_IN_FORMULAS = frozenset(words("array tabular minipage tikzpicture tikzcd center split aligned"))
_ENDS = frozenset(
    words(r"\section \subsection \subsubsection \paragraph \chapter \item \bibitem \maketitle \appendix \caption \footnote \bibliography")
)
_NUMBER = re.compile(r"[-+±~<>≈]?[\d.,:/%\s]*\d[\d.,:/%\s]*(?:\\%)?\Z")
_WHITE = re.compile(r"\s+")
ROW = "\x04"


class Formula(Mode):
    """A formula being read up to `closing` (`$`, `$$`, `\\)`, `\\]` or the name of an environment)."""

    def __init__(self, closing: str, *, display: bool, environment: str = "", number: str = "") -> None:
        self.closing = closing
        self.display = display
        self.environment = environment
        self.number = number
        self.tokens: list[Token] = []
        self.depth = 0
        self.words: list[int] = []
        self.inner: list[str] = []
        self.cites: list[tuple[str, ...]] = []
        self.counted = bool(number)

    def step(self, machine: Machine, tok: Token) -> None:
        """Take one token of the formula, or end it."""
        if tok in ("$", "$$"):
            self._dollar(machine, tok)
        elif tok == self.closing and not self.environment:
            self.finish(machine)
        elif tok == PAR or tok in _ENDS or len(self.tokens) > MAX_TOKENS:
            self._break(machine, tok)
        elif tok[0] == "\\":
            self._command(machine, tok)
        elif tok in "{}":
            self._brace(machine, tok)
        elif tok == "&":
            self.tokens.append(" & " if self.inner else " ")
        else:
            self.tokens.append(tok)

    def _dollar(self, machine: Machine, tok: Token) -> None:
        if tok == self.closing:
            if not self.words:
                self.finish(machine)
        elif self.closing == "$" and tok == "$$":
            self.finish(machine)
            machine.mode = Formula("$", display=False)
        elif self.closing == "$$":
            self.finish(machine)

    def _break(self, machine: Machine, tok: Token) -> None:
        if self.environment and tok == PAR:
            return
        if self.environment and tok in (r"\footnote", r"\caption", r"\item"):
            return
        self.finish(machine)
        machine.step(tok)

    def _brace(self, machine: Machine, tok: Token) -> None:
        if tok == "}" and self.depth == 0:
            if not self.environment:
                self.finish(machine)
                machine.step(tok)
            return
        if tok == "{" and self.tokens and self.tokens[-1] == ROW + "w":
            self.tokens.pop()
            self.words.append(self.depth)
        self.depth += 1 if tok == "{" else -1
        if tok == "}" and self.words and self.words[-1] == self.depth:
            self.words.pop()
        self.tokens.append(tok)

    def _command(self, machine: Machine, tok: Token) -> None:
        if tok in _ARGUMENT:
            machine.reader.take(_ARGUMENT[tok])
        elif tok in _SPACES:
            self.tokens.append(" " if tok != r"\!" else "")
        elif tok == r"\\":
            self._row(machine)
        elif tok in (r"\begin", r"\end"):
            self._environment(machine, tok, machine.reader.word())
        elif tok in (r"\nonumber", r"\notag"):
            self._uncount(machine)
        elif tok == r"\tag":
            machine.reader.flag("*")
            printed = machine.reader.word()
            self.number = "" if "\\" in printed else printed
        elif tok == r"\label":
            machine.counters.label(machine.reader.word(), LabelTarget("Equation", self.number) if self.number else machine.target)
        elif "cite" in tok:
            self._cite(machine)
        elif tok in machine.tables.protected and tok in machine.tables.commands:
            self._reference(machine, tok)
        elif tok in (r"\left", r"\right"):
            self._delimiter(machine)
        elif tok not in _DROPPED:
            self.tokens.append(tok)
        if tok in _WORDS:
            self.tokens.append(ROW + "w")

    def _delimiter(self, machine: Machine) -> None:
        r"""`\left.` and `\right.` print nothing."""
        following = machine.reader.next()
        if following is not None and following.startswith("."):
            machine.reader.push([following[1:] or " "])
        elif following is not None:
            machine.reader.back()

    def _cite(self, machine: Machine) -> None:
        machine.reader.take("soo")
        keys = tuple(key.strip() for key in machine.reader.word().split(",") if key.strip())
        if keys:
            self.cites.append(keys)
            self.tokens.append(f"[{'; '.join(keys)}]")

    def _reference(self, machine: Machine, tok: Token) -> None:
        """A reference inside a formula is written by its own command, into a stream of its own."""
        mode, out, machine.mode = machine.mode, machine.out, None
        machine.out = type(out)()
        machine.command(tok)
        self.tokens.append(machine.out.text())
        machine.mode, machine.out = mode, out

    def _row(self, machine: Machine) -> None:
        machine.reader.flag("*")
        machine.reader.optional()
        if self.inner or not self.display:
            self.tokens.append(r" \\ " if self.inner else " ")
            return
        self.tokens.append(ROW)
        if self.number and self.environment in ROWS and self.counted:
            self.number = machine.counters.step("equation")

    def _uncount(self, machine: Machine) -> None:
        if self.counted and self.number and self.environment:
            values = machine.counters.values
            values["equation"] = max(0, values.get("equation", 0) - 1)
            self.number = "" if self.environment not in ROWS else self.number

    def _environment(self, machine: Machine, tok: Token, name: str) -> None:
        if (tok == r"\end" and name == self.environment) or (tok == r"\end" and machine.within(name) and name not in self.inner):
            self.finish(machine)
            machine.end(name)
        elif name == "document" or (not self.environment and name in machine.tables.environments and name not in _IN_FORMULAS):
            self.finish(machine)
            machine.reader.push([tok, "{", name, "}"])
        elif name in _PLAIN_ENVIRONMENTS:
            return
        else:
            self.inner.append(name) if tok == r"\begin" else self.inner and self.inner.pop()
            self.tokens.append(f"{tok}{{{name}}}")

    def finish(self, machine: Machine) -> None:
        """Write the formula where it belongs."""
        machine.mode = None
        text = compact(self.tokens)
        if not text.strip():
            return
        if self.display and machine.out.flowing:
            self._display(machine, text)
        else:
            self._inline(machine, text.replace("\n", " "))

    def _inline(self, machine: Machine, text: str) -> None:
        start = machine.out.here()
        sign = MATH_SIGNS.get(text[1:]) if text[0] == "\\" else None
        machine.out.put(sign or (text.replace(r"\%", "%") if _NUMBER.match(text) else f"${text}$"))
        self._record(machine, start)

    def _display(self, machine: Machine, text: str) -> None:
        out, style = machine.out, machine.out.style
        out.cut()
        out.style = ("equation", style[1], f"Equation {self.number}" if self.number else style[2])
        start = out.here()
        out.put(f"$${text}$$" + (f" ({self.number})" if self.number else ""))
        self._record(machine, start)
        out.cut()
        out.style = style

    def _record(self, machine: Machine, start: int) -> None:
        for keys in self.cites:
            machine.out.cites.append(LatexCitation(keys, start, machine.out.length, machine.path))


def compact(tokens: list[Token]) -> str:
    """Tokens of a formula as one line of TeX per row, without needless space."""
    text = written([tok for tok in tokens if tok and tok != ROW + "w"])
    text = _WHITE.sub(" ", text).replace("{ ", "{").replace(" }", "}").replace(" _", "_").replace(" ^", "^")
    rows = (row.strip() for row in text.split(ROW))
    return "\n".join(row for row in rows if row)
