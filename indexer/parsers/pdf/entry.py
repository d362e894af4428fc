"""Entries of a reference list, as printed, to their fields.

`fields` says where names end and the title begins and ends; this makes the entry's record of it, and finds what
does not depend on the list's form: identifiers, addresses, the year, the venue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.parsers.pdf.fields import Cut, authors_of, cuts, full_stops, has_no_title
from indexer.parsers.pdf.page import Range
from lineage.ids import arxiv_doi, arxiv_in, doi_in
from lineage.records import BibEntry

MAX_ENTRY = 40_000
_LABEL = re.compile(r"\s*(?:\[[^\[\]]{1,40}\]|\(?\d{1,4}[.)]|\d{1,4}(?=\s+[^\W\d_]))\s*")
_DOI = re.compile(r"\b(10\.\s?\d{4,9}/\s?[^\s\"<>{}]{2,120})")
_BROKEN = re.compile(r"(?<=10\.)\s(?=\d{4})|(?<=\d{4}\.)\s(?=\d{4})|(?<=10\.\d{4}/)\s")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]{3,300}", re.IGNORECASE)
_SPACED = re.compile(r"(?:https?\s?:\s?/\s?/|\b10\s?\.\s?\d{4,9}\s?/)\s?[^\s()]{1,200}(?: [./:_~-]{1,3}(?: [^\s()]{1,200})?| /[^\s()]{1,200}){0,60}")
_SAID = re.compile(r"\b(?:doi|URL|Available(?: online)?|Accessed|Retrieved)\b\s*:?\s*(?=\.|\s|\Z|10\.)", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.:/–-])((?:18|19|20)\d\d)(?:[a-z]\b|\b)(?![./]\d)")
_SAME = re.compile(r"\s*(?:[—–―_-]\s?){1,6}(?=[\s,.:(])[\s.]*|\s*(?=,\s)")
_TAIL = re.compile(
    r"(?:[,;]\s*(?:(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?\s*)?"
    r"(?:18|19|20)\d\d[a-z]?|,\s*volume \d+.*|\s*\((?:18|19|20)\d\d[a-z]?\))[.\s]*\Z",
    re.IGNORECASE,
)
_EDITION = re.compile(r",? \(?(?:\d{1,2}(?:st|nd|rd|th)|[a-z]{5,9}) ed(?:ition|\.)?\)?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Printed:
    """An entry's running text, its key, which characters are set in italic type, and the label printed before it."""

    raw: str
    key: str
    italic: tuple[Range, ...] = ()
    label: str = ""

    @property
    def text_start(self) -> int:
        """Where the text behind the label begins; a raised label touches it."""
        if match := _LABEL.match(self.raw):
            return match.end()
        touching = self.label.isdigit() and re.match(rf"\s*{self.label}(?=[^\W\d_])", self.raw)
        return touching.end() if touching else 0


@dataclass(frozen=True)
class _Bare:
    """An entry less its label, addresses and identifiers, with its italics; `same` where a dash repeats the authors."""

    text: str
    italic: tuple[Range, ...]
    same: bool


def parse_entry(raw: str, key: str) -> BibEntry:
    """One entry by itself."""
    return parse_entries([Printed(" ".join(raw.split()), key)])[0]


def parse_entries(printed: Sequence[Printed]) -> list[BibEntry]:
    """A list's entries; identifiers are bare, titles plain, and what is not found is empty."""
    printed = [replace(entry, raw=entry.raw[:MAX_ENTRY]) for entry in printed]
    bares = [_bare(entry) for entry in printed]
    parsed_entries: list[BibEntry] = []
    for entry, bare, cut in zip(printed, bares, cuts([(bare.text, bare.italic) for bare in bares]), strict=True):
        before = parsed_entries[-1].authors if bare.same and parsed_entries else ()
        parsed_entries.append(_entry(entry, bare, cut, before))
    return parsed_entries


def _entry(entry: Printed, bare: _Bare, cut: Cut | None, before: Sequence[str]) -> BibEntry:
    text = bare.text
    arxiv, doi, url = _identifiers(entry.raw[entry.text_start :])
    names, title, after, year = "", "", text, ""
    if cut:
        names, title, after, year = (
            text[: cut.start.names],
            _clean(text[cut.start.at : cut.end]),
            text[cut.after :].lstrip(' ,.;:)”’"'),
            cut.start.year,
        )
        if has_no_title(text[cut.start.at :]) or title not in entry.raw:
            title, after = "", text[cut.start.at :]
    venue = _venue(after)
    return BibEntry(
        key=entry.key,
        raw=entry.raw,
        title=title,
        authors=tuple(authors_of(names) or before),
        year=int(year[:4]) if year[:4].isdigit() else _last_year(text.replace(title, " ", 1) if title else text),
        venue=venue if venue in entry.raw else "",
        arxiv=arxiv,
        doi=doi,
        url=url,
        fields_by="pdf",
    )


def _bare(entry: Printed) -> _Bare:
    """What the fields are read from. Web addresses and DOIs go, as their dots and digits would mislead."""
    slanted = ["0"] * len(entry.raw)
    for start, end in entry.italic:
        slanted[start:end] = "1" * (min(end, len(slanted)) - min(start, len(slanted)))
    text, mask = entry.raw[entry.text_start :], "".join(slanted)[entry.text_start :]
    for pattern in (_SPACED, _URL, _SAID, _DOI, re.compile(r"(?<=\s)\s+")):
        text, mask = _without(text, mask, pattern)
    same = _SAME.match(text)
    cut = same.end() if same else 0
    cut += len(text[cut:]) - len(text[cut:].lstrip(" ,.:")) if same else 0
    return _Bare(text[cut:].rstrip(), tuple((run.start(), run.end()) for run in re.finditer("1+", mask[cut:])), same is not None)


def _without(text: str, mask: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    gone = [match.span() for match in pattern.finditer(text)]
    kept_ranges = list(zip([0, *(end for _, end in gone)], [*(start for start, _ in gone), len(text)], strict=True))
    return "".join(text[a:b] for a, b in kept_ranges), "".join(mask[a:b] for a, b in kept_ranges)


def _identifiers(text: str) -> tuple[str | None, str | None, str | None]:
    """arXiv number, DOI and address; those of a printed page may be broken behind a full stop or a slash."""
    text = _SPACED.sub(lambda spaced: spaced[0].replace(" ", ""), text)
    closed = _BROKEN.sub("", text)
    url = _URL.search(text)
    return arxiv_in(closed) or arxiv_doi(closed), doi_in(closed), url[0].rstrip(".,;:)]}>'”") if url else None


def _last_year(text: str) -> int | None:
    years = [int(match[1]) for match in _YEAR.finditer(text)]
    paren = re.findall(r"\(\s*(?:[A-Z][a-z]+\.?\s*)?((?:18|19|20)\d\d)[a-z]?\s*\)", text)
    return int(paren[-1]) if paren else years[-1] if years else None


def _clean(title: str) -> str:
    title = _TAIL.sub("", title[:1000].strip(' ,;:“”"‘’`'))
    title = re.sub(r"\s*\[(?:online|internet|[A-Z]{1,3})\]\s*\Z", "", title, flags=re.IGNORECASE)
    return _EDITION.sub("", title.strip(' .,;:“”"'))


def _venue(after: str) -> str:
    after = re.sub(r"\A(?:In:?|in)\s+", "", after.strip())
    if edited := re.match(r".{3,300}?[,\s(](?:editors?|eds?\.)\)?,\s*", after):
        after = after[edited.end() :]
    after = after[: next(iter(full_stops(after, limit=1)), len(after))]
    end = re.search(r",\s*(?:pages?|pp|vol|volume|\(?\d|[A-Z][a-z]+ \d{4})|\s\d+\s*[:(,]|\s\(\d|,\s|\s(?:19|20)\d\d\Z|\s\d+\Z", after)
    return after[: end.start() if end else 160].strip(" ,.;:")[:160]
