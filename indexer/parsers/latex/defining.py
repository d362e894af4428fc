"""Definitions of commands, environments, theorems and switches."""

from __future__ import annotations

import re

from indexer.parsers.latex.machine import Machine
from indexer.parsers.latex.macros import read_definition, read_environment, read_let
from indexer.parsers.latex.numbering import LEVELS, Form
from indexer.parsers.latex.plain import plain
from indexer.parsers.latex.scanner import Token, written
from lineage.records import Status

MAX_DIGITS = 5
FLOAT_COUNTERS = {"figure": "Figure", "table": "Table", "algorithm": "Algorithm"}
_NUMBER = re.compile(r"(\\thesection)?([A-Za-z]{0,3}[.-]?)(?:\\arabic\{(\w{1,20})\}|\\@arabic\\c@(\w{1,20}))\Z")


def define(m: Machine, tok: Token) -> None:
    """A definition of a command."""
    definition = read_definition(m.reader, tok)
    if definition and definition[0] == r"\thesection" and r"\Alph" in definition[1].body:
        m.counters.appendix = True
    if definition and not (tok == r"\providecommand" and definition[0] in m.macros):
        if (counter := definition[0].removeprefix(r"\the")) in FLOAT_COUNTERS:
            m.counters.forms[FLOAT_COUNTERS[counter]] = _form(counter, written(list(definition[1].body)))
        m.define(*definition)


def _form(counter: str, body: str) -> Form:
    match = _NUMBER.match(re.sub(r"\s+", "", body))
    if match and counter in match.groups()[2:]:
        return Form(match[2], bool(match[1]))
    return Form(known=False)


def let(m: Machine, tok: Token) -> None:
    r"""`\let\name=\other`."""
    definition = read_let(m.reader)
    if definition:
        m.alias(*definition)


def new_environment(m: Machine, tok: Token) -> None:
    """A definition of an environment."""
    name, environment = read_environment(m.reader)
    if name not in m.tables.environments:
        m.environments[name] = environment


def newtheorem(m: Machine, tok: Token) -> None:
    r"""`\newtheorem{name}[counter]{Printed}[within]`."""
    m.reader.flag("*")
    name = m.reader.word()
    shared = "".join(m.reader.optional() or [])
    printed = plain(written(m.reader.argument()))
    within = "".join(m.reader.optional() or [])
    m.theorems[name] = (printed, shared or name)
    if within in LEVELS:
        m.counters.within[name] = within


def numberwithin(m: Machine, tok: Token) -> None:
    r"""`\numberwithin{equation}{section}`; with a star (`\counterwithin*`) only counted anew, printed as before."""
    only_counted = m.reader.flag("*")
    inner, outer = m.reader.word(), m.reader.word()
    inner = FLOAT_COUNTERS.get(inner, inner)
    if outer in LEVELS:
        m.counters.within[inner] = outer
        m.counters.forms.pop(inner, None)
        if only_counted:
            m.counters.forms[inner] = Form()


def choice(m: Machine, tok: Token) -> None:
    r"""`\ifthenelse{\boolean{x}}{..}{..}`, `\iftoggle{x}{..}{..}`, `\ifdef` and their kin."""
    test = m.reader.argument()
    name = "".join(each for each in test if each[0] not in "\\{}").strip()
    positive, negative = m.reader.argument(), m.reader.argument()
    state = m.switches.toggles.get(name)
    if state is None and tok == r"\ifdef":
        state = bool(test) and test[0] in m.macros
    if state is None:
        m.note(f"{tok} conditions", Status.PARTIAL, f"{tok} cannot be decided without running TeX: the first branch was read")
    m.reader.push(negative if state is False else positive)


def toggle(m: Machine, tok: Token) -> None:
    r"""`\newtoggle{x}`, `\toggletrue{x}`, `\setboolean{x}{true}`."""
    name = m.reader.word()
    if tok in (r"\settoggle", r"\setboolean"):
        m.switches.toggles[name] = m.reader.word() == "true"
    else:
        m.switches.toggles[name] = tok == r"\toggletrue"


def newif(m: Machine, tok: Token) -> None:
    r"""`\newif\ifname`."""
    m.switches.declare(m.reader.skip_spaces() or "")


def setcounter(m: Machine, tok: Token) -> None:
    r"""`\setcounter{section}{0}`."""
    name, value = m.reader.word(), m.reader.word()
    if value.isdigit() and len(value) < MAX_DIGITS:
        m.counters.values[FLOAT_COUNTERS.get(name, name)] = int(value)
