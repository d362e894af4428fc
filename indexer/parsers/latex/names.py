"""Lists of people, as BibTeX writes them and as bibliographies print them."""

from __future__ import annotations

import re

from indexer.parsers.latex.plain import plain

MAX_PEOPLE = 5_000
MAX_LIST = 100_000
_AND = re.compile(r"[{}]|\s+and\s+", re.IGNORECASE)
_SPLIT = re.compile(r"\s*[,;]\s*(?:and\b|&)\s*|\s+(?:and|&)\s+|\s*[,;]\s*")
_INITIALS = re.compile(r"(?:[^\W\d_a-z][a-z]?\.[ -]{0,2}|[^\W\d_a-z](?![^\W\d_A-Z])[ -]?){1,6}\Z")
_YEAR_END = re.compile(r"[\s,(\[]*\b(?:19|20)\d\d[a-z]?\b[).\]]*\s*\Z")
_ETAL = re.compile(r",?\s*\b(?:et\.?\s+al\.?|and others|others)(?=[\s,.;)]|\Z)\.?", re.IGNORECASE)
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
    text = _EDITORS.sub("", _ETAL.sub("", _YEAR_END.sub("", text.strip()))).strip(" ,;:")
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
        return _one_person(names[0]) or bool(_YEAR_END.search(text) or _ETAL.search(text))
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
