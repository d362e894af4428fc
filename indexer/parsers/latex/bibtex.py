"""`.bib` files: a linear reader of entries, `@string` and `#`.

bibtexparser 2 leaves `a # b` unjoined, gives a broken entry without its fields, and takes quadratic time over unclosed
ones. Here a broken entry costs itself only: reading resumes at the next `@` that begins a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from indexer.parsers.latex.bibitems import bibtex_people
from indexer.parsers.latex.symbols import plain, words
from lineage.ids import arxiv_alone, arxiv_doi, arxiv_in, doi_in, year_in
from lineage.records import BibEntry

MAX_VALUE = 40_000
"""Characters of one field; a `#` bomb ends here."""

MAX_RAW = 4_000
_HEAD = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_KEY = re.compile(r"\s*([^,={}\s]*(?:[ \t]+[^,={}\s]+)*)\s*(,|(?=[)}]))")
_NAME = re.compile(r"[\s,]*([A-Za-z][^\s=,{}()\"#]*)\s*=\s*")
_BARE = re.compile(r"[^\s,#{}()\"]+")
_DELIMITER = re.compile(r"\\.|[{}\"]|\n[ \t]*@[A-Za-z]+[ \t]*[{(]", re.DOTALL)
_GAP = re.compile(r"\s*")
_RESUME = re.compile(r"^[ \t]*@", re.MULTILINE)
_MONTHS = dict(
    zip(
        words("jan feb mar apr may jun jul aug sep oct nov dec"),
        words("January February March April May June July August September October November December"),
        strict=True,
    )
)


@dataclass(frozen=True)
class BibtexRecord:
    """One entry: its type and key as written, its fields by lower-case name (TeX values), and where it stands."""

    kind: str
    key: str
    fields: Mapping[str, str]
    start: int
    end: int
    broken: bool = False


class _Broken(ValueError):
    """An entry that cannot be read further; `args` hold what it had and where it broke."""


def records(text: str) -> Iterator[BibtexRecord]:
    """Every entry of a file in order, broken ones with what could be read of them."""
    strings: dict[str, str] = dict(_MONTHS)
    pos = 0
    while head := _HEAD.search(text, pos):
        kind = head[1].lower()
        pos = head.end()
        if kind == "comment":
            continue
        if kind in ("string", "preamble"):
            pos = _definition(text, pos, kind, strings)
            continue
        record, pos = _entry(text, head, kind, strings)
        if record:
            yield record


def _definition(text: str, pos: int, kind: str, strings: dict[str, str]) -> int:
    try:
        if kind == "preamble":
            return _value(text, _skip(text, pos), strings)[1]
        if name := _NAME.match(text, pos):
            value, pos = _value(text, name.end(), strings)
            strings[name[1].lower()] = value
    except _Broken:
        return _resume(text, pos)
    return pos


def _entry(text: str, head: re.Match[str], kind: str, strings: dict[str, str]) -> tuple[BibtexRecord | None, int]:
    key = _KEY.match(text, head.end())
    if not key or not key[1]:
        return None, _resume(text, head.end())
    fields: dict[str, str] = {}
    pos = key.end()
    try:
        while name := _NAME.match(text, pos):
            value, pos = _value(text, name.end(), strings)
            fields.setdefault(name[1].lower(), value)
    except _Broken:
        end = _resume(text, pos)
        return BibtexRecord(kind, key[1], fields, head.start(), end, broken=True), end
    return BibtexRecord(kind, key[1], fields, head.start(), pos), pos


def _resume(text: str, pos: int) -> int:
    match = _RESUME.search(text, pos)
    return match.end() - 1 if match else len(text)


def _value(text: str, pos: int, strings: Mapping[str, str]) -> tuple[str, int]:
    parts: list[str] = []
    while True:
        part, pos = _piece(text, pos, strings)
        parts.append(part)
        after = _skip(text, pos)
        if text[after : after + 1] != "#":
            return "".join(parts)[:MAX_VALUE], pos
        pos = _skip(text, after + 1)
        if len(parts) > 100:
            raise _Broken


def _skip(text: str, pos: int) -> int:
    match = _GAP.match(text, pos)
    return match.end() if match else pos


def _piece(text: str, pos: int, strings: Mapping[str, str]) -> tuple[str, int]:
    sign = text[pos : pos + 1]
    if sign == "{" or sign == '"':
        end = _closing(text, pos + 1, sign)
        return text[pos + 1 : end][:MAX_VALUE], end + 1
    match = _BARE.match(text, pos)
    if not match:
        raise _Broken
    return match[0] if match[0].isdigit() else strings.get(match[0].lower(), match[0]), match.end()


def _closing(text: str, pos: int, sign: str) -> int:
    """Where the value that began with `sign` ends; an unclosed one is broken where the next entry seems to begin."""
    depth = 0
    limit = pos + 4 * MAX_VALUE
    for match in _DELIMITER.finditer(text, pos, limit):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            if depth == 0 and sign == "{":
                return match.start()
            depth -= 1
        elif match[0] == '"' and sign == '"' and depth <= 0:
            return match.start()
        elif match[0][0] == "\n":
            break
    raise _Broken


def inherit(record: BibtexRecord, others: Mapping[str, BibtexRecord]) -> dict[str, str]:
    """The record's fields with those of its `crossref` (one step: BibTeX does not follow further)."""
    parent = others.get(record.fields.get("crossref", "").strip().lower())
    if parent is None or parent is record:
        return dict(record.fields)
    given = {name: value for name, value in parent.fields.items() if name != "title"}
    return {**given, **({"booktitle": parent.fields["title"]} if "title" in parent.fields else {}), **record.fields}


def bib_entry(record: BibtexRecord, fields: Mapping[str, str], raw: str) -> BibEntry:
    """A record as a bibliography entry."""
    note = " ".join(fields.get(name, "") for name in ("journal", "howpublished", "note", "url", "volume", "eprint", "number"))
    doi_field = fields.get("doi", "")
    url = plain(fields.get("url", "")).replace(" ", "") or _address(fields)
    return BibEntry(
        key=record.key,
        raw=" ".join(raw[:MAX_RAW].split()),
        title=plain(fields.get("title", "")).rstrip("."),
        authors=bibtex_people(fields.get("author") or fields.get("editor") or ""),
        year=year_in(fields.get("year", ""), last=False) or year_in(fields.get("date", ""), last=False),
        venue=plain(
            next((fields[name] for name in ("journal", "journaltitle", "booktitle", "school", "institution", "publisher") if name in fields), "")
        ),
        arxiv=_arxiv(fields, note) or arxiv_doi(doi_field + url),
        doi=doi_in(plain(doi_field).replace(" ", "")) or doi_in(url) or doi_in(record.key),
        url=url or None,
        fields_by="bib",
    )


def _arxiv(fields: Mapping[str, str], note: str) -> str | None:
    eprint = fields.get("eprint", "")
    kind = (fields.get("eprinttype") or fields.get("archiveprefix") or "arxiv").lower()
    return (arxiv_alone(eprint) if eprint and "arxiv" in kind else None) or arxiv_in(plain(note))


def _address(fields: Mapping[str, str]) -> str:
    for name in ("howpublished", "note", "link", "misc"):
        match = re.search(r"(?:https?://|www\.)[^\s{}]+", fields.get(name, "")[:2000])
        if match:
            return match[0].replace("\\_", "_").replace("\\%", "%").replace("\\&", "&").replace("\\#", "#").rstrip(".,;")
    return ""
