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
from indexer.references.entry_identifiers import arxiv_doi, arxiv_in, doi_in, year_in
from lineage.records import BibEntry

MAX_PEOPLE = 5_000
MAX_LIST = 100_000
_AND = re.compile(r"[{}]|\s+and\s+", re.IGNORECASE)
_SPLIT = re.compile(r"\s*[,;]\s*(?:and\b|&)\s*|\s+(?:and|&)\s+|\s*[,;]\s*")
_INITIALS = re.compile(r"(?:[^\W\d_a-z][a-z]?\.[ -]{0,2}|[^\W\d_a-z](?![^\W\d_A-Z])[ -]?){1,6}\Z")
_YEAR_END = re.compile(r"[\s,(\[]*\b(?:19|20)\d\d[a-z]?\b[).\]]*\s*\Z")
_ETAL_END = re.compile(r",?\s*\b(?:et\.?\s+al\.?|and others|others)(?=[\s,.;)]|\Z)\.?", re.IGNORECASE)
_EDITORS = re.compile(r"\(?\b[Ee]d(?:itor)?s?\b\.?\)?\.?")
_SUFFIX = re.compile(r"(?:[JS]r\.?|I{2,3}|IV)\Z")
_DOTTED = r"(?:[^\W\d_a-z][a-z]\.[ -]{0,2}(?:[^\W\d_a-z]\.[ -]{0,2})*+|(?:[^\W\d_a-z]\.[ -]{0,2})++)"
_PARTICLES = r"(?:(?:van|von|der|den|de|di|da|del|della|dos|du|la|le|el|al|ter|ten|bin|ibn)\s+|[dDO]['’]){0,3}"
_LAST = _PARTICLES + r"[^\W\d_][\w'’`-]{1,40}(?:\s(?:[JS]r\.|I{2,3}\b)|(?:\s[^\W\d_a-z][\w'’-]{1,40}){1,2}(?=\s*(?:[,;:&]|and\b|\.\s)))?"
_ENDS = r"(?=\s*(?:[,;:.(&“\"]|and\b|et\s+al|\Z))"
_STYLES = (
    re.compile(_LAST + r",\s*" + _DOTTED),  # Last, F. M.
    re.compile(_DOTTED + r"\s?" + _LAST),  # F. M. Last
    re.compile(r"[^\W\d_a-z][\w'’-]{1,30}(?:\s+[^\W\d_a-z]\.?){0,3}\s+" + _LAST + _ENDS),  # First M. Last
)
_BETWEEN = re.compile(r"\s*(?:[,;]\s*(?:and\b|&)?|\band\b|&)\s*")
_AFTER = re.compile(r"\s*(?:,?\s*et\.?\s+al\.?|,?\s*and others)?\s*(?:\(?\b(?:19|20)\d\d[a-z]?\b\)?)?\s*[.,:;]?\s*")
_PERSON = re.compile(r"[^\W\d_][\w.'’`´ ‐-]{0,80}\Z")


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


def printed_people(text: str) -> tuple[str, ...]:
    """First-name-first names of a printed list ("A. One, B. Two, and C. Three"; "One, A., Two, B.")."""
    text = _EDITORS.sub("", _ETAL_END.sub("", _YEAR_END.sub("", text.strip()))).strip(" ,;:")
    text = text if re.search(r"\b[A-Z]\.\Z", text) else text.rstrip(" .")
    parts = [part.strip() for part in _SPLIT.split(text) if part and part.strip(" .")]
    if _inverted(parts):
        parts = _paired(parts)
    people: list[str] = []
    for part in parts[:MAX_PEOPLE]:
        if _SUFFIX.match(part) and people:
            people[-1] += " " + part
        else:
            people.append(part)
    return tuple(people)


def _inverted(parts: list[str]) -> bool:
    seconds = parts[1::2]
    matching = sum(1 for part in seconds if _INITIALS.match(part))
    return bool(seconds) and bool(_INITIALS.match(seconds[0])) and not _INITIALS.match(parts[0]) and 2 * matching > len(seconds)


def _paired(parts: list[str]) -> list[str]:
    out: list[str] = []
    for part in parts:
        if _INITIALS.match(part) and out and not _INITIALS.match(out[-1].split()[0]):
            out[-1] = f"{part} {out[-1]}"
        else:
            out.append(part)
    return out


def like_people(text: str) -> bool:
    """Whether a printed string may be a list of people rather than a title."""
    names = printed_people(text)
    if not names or not all(_PERSON.match(name) for name in names):
        return False
    if len(names) == 1:
        return _one_person(names[0]) or bool(_YEAR_END.search(text) or _ETAL_END.search(text))
    return all(len(name.split()) <= 6 for name in names)


def _one_person(name: str) -> bool:
    words = name.split()
    return 2 <= len(words) <= 4 and all(word[0].isupper() or len(word) <= 3 for word in words)


def people_first(text: str) -> tuple[str, str]:
    """The list of people that a printed entry begins with, and what follows it; nothing and the text where it begins with none."""
    for style in _STYLES:
        end, pos = 0, 0
        while match := style.match(text, pos):
            end = match.end()
            between = _BETWEEN.match(text, end)
            if not between or not between[0].strip() or end > MAX_LIST:
                break
            pos = between.end()
        after = _AFTER.match(text, end) if end else None
        if after and (after[0].strip() or end == len(text) or text[end - 1] in ". "):
            return text[: after.end()].strip(" ,:;"), text[after.end() :]
    return "", text


_FIELD = re.compile("\x0f([^\x0f\x10\x16]{1,40})\x10\\s*([^\x0f\x10\x16]*)\x16")
_LINK = re.compile("\x13([^\x13\x14\x15]*)\x14([^\x13\x14\x15]*)\x15")
_MARKS = re.compile("[\x00-\x08\x0e-\x1f]+")
_ITALIC = re.compile("\x11([^\x11\x12]{3,600})\x12")
_QUOTED = re.compile(r"[“\"‘]\s*([^“”\"]{6,600}?)[,.]?\s*[”\"]")
_LABEL_YEAR = re.compile(r"\(\s*((?:19|20)\d\d)[a-z]?\s*\)")
_AUTHOR_YEAR = re.compile(r"[\s,(]((?:19|20)\d\d)[a-z]?\)?[.,:]?\s*\Z")
_TITLE_TAIL = re.compile(r"[,.]?\s*\(?\b(?:19|20)\d\d[a-z]?\)?\s*\Z")
_IN = re.compile(r"\A(?:In|in)\b[:\s]+")
_URL_WORDS = re.compile(r"\b(?:URL|Available(?: at| online)?|Online|Accessed[^.]*|\[Online\])\b[:.]?", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[^\sA-Z.][.?!])\s+(?=[A-Z0-9\"“])")
_COMMA_END = re.compile(r",\s+(?=in[:\s]|[Pp]roc|[A-Z][\w.&]*(?:\s+[\w.&:()-]+){0,12}?,?\s+(?:vol\.?\s*)?\d)|(?<=[^\sA-Z.][.?!])\s+(?=[A-Z0-9“])")
_VENUE_START = re.compile(r",?\s+(?:In[:\s]+(?=[A-Z])|in:\s|in\s+(?=Proc|Adv|IEEE|ACM))|[,.]\s+(?=arXiv|CoRR|Proceedings\b|Advances in\b)")
_ETAL = re.compile(r"et\.?\s*al\.?")
_MAX_TEXT = 30_000


@dataclass
class _Parts:
    people: str = ""
    title: str = ""
    venue: str = ""
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
    return _Parts(" and ".join(people), title, venue, named)


def _parts(text: str) -> _Parts:
    text = re.sub("\x0f[^\x0f\x10\x16]{1,40}\x10|\x16", "", text)
    blocks = [block for block in text.split("\x0e") if _bare(block)]
    if len(blocks) > 1:
        return _of_blocks(blocks)
    return _of_running(blocks[0] if blocks else "")


def _of_blocks(blocks: list[str]) -> _Parts:
    first = _bare(blocks[0])
    people, after_names = people_first(first)
    if people and len(after_names) > len("A title") and not like_people(first):
        running = _of_running(blocks[0])
        return replace(running, venue=" ".join([running.venue, *blocks[1:]]))
    if not people and not like_people(first) and (_only_address(blocks[1]) or not _first_may_be_people(first)):
        return _Parts("", first, " ".join(blocks[1:]))
    if _IN.match(_bare(blocks[1])):
        return _Parts(first, "", " ".join(blocks[1:]))
    return _Parts(first, blocks[1], " ".join(blocks[2:]))


def _first_may_be_people(text: str) -> bool:
    """Names of institutions are people too; a sentence with a question mark or a link is not."""
    return not re.search(r"[?!]|—|https?:|\b(?:for|with|via|using|towards|learning)\b", text)


def _only_address(block: str) -> bool:
    words = _URL_WORDS.sub("", _bare(block)).strip(" .,:()")
    return not words or words.startswith(("http", "www.")) or bool(re.fullmatch(r"[\d\s.,a-z]{0,12}", words))


def _of_running(text: str) -> _Parts:
    bare = _bare(text)
    if quoted := _QUOTED.search(bare):
        return _Parts(bare[: quoted.start()], quoted[1], _venue_in(text) or bare[quoted.end() :])
    people, after_names = people_first(bare)
    italics = [match for match in _ITALIC.finditer(text) if not _ETAL.match(_bare(match[1]))]
    if italics and _bare(text[: italics[0].start()]).strip(" ,.:;") == people.strip(" ,.:;"):  # the title itself is in italics
        return _Parts(people, _bare(italics[0][1]), _venue_in(text[italics[0].end() :]) or _bare(text[italics[0].end() :]))
    if italics:
        after_names = after_names.partition(_bare(italics[0][1]))[0] or after_names
    title, venue = _title_first(after_names.strip(), commas=people.endswith(",") or bare[len(people) : len(people) + 1] == ",")
    return _Parts(people, title, _venue_in(text) or venue)


def _venue_in(text: str) -> str:
    """The first words in italics that are not `et al.`."""
    return next((_bare(match[1]) for match in _ITALIC.finditer(text) if not _ETAL.match(_bare(match[1]))), "")


def _title_first(text: str, *, commas: bool) -> tuple[str, str]:
    """The title that a running entry goes on with after its people, and the rest."""
    pattern = _COMMA_END if commas else _SENTENCE
    end = pattern.search(text)
    other = _VENUE_START.search(text, 8)
    cut = min((match.start() for match in (end, other) if match), default=len(text))
    return text[:cut].strip(), text[cut:].strip(" ,.")


def _people(parts: _Parts) -> tuple[str, ...]:
    if parts.named.get("person") or parts.named.get("author"):
        people = parts.named.get("person") or parts.named["author"]
        if len(people) > 1:
            return tuple(turn(name) for name in people)
    return printed_people(_bare(parts.people))


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
