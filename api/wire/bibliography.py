"""References as BibTeX, CSL-JSON and RIS, for reference managers. Everything in them was written by strangers: it is escaped, one line each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from lineage import ids
from lineage.records import Reference, Work
from lineage.text.hidden_text import inline

_KEY = re.compile(r"(?!ref-\d)[A-Za-z][\w:.+/-]{0,79}\Z", re.ASCII)
_PREPRINT = re.compile(r"arxiv|corr\b|preprint|\Z", re.IGNORECASE)
_MEETING = re.compile(r"conference|proceeding|workshop|symposium|meeting|neural information|computer vision|advances in", re.IGNORECASE)
_PARTICLES = re.compile(r"(?:af|al|bin|da|de|del|della|den|der|di|dos|du|la|le|ten|ter|van|vom|von|zu|zur)\Z")
_SUFFIXES = frozenset(("Jr", "Jr.", "Sr", "Sr.", "II", "III", "IV"))
_GROUPS = frozenset(("Team", "Group", "Collaboration", "Consortium", "Project"))
_TEX = {
    **{c: f"\\{c}" for c in "$&%#_"},
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_BIBTEX = {"article": ("article", "journal"), "meeting": ("inproceedings", "booktitle"), "preprint": ("misc", ""), "code": ("misc", "")}
_CSL = {"article": "article-journal", "meeting": "paper-conference", "preprint": "article", "code": "software"}
_RIS = {"article": "JOUR", "meeting": "CONF", "preprint": "UNPB", "code": "COMP"}


@dataclass(frozen=True)
class _Item:
    """What a reference manager wants of a work. `authors` are (family, given, suffix), a group's name alone in the first."""

    key: str
    kind: str
    title: str
    authors: tuple[tuple[str, str, str], ...]
    year: int | None
    venue: str
    doi: str
    arxiv: str
    url: str


@dataclass(frozen=True)
class RankedReference(Reference):
    """An edge of the citation graph with its roles, score and reasons, and the cited work."""

    work: Work | None = None


def bibliography(references: Iterable[RankedReference], form: str) -> str:
    """The references in one of the forms, each under the paper's own citation key where that is one."""
    items = tuple(_items(references))
    if form == "csl-json":
        return json.dumps([_csl(item) for item in items], ensure_ascii=False, indent=1) + "\n"
    return "\n".join(map(_bibtex if form == "bibtex" else _ris, items))


def _items(references: Iterable[RankedReference]) -> Iterator[_Item]:
    taken: set[str] = set()
    for reference in references:
        work = reference.work
        title = " ".join(inline(work.title if work and work.title else reference.raw or reference.cited).split())
        authors = tuple(_name(inline(author)) for author in (work.authors if work else ()) if author.strip())
        venue, year = (inline(work.venue).strip(), work.year) if work else ("", None)
        names = (reference.cited, *(work.aliases if work else ()))
        code = bool(work and work.kind == "code")
        kind = "code" if code else "preprint" if _PREPRINT.match(venue) else "meeting" if _MEETING.search(venue) else "article"
        venue = "" if kind == "preprint" else venue
        arxiv, doi = _bare(names, "arxiv:"), _bare(names, "doi:")
        key = _free(reference.key if _KEY.match(reference.key) else _made(authors, year, title), taken)
        yield _Item(key, kind, title, authors, year, venue, doi, arxiv, ids.abs_url(reference.cited) or "")


def _bare(names: Iterable[str], scheme: str) -> str:
    return next((inline(name.removeprefix(scheme)) for name in names if name.startswith(scheme)), "")


def _made(authors: tuple[tuple[str, str, str], ...], year: int | None, title: str) -> str:
    words = [re.sub(r"[^A-Za-z0-9]", "", text).lower() for text in (authors[0][0] if authors else "", str(year or ""), title.partition(" ")[0])]
    return "ref" + "".join(words) if not words[0] else "".join(words)[:60]


def _free(key: str, taken: set[str]) -> str:
    free = next(name for name in chain([key], (f"{key}-{n}" for n in count(2))) if name.lower() not in taken)
    taken.add(free.lower())
    return free


def _name(author: str) -> tuple[str, str, str]:
    """Family, given and suffix of a name as services write it."""
    family, comma, given = author.partition(",")
    words = author.split()
    if comma:
        return family.strip(), given.strip(), ""
    if len(words) < 2 or words[-1] in _GROUPS or any(c.isdigit() for c in author):
        return " ".join(words), "", ""
    suffix = words.pop() if words[-1] in _SUFFIXES and len(words) > 2 else ""
    at = next((n for n, word in enumerate(words[:-1]) if n and _PARTICLES.match(word)), len(words) - 1)
    return " ".join(words[at:]), " ".join(words[:at]), suffix


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)


def _verbatim(address: str) -> str:
    """An address, which TeX takes as it stands (biblatex: verbatim fields), without what would end its field."""
    return re.sub(r"[{}\\\s]", lambda c: f"%{ord(c[0]):02X}", address)


def _bibtex(item: _Item) -> str:
    kind, venue = _BIBTEX[item.kind]
    names = [
        ", ".join(map(_tex, filter(None, (family, suffix, given)))) if given else f"{{{_tex(family)}}}" for family, given, suffix in item.authors
    ]
    fields = {
        "title": f"{{{_tex(item.title)}}}",
        "author": " and ".join(re.sub(r"\band\b", "{and}", name) for name in names),
        "year": str(item.year or ""),
        venue: _tex(item.venue),
        "doi": _verbatim(item.doi),
        "eprint": _verbatim(item.arxiv),
        "archiveprefix": "arXiv" if item.arxiv else "",
        "url": _verbatim(item.url),
    }
    return f"@{kind}{{{item.key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if name and value) + "}\n"


def _csl(item: _Item) -> dict[str, Any]:
    names = [
        {"family": family, "given": given, **({"suffix": suffix} if suffix else {})} if given else {"literal": family}
        for family, given, suffix in item.authors
    ]
    values = {
        "id": item.key,
        "type": _CSL[item.kind],
        "title": item.title,
        "author": names,
        "issued": {"date-parts": [[item.year]]} if item.year else None,
        "container-title": item.venue,
        "number": f"arXiv:{item.arxiv}" if item.arxiv else "",
        "DOI": item.doi,
        "URL": item.url,
    }
    return {name: value for name, value in values.items() if value}


def _ris(item: _Item) -> str:
    rows = [("TY", _RIS[item.kind]), ("ID", item.key), ("TI", item.title)]
    rows += [("AU", ", ".join(filter(None, name))) for name in item.authors]
    rows += [
        ("PY", str(item.year or "")),
        ("T2", item.venue),
        ("DO", item.doi),
        ("AN", f"arXiv:{item.arxiv}" if item.arxiv else ""),
        ("UR", item.url),
    ]
    return "".join(f"{tag}  - {value}\n" for tag, value in rows if value) + "ER  - \n"
