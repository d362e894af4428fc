"""Definitions of commands, environments, theorems and switches; packages and files that the source reads in."""

from __future__ import annotations

import re

from indexer.parsers.latex.machine import Machine
from indexer.parsers.latex.macros import DEFINING, read_csname, read_definition, read_environment, read_let
from indexer.parsers.latex.numbering import LEVELS, Form
from indexer.parsers.latex.plain_commands import glue
from indexer.parsers.latex.reader import PAR, TexSource, Token, TokenReader, written
from indexer.parsers.latex.symbols import plain
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


def by_name(m: Machine, tok: Token) -> None:
    r"""`\csname name\endcsname`: the command of that name."""
    name = read_csname(m.reader)
    if name in m.macros or name in m.aliases or name in m.tables.commands:
        m.reader.push([name])


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
    r"""`\ifthenelse{\boolean{x}}{..}{..}`, `\iftoggle{x}{..}{..}`, `\ifdef` and their kin: the first branch is read."""
    m.reader.argument()
    positive, _ = m.reader.argument(), m.reader.argument()
    m.note(f"{tok} conditions", Status.PARTIAL, f"{tok} cannot be decided without running TeX: the first branch was read")
    m.reader.push(positive)


def newif(m: Machine, tok: Token) -> None:
    r"""`\newif\ifname`."""
    m.switches.declare(m.reader.skip_spaces() or "")


def setcounter(m: Machine, tok: Token) -> None:
    r"""`\setcounter{section}{0}`."""
    name, value = m.reader.word(), m.reader.word()
    if value.isdigit() and len(value) < MAX_DIGITS:
        m.counters.values[FLOAT_COUNTERS.get(name, name)] = int(value)


MAX_OPENED = 2_000
MAX_REPEATS = 4
MAX_FILES_DEEP = 50
MAX_CHARACTERS = 20 * 1024 * 1024


def include(m: Machine, tok: Token) -> None:
    r"""`\input`, `\include` and their kin: a member of the table, or a note that it is missing."""
    folder = m.reader.word() if tok in (r"\import", r"\subimport", r"\includefrom", r"\subincludefrom") else ""
    written_name = _file_name(m)
    if folder:
        written_name = folder.rstrip("/") + "/" + written_name
    if not written_name or "#" in written_name:
        return
    if written_name.endswith(".bbl"):
        m.found.bbls.append(written_name)
        return
    near = files[-1].name if (files := m.reader.files()) else ""
    name = m.files.find(written_name, near=near)
    if name is None:
        m.note(written_name, Status.NOT_FOUND, f"named by {tok} but not in the source")
    elif _may_open(m, name):
        m.out.space()
        open_file(m, name)


def _file_name(m: Machine) -> str:
    tok = m.reader.skip_spaces()
    if tok is None or tok == PAR:
        return ""
    if tok[0] not in "\\{}":  # plain TeX: \input name
        name, _, after_name = tok.partition(" ") if "\n" not in tok else tok.partition("\n")
        m.reader.push([" " + after_name])
        return name.strip()
    m.reader.back()
    return m.reader.word()


def _may_open(m: Machine, name: str) -> bool:
    open_now = m.reader.files()
    if any(source.name == name for source in open_now):
        m.note(name, Status.PARTIAL, "a file that reads itself: the cycle was cut")
        return False
    if len(open_now) > MAX_FILES_DEEP or m.opened[name] >= MAX_REPEATS or m.opened.total() >= MAX_OPENED or m.read_characters > MAX_CHARACTERS:
        m.note(name, Status.PARTIAL, f"read {m.opened[name]} times; further \\input of it were left out")
        return False
    return True


def open_file(m: Machine, name: str) -> None:
    """Read a member next."""
    source = m.files.open(name)
    m.opened[name] += 1
    m.read_characters += len(source.text)
    m.reader.open(source)


def usepackage(m: Machine, tok: Token) -> None:
    """Packages that lie beside the paper may define its commands; nothing else of them is done."""
    m.reader.optional()
    for name in m.reader.word().split(","):
        style_file = m.files.find(name, ending=".sty")
        if style_file and style_file.endswith(".sty") and not m.opened[style_file]:
            m.opened[style_file] += 1
            _read_style(m, m.files.open(style_file))


def _read_style(m: Machine, source: TexSource) -> None:
    """Definitions that an author's style file makes; those that reach into LaTeX's own workings are left alone."""
    reader = TokenReader()
    reader.open(source)
    while (tok := reader.next()) is not None:
        definition = read_definition(reader, tok) if tok in DEFINING else None
        if (
            definition
            and "@" not in definition[0]
            and not any("@" in part or part.startswith((r"\if", r"\fi", r"\else")) for part in definition[1].body)
        ):
            m.define(*definition)


def end_input(m: Machine, tok: Token) -> None:
    r"""`\endinput`: the rest of this file is not read."""
    for source in m.reader.files()[-1:]:
        source.pos = len(source.text)


def bibliography(m: Machine, tok: Token) -> None:
    """The .bib files of the paper."""
    m.reader.optional()
    m.found.bibliographies += [name.strip() for name in m.reader.word().split(",") if name.strip()]


def at_letter(m: Machine, tok: Token) -> None:
    r"""`\makeatletter` and `\makeatother`."""
    for source in m.reader.files()[-1:]:
        source.at_letter(tok == r"\makeatletter")


def catcode(m: Machine, tok: Token) -> None:
    r"""`\catcode` assignments are passed over: this reader keeps TeX's usual categories."""
    m.note("\\catcode", Status.PARTIAL, "changes of category codes are not followed")
    sign = m.reader.skip_spaces()
    if sign is not None and sign.strip() == "`":
        m.reader.next()
    glue(m, tok)
