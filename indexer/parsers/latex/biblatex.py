r"""biblatex's .bbl files: `\entry`, `\name`, `\field`, `\strng`, `\verb` to bibliography entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.parsers.latex.names import turn
from indexer.parsers.latex.plain import plain
from indexer.references.entry_identifiers import arxiv_alone, arxiv_doi, arxiv_in, doi_in, year_in
from lineage.records import BibEntry

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
