"""The paper's reference list: the .bbl first (biblatex's too), hand-written lists with it, .bib where there is none.

Where both exist the .bib only enriches what the .bbl printed. Nothing is dropped in silence: duplicates, entries
without a title, keys that are cited and defined nowhere, files that are missing each leave a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from indexer.parsers.latex.bibitems import turn
from indexer.parsers.latex.bibtex import BibtexRecord, bib_entry, inherit, records
from indexer.parsers.latex.files import SourceFiles
from indexer.parsers.latex.symbols import plain
from lineage.ids import arxiv_alone, arxiv_doi, arxiv_in, doi_in, normal_title, year_in
from lineage.records import BibEntry, Status

Note = Callable[[str, Status, str], None]


@dataclass
class BibFiles:
    """The .bib records of a paper by lower-case key (BibTeX ignores case), first definition first."""

    records: dict[str, BibtexRecord]
    texts: dict[str, str]
    homes: dict[str, str]

    def entry(self, key: str) -> BibEntry | None:
        """The entry of a citation key, or None."""
        record = self.records.get(key.lower())
        if record is None:
            return None
        raw = self.texts[self.homes[key.lower()]][record.start : record.end]
        return replace(bib_entry(record, inherit(record, self.records), raw), key=key)


def read_bib_files(files: SourceFiles, named: Iterable[str], note: Note, *, printed: bool) -> BibFiles:
    """Every .bib file that the paper names, or all there are when it names none that exists.

    A missing one is noted unless there is a `printed` list, which e-prints carry in its stead.
    """
    paths_by_name = {name: files.find(name, ending=".bib") for name in dict.fromkeys(named)}
    for name, member in paths_by_name.items():
        if member is None and not printed:
            note(name if name.endswith(".bib") else name + ".bib", Status.NOT_FOUND, "a bibliography file that is not in the source")
    members = [member for member in paths_by_name.values() if member] or files.ending(".bib")
    out = BibFiles({}, {}, {})
    for member in dict.fromkeys(members):
        out.texts[member] = files.text(member)
        _add(out, member, note)
    return out


def _add(out: BibFiles, member: str, note: Note) -> None:
    repeated: list[str] = []
    for record in records(out.texts[member]):
        if record.broken:
            note(f"{member}: {record.key}", Status.PARTIAL, "an entry that BibTeX's grammar cannot read to its end; what came before is kept")
        if record.key.lower() in out.records:
            repeated.append(record.key)
        else:
            out.records[record.key.lower()] = record
            out.homes[record.key.lower()] = member
    if repeated:
        note(f"{member}: repeated keys", Status.OK_REPAIRED, f"{len(repeated)} defined before, the first definition counts: {_some(repeated)}")


def reference_list(printed: list[BibEntry], bib: BibFiles, cited: list[str], nocite: list[str], note: Note) -> tuple[BibEntry, ...]:
    """The paper's entries in their printed order (or in that of citation), enriched and annotated."""
    entries = _unique(printed, note)
    wanted = list(dict.fromkeys([*cited, *(key for key in nocite if key != "*")]))
    if "*" in nocite and not entries:
        wanted = list(dict.fromkeys([*wanted, *(record.key for record in bib.records.values())]))
    had_list = bool(entries)
    entries = {key: enriched(entry, bib.entry(key)) for key, entry in entries.items()}
    folded = {key.lower() for key in entries}
    for key in wanted:
        if key.lower() not in folded:
            _add_cited(entries, key, bib, had_list, note)
    _unused(entries, set(cited) | set(nocite), bib, note)
    return tuple(_checked(entry, set(cited)) for entry in entries.values())


def _unique(printed: list[BibEntry], note: Note) -> dict[str, BibEntry]:
    entries: dict[str, BibEntry] = {}
    repeated: list[str] = []
    for number, entry in enumerate(printed, 1):
        key = entry.key or f"ref-{number}"
        if key in entries:
            repeated.append(key)
            if normal_title(entries[key].title) == normal_title(entry.title):
                continue
            key = f"{key}#{number}"
        entries[key] = replace(entry, key=key)
    if repeated:
        note("repeated bibliography keys", Status.OK_REPAIRED, f"{len(repeated)} listed more than once: {_some(repeated)}")
    return entries


def _add_cited(entries: dict[str, BibEntry], key: str, bib: BibFiles, had_list: bool, note: Note) -> None:
    entry = bib.entry(key)
    if entry is None:
        note(f"citation {key}", Status.UNRESOLVED, "cited, but defined in no bibliography of the source")
        return
    entries[key] = replace(entry, note="cited, but not in the printed list") if had_list else entry


def _unused(entries: Mapping[str, BibEntry], cited: set[str], bib: BibFiles, note: Note) -> None:
    folded = {key.lower() for key in entries} | {key.lower() for key in cited}
    if "*" in cited:
        return
    for member in bib.texts:
        unused = [record.key for key, record in bib.records.items() if bib.homes[key] == member and key not in folded]
        if unused:
            note(f"{member}: unused entries", Status.POLICY_SKIPPED, f"{len(unused)} are not cited: {_some(unused)}")


def _checked(entry: BibEntry, cited: set[str]) -> BibEntry:
    notes = [entry.note] if entry.note else []
    if not entry.title:
        notes.append("no title could be read")
    if entry.key not in cited and entry.key.partition("#")[0] not in cited:
        notes.append("not cited in the text")
    return replace(entry, note="; ".join(notes))


def enriched(printed: BibEntry, bib: BibEntry | None) -> BibEntry:
    """What the .bbl printed, completed from the .bib; `note` says with what."""
    if bib is None:
        return printed
    taken: dict[str, object] = {}
    if bib.title and (not printed.title or _same_title(printed.title, bib.title)):
        taken["title"] = bib.title
    if bib.authors and _fuller(printed.authors, bib.authors):
        taken["authors"] = bib.authors
    for name in ("year", "venue", "arxiv", "doi", "url"):
        if getattr(bib, name) and not getattr(printed, name):
            taken[name] = getattr(bib, name)
    changed = {name: value for name, value in taken.items() if value != getattr(printed, name)}
    note = f"{', '.join(changed)} from the .bib" if changed else ""
    return replace(printed, **changed, note=note)  # type: ignore[arg-type]


def _same_title(printed: str, bib: str) -> bool:
    printed_title, bib_title = normal_title(printed), normal_title(bib)
    return printed_title == bib_title or (
        len(bib_title) > 12 and (printed_title.startswith(bib_title) or bib_title.startswith(printed_title) or bib_title in printed_title)
    )


def _fuller(printed: tuple[str, ...], bib: tuple[str, ...]) -> bool:
    if not printed:
        return True
    same = normal_title(printed[0]).split()[-1:] == normal_title(bib[0]).split()[-1:]
    return same and len(bib) >= len(printed) and sum(map(len, bib)) > sum(map(len, printed))


def _some(keys: list[str]) -> str:
    return ", ".join(keys[:8]) + (" …" if len(keys) > 8 else "")


_ENTRY = re.compile(r"^[ \t]*+\\entry\{([^{}]{1,300})\}\{([^{}]{0,60})\}", re.MULTILINE)
_FIELD = re.compile(r"\\(?:field|list|strng)\{([a-z]{1,40})\}(?:\{\d+\})?\{")
_VERB = re.compile(r"\\verb\{([a-z]{1,40})\}\s*\n?\s*\\verb\s+([^\n]{0,2000})\n\s*\\endverb")
_NAME = re.compile(r"\\name\{([a-z]{1,40})\}\{\d+\}\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_PART = re.compile(r"\b(prefix|family|given|suffix)=\s*\{")
_VENUES = ("journaltitle", "booktitle", "eventtitle", "institution", "publisher", "organization", "howpublished")
MAX_ENTRY = 400_000


def is_biblatex(text: str) -> bool:
    """Whether a .bbl was written by biblatex."""
    return _ENTRY.search(text) is not None


def biblatex_entries(text: str) -> Iterator[BibEntry]:
    """Every entry of the file in its order; the same key in a second reference section is not repeated."""
    heads = list(_ENTRY.finditer(text))
    seen: set[str] = set()
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        if head[1] not in seen:
            seen.add(head[1])
            yield _entry(head[1], text[head.end() : following.start() if following else len(text)][:MAX_ENTRY])


def _entry(key: str, body: str) -> BibEntry:
    fields = {name: plain(value) for name, value in _values(body, _FIELD)}
    fields |= {name: value.strip() for name, value in _VERB.findall(body)}
    names = dict(reversed(list(_values(body, _NAME))))
    authors = _people(names.get("author") or names.get("editor") or "")
    title = ": ".join(part for part in (fields.get("title", ""), fields.get("subtitle", "")) if part)
    venue = next((fields[name] for name in _VENUES if fields.get(name)), "")
    year = year_in(fields.get("year", ""), last=False) or year_in(fields.get("date", ""), last=False)
    eprint = fields.get("eprint", "") if fields.get("eprinttype", "arxiv").lower() == "arxiv" else ""
    everything = " ".join([venue, fields.get("note", ""), fields.get("url", ""), fields.get("volume", "")])
    return BibEntry(
        key=key,
        raw=f"{', '.join(authors)}. {title}. {venue}, {year or ''}",
        title=title,
        authors=authors,
        year=year,
        venue=venue,
        arxiv=(arxiv_alone(eprint) if eprint else None) or arxiv_in(everything) or arxiv_doi(fields.get("doi", "")),
        doi=doi_in(fields.get("doi", "")) or doi_in(fields.get("url", "")),
        url=fields.get("url") or None,
        fields_by="bbl",
    )


def _values(body: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    pos = 0
    while match := pattern.search(body, pos):
        end = _closing(body, match.end())
        # \name{author}{2}{options}{list}: the list is the group after the first
        if pattern is _NAME and (second := re.compile(r"\s*\{").match(body, end + 1)):
            start, end = second.end(), _closing(body, second.end())
        else:
            start = match.end()
        yield match[1], body[start:end]
        pos = max(end, match.end())


def _closing(body: str, pos: int) -> int:
    depth = 0
    for match in _BRACE.finditer(body, pos):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            if depth == 0:
                return match.start()
            depth -= 1
    return len(body)


def _people(value: str) -> tuple[str, ...]:
    order = ("given", "prefix", "family", "suffix")
    people: list[str] = []
    for person in _groups(value):
        parts = {name: plain(part) for name, part in _values(person, _PART)}
        people.append(" ".join(parts[name] for name in order if parts.get(name)))
    return tuple(name for name in people if name) or _old_people(value)


def _groups(value: str) -> Iterator[str]:
    """The contents of the outermost groups."""
    depth = start = 0
    for match in _BRACE.finditer(value):
        if match[0] == "{":
            start = match.end() if depth == 0 else start
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                yield value[start : match.start()]


def _old_people(value: str) -> tuple[str, ...]:
    """biblatex before 3.0: `{{hash}{Last}{L.}{First}{F.}{prefix}...}` per person."""
    name_pairs = re.findall(r"\{\{[^{}]*\}\{([^{}]*)\}\{[^{}]*\}\{([^{}]*)\}", value)
    return tuple(turn(f"{plain(last)}, {plain(first)}") for last, first in name_pairs)
