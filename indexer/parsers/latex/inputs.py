"""Files read into files, packages beside the paper, the names of its bibliographies."""

from __future__ import annotations

from indexer.parsers.latex.machine import Machine
from indexer.parsers.latex.macros import DEFINING, read_definition
from indexer.parsers.latex.plain_commands import glue
from indexer.parsers.latex.reader import TokenReader
from indexer.parsers.latex.scanner import PAR, TexSource, Token
from lineage.records import Status

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
