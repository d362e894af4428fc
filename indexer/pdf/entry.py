"""One entry of a reference list, as printed, to its fields.

Follows the punctuation that bibliography styles have in common: a quoted title, a year after the names (ACL, ACM,
APA, Harvard), names with a colon (Springer), surnames with initials (ICML, Nature, Vancouver), names between commas
(Elsevier, physics), else full names up to the first full stop (plain, NeurIPS). What cannot be told apart stays in `raw`.
"""

from __future__ import annotations

import re
from itertools import islice

from indexer.identifiers import arxiv_doi, arxiv_in, doi_in
from indexer.pdf.names import EDITORS, INITIAL_FIRST, SURNAME_FIRST, VANCOUVER, authors_of, is_names, run
from indexer.pdf.sentences import full_stops
from lineage.model import BibEntry

MAX_ENTRY = 40_000
_LABEL = re.compile(r"\s*(?:\[[^\[\]]{1,18}\]|\(?\d{1,4}[.)]|\d{1,4}(?=\s+[^\W\d_]))\s*")
_DOI = re.compile(r"\b(10\.\s?\d{4,9}/\s?[^\s\"<>{}]{2,120})")
_BROKEN = re.compile(r"(?<=10\.)\s(?=\d{4})|(?<=\d{4}\.)\s(?=\d{4})|(?<=10\.\d{4}/)\s")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]{3,300}", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.:/–-])((?:18|19|20)\d\d)(?:[a-z]\b|\b)(?![./:]\d)")
_QUOTED = re.compile(r"[“\"‘`]{1,2}(?=\S)(.{8,400}?)[”\"’']{1,2}(?=[\s,.;)]|\Z)")
_AFTER_NAMES = re.compile(
    r"[\s,.;]{0,20}[\s(\[]((?:18|19|20)\d\d(?:[–-]\d{4})?[a-z]?|in press|forthcoming|n\.\s?d\.)"
    r"(?:,\s?[A-Z][a-z]+(?:\s\d{1,2})?)?[)\]]?[.,:;]*(?:\s+|\Z)"
)
_VENUE = re.compile(
    r"(?:in:?\s|proc\b|proceedings|advances in|journal|j\.|trans\b|transactions|ieee|acm|arxiv|corr\b|conference|workshop|symposium|lecture notes|"
    r"international|nature\b|science\b|springer|phys\b|preprint|technical report|tech\. rep|"
    r"phd|ph\.d|master|https?:|doi|url\b|available|accessed|vol\b|volume|pp\b|pages|university)|"
    r"[^\W\d_][\w.&-]*(?: [\w.&-]+){0,8} \d{1,4} ?(?:[(,:]|\Z)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,\s*(?:(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?\s*)?"
    r"(?:18|19|20)\d\d[a-z]?|,\s*volume \d+.*|\s*\((?:18|19|20)\d\d[a-z]?\))[.\s]*\Z",
    re.IGNORECASE,
)


def parse_entry(raw: str, key: str, *, fields_by: str = "pdf") -> BibEntry:
    """The entry's fields; identifiers are bare, titles plain, and what is not found is empty."""
    raw = " ".join(raw.split())[:MAX_ENTRY]
    text = _LABEL.sub("", raw, count=1) if _LABEL.match(raw) else raw
    arxiv, doi, url = _identifiers(text)
    plain = _strip_addresses(text)
    names, year, rest = _parts(plain)
    title, after = _title(rest)
    return BibEntry(
        key=key,
        raw=raw,
        title=title,
        authors=tuple(authors_of(names)),
        year=year or _last_year(plain),
        venue=_venue(after),
        arxiv=arxiv,
        doi=doi,
        url=url,
        fields_by=fields_by,
    )


def _identifiers(text: str) -> tuple[str | None, str | None, str | None]:
    """arXiv number, DOI and address; those of a printed page may be broken behind a full stop or a slash."""
    closed = _BROKEN.sub("", text)
    url = _URL.search(text)
    return arxiv_in(closed) or arxiv_doi(closed), doi_in(closed), url[0].rstrip(".,;:)]}>'”") if url else None


def _strip_addresses(text: str) -> str:
    """The entry without web addresses and DOIs, whose dots and digits would mislead."""
    text = _URL.sub(" ", text)
    text = re.sub(r"\b(?:doi|URL|Available(?: online)?|Accessed|Retrieved)\b\s*:?\s*(?=\.|\s|\Z|10\.)", " ", text, flags=re.IGNORECASE)
    return " ".join(_DOI.sub(" ", text).split())


def _last_year(text: str) -> int | None:
    years = [int(found[1]) for found in _YEAR.finditer(text)]
    paren = re.findall(r"\(\s*(?:[A-Z][a-z]+\.?\s*)?((?:18|19|20)\d\d)[a-z]?\s*\)", text)
    return int(paren[-1]) if paren else years[-1] if years else None


def _parts(text: str) -> tuple[str, int | None, str]:
    """Names, a year that stands right after them, and the rest."""
    quoted = _QUOTED.search(text)
    if quoted and (quoted.start() < 4 or is_names(text[: quoted.start()])):
        names = text[: quoted.start()]
        dated = _AFTER_NAMES.search(names + " ")
        return (names[: dated.start()] if dated else names), _year(dated[1]) if dated else None, text[quoted.start() :]
    for found in islice(_AFTER_NAMES.finditer(text), 2):
        if found.start() < 4 and found.start() >= 0:
            return "", _year(found[1]), text[found.end() :]
        if is_names(text[: found.start()]) and len(text) - found.end() > 8:
            return text[: found.start()], _year(found[1]), text[found.end() :]
    names, rest = _names_then(text)
    return names, None, rest


def _year(text: str) -> int | None:
    return int(text[:4]) if text[:4].isdigit() else None


def _names_then(text: str) -> tuple[str, str]:
    """Names at the head of an entry without a year after them, and the rest."""
    if stop := _names_stop(text):
        return text[:stop], text[stop + 1 :].strip()
    for pattern in (SURNAME_FIRST, VANCOUVER, INITIAL_FIRST):
        end, count = run(text, pattern)
        if not count:
            continue
        rest = text[end:]
        if pattern is INITIAL_FIRST and rest.lstrip()[:1] not in {",", ":", "."}:
            continue
        if count >= 2 or pattern is not VANCOUVER or rest[:1] in {".", ":"}:
            if edited := EDITORS.match(rest):
                rest = rest[edited.end() :]
            return text[:end], rest.lstrip(" .,:;")
    head, comma, rest = text.partition(", ")
    if comma and is_names(head) and len(head.split()) >= 2 and not _is_titled(text):
        return _comma_names(text)
    return "", text


def _names_stop(text: str) -> int:
    """The full stop that ends full names at the head of the entry, or 0; surnames with initials are told by their own form."""
    if SURNAME_FIRST.match(text):
        return 0
    first = next(iter(full_stops(text, limit=1)), 0)
    return first if first and is_names(text[:first]) else 0


def _is_titled(text: str) -> bool:
    """Whether the entry opens with a title: its first sentence is long and mostly in small letters."""
    words = text.split(". ", 1)[0].split(",", 1)[0].split()
    return sum(word[:1].islower() for word in words) >= 2


def _comma_names(text: str) -> tuple[str, str]:
    """Full names between commas: as many pieces as read like names."""
    end = 0
    for found in re.finditer(r",\s+(?:and\s+)?", text):
        piece = text[end : found.start()]
        if not is_names(piece) or len(piece.split()) > 5:
            break
        end = found.end()
    return text[:end].rstrip(", "), text[end:]


def _title(rest: str) -> tuple[str, str]:
    """The title at the head of `rest`, and what follows it."""
    rest = rest.strip()
    if _has_no_title(rest):
        return "", rest
    if (quoted := _QUOTED.match(rest)) and len(quoted[1].split()) >= 2:
        return _clean(quoted[1]), rest[quoted.end() :].lstrip(" ,.;")
    stops = full_stops(rest, limit=6)
    end = stops[0] if stops else len(rest)
    sentence = rest[:end]
    if cut := _comma_end(sentence):
        end = cut
    question = rest[end : end + 1] in {"?", "!"}
    return _clean(rest[: end + question]), rest[end + 1 :].lstrip(" ,.;")


_VOLUME = re.compile(
    r"(?:New |Class |Nucl |Int )?(?:[A-Z][A-Za-z]{0,9}\.\s{0,2}){1,6}(?:[A-Z]{1,2}\s?)?\(?\d{1,4}\b|"
    r"(?:Nature|Science|JCAP|ApJ|PRL|Physics Reports)\b[\s,:]*\(?\d|arXiv:"
)


def _has_no_title(rest: str) -> bool:
    """Whether a journal's abbreviation and a volume stand where a title would (physics)."""
    return _VOLUME.match(rest) is not None


def _comma_end(sentence: str) -> int | None:
    """Where a title between commas ends: before the piece that reads like a venue."""
    for comma in re.finditer(r",\s+|\s+(?=In:? [A-Z])", sentence):
        if comma.start() > 15 and _VENUE.match(sentence, comma.end()) and len(sentence[: comma.start()].split()) >= 3:
            return comma.start()
    return None


def _clean(title: str) -> str:
    title = _TAIL.sub("", title[:1000].strip(' ,;:“”"‘’`'))
    title = re.sub(r"\s*\[(?:online|internet|[A-Z]{1,3})\]\s*\Z", "", title, flags=re.IGNORECASE)
    return title.strip(' .,;:“”"')


def _venue(after: str) -> str:
    after = re.sub(r"\A(?:In:?|in)\s+", "", after.strip())
    if edited := re.match(r".{3,300}?[,\s(](?:editors?|eds?\.)\)?,\s*", after):
        after = after[edited.end() :]
    after = after[: next(iter(full_stops(after, limit=1)), len(after))]
    end = re.search(r",\s*(?:pages?|pp|vol|volume|\(?\d|[A-Z][a-z]+ \d{4})|\s\d+\s*[:(,]|\s\(\d|,\s|\s(?:19|20)\d\d\Z|\s\d+\Z", after)
    return after[: end.start() if end else 160].strip(" ,.;:")[:160]
