r"""`\bibitem` entries to fields, and lists of people as BibTeX writes them and as bibliographies print them.

Styles set an entry as blocks (`\newblock`): people, title, where it appeared. Entries written by hand or by
IEEE styles have none; there quotation marks, italics and full stops tell the parts apart. Where a style names its
fields (REVTeX and ACM `\bibinfo`, apacite), the names are believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from indexer.parsers.latex.machine import Bibitem
from indexer.parsers.latex.symbols import plain
from indexer.parsers.pdf.entry import Printed, parse_entries
from indexer.parsers.pdf.fields import authors_of, is_names
from lineage.ids import arxiv_doi, arxiv_in, doi_in, year_in
from lineage.records import BibEntry

MAX_PEOPLE = 5_000
_AND = re.compile(r"[{}]|\s+and\s+", re.IGNORECASE)
_YEAR_END = re.compile(r"[\s,(\[]*\b(?:19|20)\d\d[a-z]?\b[).\]]*\s*\Z")


def bibtex_people(value: str) -> tuple[str, ...]:
    """First-name-first plain names of a BibTeX name list; `others` is left out."""
    names: list[str] = []
    depth = start = 0
    for match in _AND.finditer(value):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif depth == 0:
            names.append(value[start : match.start()])
            start = match.end()
    names.append(value[start:])
    turned = (turn(plain(name)) for name in names[:MAX_PEOPLE])
    return tuple(name for name in turned if name and name.lower() != "others")


def turn(name: str) -> str:
    """`Last, First` or `Last, Jr, First` as `First Last Jr`."""
    parts = [part.strip() for part in name.split(",") if part.strip()]
    if len(parts) == 2:
        return f"{parts[1]} {parts[0]}"
    if len(parts) == 3:
        return f"{parts[2]} {parts[0]} {parts[1]}"
    return " ".join(parts)


_FIELD = re.compile("\x0f([^\x0f\x10\x16]{1,40})\x10\\s*([^\x0f\x10\x16]*)\x16")
_LINK = re.compile("\x13([^\x13\x14\x15]*)\x14([^\x13\x14\x15]*)\x15")
_MARKS = re.compile("[\x00-\x08\x0e-\x1f]+")
_ITALIC = re.compile("\x11([^\x11\x12]{3,600})\x12")
_LABEL_YEAR = re.compile(r"\(\s*((?:19|20)\d\d)[a-z]?\s*\)")
_AUTHOR_YEAR = re.compile(r"[\s,(]((?:19|20)\d\d)[a-z]?\)?[.,:]?\s*\Z")
_TITLE_TAIL = re.compile(r"[,.]?\s*\(?\b(?:19|20)\d\d[a-z]?\)?\s*\Z")
_IN = re.compile(r"\A(?:In|in)\b[:\s]+")
_URL_WORDS = re.compile(r"\b(?:URL|Available(?: at| online)?|Online|Accessed[^.]*|\[Online\])\b[:.]?", re.IGNORECASE)
_MAX_TEXT = 30_000


@dataclass
class _Parts:
    people: str = ""
    title: str = ""
    venue: str = ""
    authors: tuple[str, ...] = ()
    named: dict[str, list[str]] = field(default_factory=dict)


def entry_fields(entry: Bibitem) -> BibEntry:
    """One printed entry as a record."""
    marked = entry.text[:_MAX_TEXT]
    urls = [url.strip() for url, _ in _LINK.findall(marked) if url.strip()]
    shown = _LINK.sub(lambda match: match[2] if match[2].strip() else " ", marked)
    parts = _named(shown) or _parts(shown)
    raw = _bare(_LINK.sub(lambda match: match[2] or match[1], marked).replace("\x0e", " "))
    everything = " ".join([raw, *urls])
    people = _people(parts)
    return BibEntry(
        key=entry.key,
        raw=raw,
        title=_clean_title(parts.title),
        authors=people,
        year=_year(entry, parts, raw),
        venue=_clean_venue(parts.venue),
        arxiv=arxiv_in(everything) or arxiv_doi(everything),
        doi=doi_in(" ".join([*urls, raw])) or doi_in(entry.key),
        url=urls[0] if urls else None,
        fields_by=entry.origin,
    )


def _bare(text: str) -> str:
    """Text without field names and marks."""
    text = re.sub("\x0f[^\x0f\x10\x16]{1,40}\x10", "", text)
    return " ".join(_MARKS.sub("", text).split())


def _named(text: str) -> _Parts | None:
    named: dict[str, list[str]] = {}
    for name, value in _FIELD.findall(text):
        named.setdefault(name.strip().lower(), []).append(_bare(value))
    title = " ".join(named.get("title", [])[:1])
    people = named.get("author") or named.get("person") or named.get("authors") or []
    if not title and not people:
        return None
    people = people or [_bare(text.split("\x0e")[0])]
    venue = next((named[each][0] for each in ("journal", "booktitle", "series", "publisher") if each in named), "")
    return _Parts(" and ".join(people), title, venue, tuple(map(turn, people)) if len(people) > 1 else (), named)


def _parts(text: str) -> _Parts:
    text = re.sub("\x0f[^\x0f\x10\x16]{1,40}\x10|\x16", "", text)
    blocks = [block for block in text.split("\x0e") if _bare(block)]
    if len(blocks) > 1:
        return _of_blocks(blocks)
    return _of_running(blocks[0] if blocks else "")


def _of_blocks(blocks: list[str]) -> _Parts:
    first, second = _bare(blocks[0]), _bare(blocks[1])
    goes_on = _IN.match(second) or _only_address(second) or blocks[1].lstrip().startswith("\x11")
    if _are_people(first) or (_first_may_be_people(first) and not goes_on):
        return _Parts(first, "", " ".join(blocks[1:])) if _IN.match(second) else _Parts(first, blocks[1], " ".join(blocks[2:]))
    running = _of_running(blocks[0])
    if running.authors and running.title:
        return replace(running, venue=" ".join([running.venue, *blocks[1:]]))
    return _Parts("", first, " ".join(blocks[1:]))


def _are_people(text: str) -> bool:
    """Whether a block is a list of people; of one word only with a year behind it."""
    names = _YEAR_END.sub("", text)
    return is_names(names) and (" " in names.strip() or names != text)


def _first_may_be_people(text: str) -> bool:
    """Names of institutions are people too; a sentence with a question mark or a link is not."""
    return not re.search(r"[?!]|—|https?:|\b(?:for|with|via|using|towards|learning)\b", text)


def _only_address(block: str) -> bool:
    words = _URL_WORDS.sub("", block).strip(" .,:()")
    return not words or words.startswith(("http", "www.")) or bool(re.fullmatch(r"[\d\s.,a-z]{0,12}", words))


def _of_running(text: str) -> _Parts:
    """The parts of an entry in running text, told apart as those of a printed list are."""
    raw, italic = "", list[tuple[int, int]]()
    for n, part in enumerate(re.split("[\x11\x12]", text)):
        spaced = re.sub(r"\s+", " ", _MARKS.sub("", part))
        start = len(raw)
        raw += spaced.lstrip() if not raw or raw.endswith(" ") else spaced
        italic += [(start, len(raw))] if n % 2 else []
    (entry,) = parse_entries([Printed(raw, "", tuple(italic))])
    return _Parts(title=entry.title, venue=entry.venue, authors=entry.authors)


def _people(parts: _Parts) -> tuple[str, ...]:
    return parts.authors or tuple(authors_of(_YEAR_END.sub("", _bare(parts.people))))


def _year(entry: Bibitem, parts: _Parts, raw: str) -> int | None:
    if named := parts.named.get("year"):
        return year_in(named[0])
    if match := _LABEL_YEAR.search(entry.label):
        return int(match[1])
    if match := _AUTHOR_YEAR.search(_bare(parts.people)):
        return int(match[1])
    venue_text = _bare(parts.venue)
    return year_in(_without_addresses(venue_text)) or year_in(_bare(parts.title)[-8:]) or year_in(_without_addresses(raw))


def _without_addresses(text: str) -> str:
    return re.sub(r"(?:https?://|www\.)\S+|\b10\.\d{4,9}/\S+|\barXiv:?\s*\d{4}\.\d+|\babs/\S+|\bAccessed\b[^.]*", " ", text, flags=re.IGNORECASE)


def _clean_title(text: str) -> str:
    title = _bare(text).strip(" ,;")
    title = re.sub(r"\s*\((?:in|with)? ?[A-Z][a-z]+\)\Z", "", title)
    if len(title) > 12:
        title = _TITLE_TAIL.sub("", title)
    return title.rstrip(" .,;").strip('“”"') if not title.endswith("...") else title


def _clean_venue(text: str) -> str:
    venue = _ITALIC.search(text)
    words = _bare(venue[1]) if venue else _IN.sub("", _bare(_URL_WORDS.sub(" ", text)))
    words = re.sub(r"https?://\S+", "", words)
    return "" if re.fullmatch(r"[\W\d]*", words) else words.strip(" .,;")[:300]
