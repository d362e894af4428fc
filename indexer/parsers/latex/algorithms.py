"""Algorithms: each step on its own line, with the word its command prints."""

from __future__ import annotations

from indexer.parsers.latex.machine import Group, Machine
from indexer.parsers.latex.scanner import Token


def algorithmic(m: Machine, name: str) -> None:
    """Steps of an algorithm, each on its own line."""
    m.reader.optional()
    out, style = m.out, m.out.style
    if out.flowing:
        out.cut()
        out.style = ("algorithm", *style[1:])

    def close() -> None:
        if out.flowing:
            out.cut()
            out.style = style

    m.open(Group("env", name, close))


_STEPS = {
    "STATE": "",
    "IF": "if ",
    "ELSIF": "else if ",
    "ELSE": "else",
    "ENDIF": "end if",
    "FOR": "for ",
    "FORALL": "for all ",
    "ENDFOR": "end for",
    "WHILE": "while ",
    "ENDWHILE": "end while",
    "REPEAT": "repeat",
    "UNTIL": "until ",
    "LOOP": "loop",
    "ENDLOOP": "end loop",
    "RETURN": "return ",
    "REQUIRE": "Require: ",
    "ENSURE": "Ensure: ",
    "INPUT": "Input: ",
    "OUTPUT": "Output: ",
    "PRINT": "print ",
    "FUNCTION": "function ",
    "ENDFUNCTION": "end function",
    "PROCEDURE": "procedure ",
    "ENDPROCEDURE": "end procedure",
    "KWIN": "Input: ",
    "KWOUT": "Output: ",
    "KWDATA": "Data: ",
    "KWRESULT": "Result: ",
    "KWRET": "return ",
    "FOREACH": "for each ",
    "EIF": "if ",
    "UIF": "if ",
    "COMMENT": "▷ ",
    "TCP": "// ",
    "TCC": "// ",
    ";": "",
}


def algorithm_step(m: Machine, tok: Token) -> None:
    """A step of an algorithm begins a line with its keyword."""
    word = _STEPS.get(tok[1:].upper().replace("LINEX", ""), "")
    if tok[1:].upper() in ("COMMENT", "TCP", "TCC"):
        m.reader.flag("*")
        m.out.write(" " + word)
        return
    m.out.newline()
    m.out.write(word)


def is_step(tok: Token, m: Machine) -> bool:
    """Whether a command is a step of the algorithm that is being read."""
    return tok[1:].upper() in _STEPS and m.within("algorithm", "algorithm*", "algorithmic", "algorithm2e", "algo", "algorithmic*")
