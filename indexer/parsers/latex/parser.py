"""A paper's LaTeX e-print, unpacked in memory, to one document: text, spans, bibliography and citations.

TeX is never run and no file outside the member table is ever opened. The source is read once, in time linear in its
size; whatever had to be cut short is named in `Document.lost` and makes the document PARTIAL.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexer.parsers.latex.bibitems import entry_fields
from indexer.parsers.latex.bibliography import biblatex_entries, is_biblatex, read_bib_files, reference_list
from indexer.parsers.latex.commands import COMMANDS, PROTECTED
from indexer.parsers.latex.environments import END_USER, ENVIRONMENTS, algorithm_step, begin, end, is_step
from indexer.parsers.latex.files import Lost, SourceFiles
from indexer.parsers.latex.machine import Machine, Tables
from indexer.parsers.latex.numbering import LabelTarget, Resolved, resolve
from indexer.parsers.latex.plain_commands import SIGNS, unknown
from indexer.parsers.latex.reader import Token
from indexer.parsers.latex.stream import Mark
from indexer.parsers.sentences import Sentences
from lineage.errors import ParseError
from lineage.records import BibEntry, Document, Mention, Span, Status, WorkId

MAX_AROUND = 600
"""Characters of text given with a link, and of a sentence in a span's header."""

MAX_SENTENCE, MAX_TOGETHER, MAX_KEYS = 4_000, 100, 1_000
"""Of one citation: characters of its sentence, keys that stand together, keys that are followed."""

MAX_DISTANCE = 2_000
"""Characters between a link and the citation it may belong to."""
_PROSE = {"paragraph", "list", "abstract"}


@dataclass(frozen=True)
class Assembled:
    """The text with everything that points into it."""

    text: str
    spans: tuple[Span, ...]
    mentions: tuple[Mention, ...]
    links: tuple[tuple[str, str], ...]
    abstract: str


def assemble(m: Machine) -> Assembled:
    """Text, spans, mentions and links of a run."""
    labels = m.counters.labels
    resolved = Resolved(m.main.text(), labels)
    text = resolved.text
    blocks = [_span(mark, resolved, labels) for mark in m.main.marks]
    blocks = sorted((block for block in blocks if block.end > block.start), key=_order)
    around = _Around(text, blocks)
    mentions = [
        mention for cite in m.main.cites for mention in _mentions(around, resolved.at(cite.start), cite.keys, _resolved_path(cite.path, labels))
    ]
    if any(len(cite.keys) > MAX_KEYS for cite in m.main.cites):
        m.note(r"\cite", Status.PARTIAL, f"of a citation with more than {MAX_KEYS:,} keys only those were followed")
    spans = sorted([*_sections(m, resolved), *(_with_context(block, around) for block in blocks)], key=_order)
    near = _Nearest(mentions)
    links = tuple(
        (link.url, around.link(resolved.at(link.start), resolved.at(link.anchor) if link.anchor >= 0 else -1, near)) for link in m.main.links
    )
    abstract = " ".join(text[block.start : block.end] for block in blocks if block.role == "abstract")
    return Assembled(text, tuple(spans), tuple(mentions), tuple(dict.fromkeys(links)), " ".join(abstract.split()))


def _order(span: Span) -> tuple[int, int]:
    return span.start, -span.end


def _span(mark: Mark, resolved: Resolved, labels: dict[str, LabelTarget]) -> Span:
    path = _resolved_path(mark.path, labels)
    return Span(resolved.at(mark.start), resolved.at(mark.end), mark.role, path, label=mark.label, header=resolve(mark.header, labels))


def _resolved_path(path: tuple[str, ...], labels: dict[str, LabelTarget]) -> tuple[str, ...]:
    return tuple(resolve(title, labels) for title in path)


def _sections(m: Machine, resolved: Resolved) -> list[Span]:
    """Sections from their heading to the next of the same or a higher level."""
    sections = m.found.sections
    ends = [len(resolved.text)] * len(sections)
    open_now: list[int] = []
    for index, section in enumerate(sections):
        while open_now and sections[open_now[-1]].level >= section.level:
            ends[open_now.pop()] = resolved.at(section.start)
        open_now.append(index)
    spans = []
    for section, stop in zip(sections, ends, strict=True):
        start = resolved.at(section.start)
        while stop > start and resolved.text[stop - 1].isspace():
            stop -= 1
        if stop > start:
            spans.append(Span(start, stop, "section", _resolved_path(section.path, m.counters.labels), label=section.label))
    return spans


class _Around:
    """Sentences of the blocks of a text, found when first asked for."""

    def __init__(self, text: str, blocks: list[Span]) -> None:
        self.text = text
        self.blocks = blocks
        self.starts = [block.start for block in blocks]
        self.known: dict[int, Sentences] = {}

    def block(self, offset: int) -> int:
        """The number of the block that holds this offset, or -1."""
        index = bisect_right(self.starts, offset) - 1
        return index if index >= 0 and offset < self.blocks[index].end else -1

    def sentence(self, offset: int) -> tuple[int, int]:
        """Start and end of the sentence at this offset of the text."""
        index = self.block(offset)
        if index < 0:
            return offset, offset
        block = self.blocks[index]
        if block.role == "equation":
            return block.start, block.end
        sentences = self._sentences(index)
        start, end = sentences.around(offset - block.start)
        return block.start + start, block.start + end

    def _sentences(self, index: int) -> Sentences:
        if index not in self.known:
            block = self.blocks[index]
            self.known[index] = Sentences(self.text[block.start : block.end])
        return self.known[index]

    def formula(self, index: int) -> str:
        """The sentence a displayed formula stands in: what leads to it and what follows."""
        before = self.blocks[index - 1] if index else None
        after = self.blocks[index + 1] if index + 1 < len(self.blocks) else None
        parts = []
        if before and before.role in _PROSE and before.path == self.blocks[index].path:
            start, end = self._sentences(index - 1).around(before.end - before.start - 1)
            parts.append(self.text[before.start + start : before.start + end][-MAX_AROUND:])
        if after and after.role in _PROSE and after.path == self.blocks[index].path:
            start, end = self._sentences(index + 1).around(0)
            parts.append(self.text[after.start : after.start + end][:MAX_AROUND])
        return " … ".join(parts)

    def link(self, offset: int, anchor: int, near: _Nearest) -> str:
        """The sentence a link stands in (and the one its footnote hangs on), with the nearest citation named."""
        start, end = self.sentence(offset)
        words = self.text[start:end]
        place = offset
        if anchor >= 0:
            first, last = self.sentence(max(0, anchor - 1))
            words = f"{self.text[first:last]} — {words}"
            place = anchor
        nearest = near.key(place)
        if nearest and f"{nearest}" not in words:
            words += f" [nearest citation: {nearest}]"
        return words[:MAX_AROUND] if len(words) <= MAX_AROUND or nearest in words[:MAX_AROUND] else words[: MAX_AROUND - 80] + words[-80:]


class _Nearest:
    """Which citation stands nearest to a place in the text."""

    def __init__(self, mentions: list[Mention]) -> None:
        self.mentions = sorted(mentions, key=lambda mention: mention.start)
        self.starts = [mention.start for mention in self.mentions]

    def key(self, place: int) -> str:
        """The key of the nearest mention within two thousand characters, or nothing."""
        index = bisect_left(self.starts, place)
        near = self.mentions[max(0, index - 3) : index + 3]
        best = min(near, key=lambda mention: abs(mention.start - place), default=None)
        return best.key if best and abs(best.start - place) < MAX_DISTANCE else ""


def _with_context(block: Span, around: _Around) -> Span:
    if block.role != "equation":
        return block
    header = block.header or around.formula(around.block(block.start))
    return Span(block.start, block.end, block.role, block.path, label=block.label, header=header)


def _mentions(around: _Around, offset: int, keys: tuple[str, ...], path: tuple[str, ...]) -> list[Mention]:
    start, end = around.sentence(offset)
    sentence = " ".join(around.text[start : min(end, start + MAX_SENTENCE)].split())
    return [Mention(key, sentence, path, start, end, keys[:MAX_TOGETHER], "latex") for key in keys[:MAX_KEYS]]


PARSER = "latex@11"
MAX_MISSING = 200
"""Cited keys looked for in further .bbl files before those are read."""

_HARMLESS = {Status.POLICY_SKIPPED, Status.OK_REPAIRED, Status.UNRESOLVED, Status.NOT_FOUND}


def parse(files: Mapping[str, bytes], work: WorkId, blob: str) -> Document:
    """The document that an e-print's members (name -> bytes) make; raises `ParseError` where there is no TeX in them."""
    table = SourceFiles(files)
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


def _run(machine: Machine, table: SourceFiles, name: str) -> None:
    if r"\begin{document}" not in table.text(name) and not any(r"\begin{document}" in table.text(name) for name in table.ending(".tex")):
        machine.in_document = True
        machine.out = machine.main
    machine.run(table.open(name))
    if not machine.in_document:  # \begin{document} stood in a file that was not reached: better the text than nothing
        machine.in_document = True
        machine.out = machine.main
        machine.run(table.open(name))
    if any(word in table.text(name) for word in (r"\begin{document}", r"\documentclass")) and not machine.ended:
        machine.note(rf"\end{{document}} of {name}", Status.PARTIAL, r"it ends without \end{document}: it may have been cut short")


def _unread(machine: Machine, table: SourceFiles, mains: Sequence[str]) -> None:
    """A note for every TeX file that nothing reads: its text is in the archive and not in the paper."""
    for name in table.ending(".tex"):
        if name not in mains and not machine.opened[name]:
            machine.note(name, Status.POLICY_SKIPPED, "no file that was read inputs it; its text is not part of the paper")


def _bibliography(machine: Machine, table: SourceFiles, main: str) -> tuple[BibEntry, ...]:
    cited = list(dict.fromkeys(key for cite in machine.main.cites for key in cite.keys))
    printed = _printed(machine, table, main, set(cited))
    bib = read_bib_files(table, machine.found.bibliographies, machine.note, printed=bool(printed))
    return reference_list(printed, bib, cited, machine.found.nocite, machine.note)


def _printed(machine: Machine, table: SourceFiles, main: str, cited: set[str]) -> list[BibEntry]:
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


def _rest(machine: Machine, table: SourceFiles, name: str, missing: set[str]) -> list[BibEntry]:
    """What another .bbl (a supplement's, a second list's) says of keys that are cited and not yet listed."""
    text = table.text(name)
    if not any(f"{{{key}}}" in text for key in list(missing)[:MAX_MISSING]):
        machine.note(name, Status.POLICY_SKIPPED, "another .bbl; nothing in it is cited that the paper's own does not list")
        return []
    return [entry for entry in _read_bbl(machine, table, name) if entry.key in missing]


def _read_bbl(machine: Machine, table: SourceFiles, name: str) -> list[BibEntry]:
    if is_biblatex(table.text(name)):
        return list(biblatex_entries(table.text(name)))
    machine.found.entries.clear()
    machine.origin = "bbl"
    machine.run(table.open(name))
    return [entry_fields(entry) for entry in machine.found.entries]


def _own_bbls(machine: Machine, table: SourceFiles, main: str) -> list[str]:
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
