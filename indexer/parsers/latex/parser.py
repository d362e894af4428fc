"""A paper's LaTeX e-print, unpacked in memory, to one document: text, spans, bibliography and citations.

TeX is never run and no file outside the member table is ever opened. The source is read once, in time linear in its
size; whatever had to be cut short is named in `Document.lost` and makes the document PARTIAL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexer.parsers.latex.assemble import Assembled, assemble
from indexer.parsers.latex.bibitems import entry_fields
from indexer.parsers.latex.bibliography import biblatex_entries, is_biblatex, read_bib_files, reference_list
from indexer.parsers.latex.commands import COMMANDS, PROTECTED
from indexer.parsers.latex.environments import END_USER, ENVIRONMENTS, algorithm_step, begin, end, is_step
from indexer.parsers.latex.files import Files, Lost
from indexer.parsers.latex.machine import Machine, Tables
from indexer.parsers.latex.plain_commands import SIGNS, unknown
from indexer.parsers.latex.reader import Token
from lineage.errors import ParseError
from lineage.records import BibEntry, Document, Status, WorkId

PARSER = "latex@9"
MAX_MISSING = 200
"""Cited keys looked for in further .bbl files before those are read."""

_HARMLESS = {Status.POLICY_SKIPPED, Status.OK_REPAIRED, Status.UNRESOLVED, Status.NOT_FOUND}


def parse(files: Mapping[str, bytes], work: WorkId, blob: str) -> Document:
    """The document that an e-print's members (name -> bytes) make; raises `ParseError` where there is no TeX in them."""
    table = Files(files)
    mains = table.mains()
    if not mains.names:
        raise ParseError(Status.NO_TEXT if table.members else Status.EMPTY, "no TeX source with a document in it among the members")
    machine = Machine(table, TABLES)
    for lost in (*mains.lost,):
        machine.note(*lost)
    for name in mains.names:
        _run(machine, table, name)
    entries = _bibliography(machine, table, mains.names[0])
    _unread(machine, table, mains.names)
    assembled = assemble(machine)
    if not assembled.text.strip():
        raise ParseError(Status.NO_TEXT, f"{mains.names[0]} holds no text")
    return _document(machine, assembled, entries, (*machine.found.lost.values(), *table.lost), work, blob, mains.names[0])


def _run(machine: Machine, table: Files, name: str) -> None:
    if r"\begin{document}" not in table.text(name) and not _begins_elsewhere(table):
        machine.in_document = True
        machine.out = machine.main
    machine.run(table.open(name))
    if not machine.in_document:  # \begin{document} stood in a file that was not reached: better the text than nothing
        machine.in_document = True
        machine.out = machine.main
        machine.run(table.open(name))
    if any(word in table.text(name) for word in (r"\begin{document}", r"\documentclass")) and not machine.ended:
        machine.note(rf"\end{{document}} of {name}", Status.PARTIAL, r"it ends without \end{document}: it may have been cut short")


def _unread(machine: Machine, table: Files, mains: Sequence[str]) -> None:
    """A note for every TeX file that nothing reads: its text is in the archive and not in the paper."""
    for name in table.ending(".tex"):
        if name not in mains and not machine.opened[name]:
            machine.note(name, Status.POLICY_SKIPPED, "no file that was read inputs it; its text is not part of the paper")


def _begins_elsewhere(table: Files) -> bool:
    return any(r"\begin{document}" in table.text(name) for name in table.ending(".tex"))


def _bibliography(machine: Machine, table: Files, main: str) -> tuple[BibEntry, ...]:
    cited = list(dict.fromkeys(key for cite in machine.main.cites for key in cite.keys))
    printed = _printed(machine, table, main, set(cited))
    bib = read_bib_files(table, machine.found.bibliographies, machine.note, printed=bool(printed))
    return reference_list(printed, bib, cited, machine.found.nocite, machine.note)


def _printed(machine: Machine, table: Files, main: str, cited: set[str]) -> list[BibEntry]:
    """Entries of the .bbl, then of lists written in the text, then of other .bbl files that hold what is still missing."""
    by_hand = [entry_fields(entry) for entry in machine.found.entries]
    own = _own_bbls(machine, table, main)
    printed = [entry for name in own for entry in _read_bbl(machine, table, name)]
    printed_keys = {entry.key for entry in printed}
    useful = [entry for entry in printed if not by_hand or entry.key in cited]
    out = [*useful, *(entry for entry in by_hand if entry.key not in printed_keys)]
    for name in table.ending(".bbl"):
        if name not in own:
            out += _rest(machine, table, name, cited - {entry.key for entry in out})
    return out


def _rest(machine: Machine, table: Files, name: str, missing: set[str]) -> list[BibEntry]:
    """What another .bbl (a supplement's, a second list's) says of keys that are cited and not yet listed."""
    text = table.text(name)
    if not any(f"{{{key}}}" in text for key in list(missing)[:MAX_MISSING]):
        machine.note(name, Status.POLICY_SKIPPED, "another .bbl; nothing in it is cited that the paper's own does not list")
        return []
    return [entry for entry in _read_bbl(machine, table, name) if entry.key in missing]


def _read_bbl(machine: Machine, table: Files, name: str) -> list[BibEntry]:
    if is_biblatex(table.text(name)):
        return list(biblatex_entries(table.text(name)))
    machine.found.entries.clear()
    machine.origin = "bbl"
    machine.run(table.open(name))
    return [entry_fields(entry) for entry in machine.found.entries]


def _own_bbls(machine: Machine, table: Files, main: str) -> list[str]:
    stem = main.rpartition(".")[0] or main
    named = [bbl_file for each in machine.found.bbls if (bbl_file := table.find(each, near=main, ending=".bbl"))]
    own = table.find(stem + ".bbl", ending=".bbl")
    return list(dict.fromkeys([*named, own] if own else named)) or table.ending(".bbl")[:1]


def _document(
    machine: Machine, made: Assembled, entries: tuple[BibEntry, ...], lost: tuple[Lost, ...], work: WorkId, blob: str, main: str
) -> Document:
    cut = [words for _, status, words in lost if status not in _HARMLESS]
    return Document(
        work=work,
        path=main,
        text=made.text,
        spans=made.spans,
        parser=PARSER,
        kind="paper",
        blob=blob,
        title=machine.found.title,
        abstract=made.abstract,
        bibliography=entries,
        mentions=made.mentions,
        links=made.links,
        status=Status.PARTIAL if cut else Status.OK,
        detail="; ".join(dict.fromkeys(cut))[:500],
        lost=lost,
    )


def _step_or_unknown(m: Machine, tok: Token) -> None:
    (algorithm_step if is_step(tok, m) else unknown)(m, tok)


TABLES = Tables(
    commands={**COMMANDS, r"\begin": begin, r"\end": end, END_USER: end},
    environments=ENVIRONMENTS,
    signs=SIGNS,
    unknown=_step_or_unknown,
    protected=PROTECTED,
)
