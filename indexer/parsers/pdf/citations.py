"""Find every citation in the text, with its sentence, its section and what is cited beside it.

Link annotations are exact and come first. Without them the printed forms are read: [12, 14-16], raised numbers,
[ABC+20], (Author et al., 2020; Other, 2019a) and Author (2020), each matched against the entries.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from indexer.parsers.pdf.flow import FlowWriter, Places
from indexer.parsers.pdf.page import PdfLink, runs_of
from indexer.parsers.sentences import Sentences
from lineage.records import BibEntry, Mention, Span

_GROUP = re.compile(r"\[\s*(\d{1,4}(?:\s*[,;–—-]\s*\d{1,4}){0,40})(?:\s*,\s*[^\[\]\d][^\[\]]{0,40})?\s*\]")
_RANGE_END = re.compile(r"\s?[–—-]\s?\[(\d{1,4})\]")
_RANGE = re.compile(r"(\d{1,4})\s*[–—-]\s*(\d{1,4})|(\d{1,4})")
_ALPHA_GROUP = re.compile(r"\[([^\[\]]{2,120})\]")
_NAME = (
    r"(?:\b[^\W\d_a-z]\.[ -]?(?:\b[^\W\d_]\.[ -]?){0,3})?(?:(?:van|von|der|den|de|del|della|di|da|dos|la|le|el|al|bin|ten|ter)\s){0,3}"
    r"[^\W\d_a-z][\w'’ʼ-]{1,30}(?: [^\W\d_a-z][\w'’ʼ-]{1,30})?"
)
_YEARS = r"(?:n\.\s?d\.|(?:1[89]|20)\d\d[a-z]?(?:\s?,\s?(?:(?:1[89]|20)\d\d[a-z]?|[a-z]\b)){0,6})"
_AUTHOR_YEAR = re.compile(
    rf"(?P<one>{_NAME})(?:\s+et\.?\s+al\.?|(?:,\s{_NAME}){{0,3}},?\s+(?:and|&)\s+(?P<two>{_NAME}))?(?:’s|'s)?\s*[,(\[]{{0,2}}\s*(?P<years>{_YEARS})"
)
_COAUTHOR = re.compile(r"([^\W\d_a-z][\w'’ʼ-]{1,30}),\s(?:[^\W\d_a-z]{1,2}(?:-[^\W\d_a-z])?\s)?\Z")
"""A name with a comma before the last of two names, as Springer cites: (Li, Hoiem 2017)."""
_ADDRESS = re.compile(r"https?:|www\.|/")
_BRACKETS = re.compile(r"\([^()]{1,900}\)|\[[^\[\]]{1,300}\]")
_PROSE = frozenset({"paragraph", "abstract", "caption", "footnote", "list", "table", "text", "equation", "algorithm"})


@dataclass(frozen=True)
class CitationSpan:
    """Characters [start, end) that cite the entry `key`."""

    start: int
    end: int
    key: str


def cites(
    text: str, writer: FlowWriter, places: Places, links: Iterable[tuple[PdfLink, str]], entries: Sequence[BibEntry], labels: Mapping[str, str]
) -> list[CitationSpan]:
    """Everything that cites, by whichever witness; `links` come with the key they lead to, `labels` are printed label -> key."""
    placed_links = ((places.under(link.page, link.box), key) for link, key in links)
    # a citation broken over columns makes pdfTeX draw its link over the footnotes between them as well
    linked = [CitationSpan(*where, key) for where, key in placed_links if where and not _in_address(text, *where)]
    printed = [*_numbers(text, labels), *_alphabetic(text, labels), *_author_years(text, entries)]
    raised = _raised(text, writer, labels)
    for other in (raised, _in_parentheses(text, labels)) if not linked else ():
        # the rarer forms are read only where the usual ones are absent, and then only if they cite a good part
        if len({cite.key for cite in printed}) * 4 < len(entries) and len({cite.key for cite in other}) * 5 >= len(entries) * 2:
            printed += other
    return sorted(dict.fromkeys([*linked, *_unlinked(linked, printed, raised)]), key=lambda cite: (cite.start, cite.end))


def _unlinked(linked: Sequence[CitationSpan], printed: Sequence[CitationSpan], raised: Sequence[CitationSpan]) -> Iterator[CitationSpan]:
    """What is printed and not linked; of a range (3-7), LaTeX links its ends alone, and they prove what lies between."""
    at: dict[int, set[str]] = {}
    for cite in linked:
        for n in range(cite.start // 4, cite.end // 4 + 1):
            at.setdefault(n, set()).add(cite.key)
    ranges: dict[tuple[int, int], set[str]] = {}
    for cite in (*printed, *(raised if linked else ())):
        ranges.setdefault((cite.start, cite.end), set()).add(cite.key)
    for cite in printed:
        if not any(n // 4 in at for n in range(cite.start, cite.end)):
            yield cite
    for (start, end), keys in ranges.items():
        ends = {key for n in range(start // 4, (end - 1) // 4 + 1) for key in at.get(n, ())}
        if len(keys) > 2 and len(ends & keys) >= 2:
            yield from (CitationSpan(start, end, key) for key in sorted(keys - ends))


def _in_address(text: str, start: int, end: int) -> bool:
    """Whether characters stand in a web address."""
    word = re.search(r"\S*\Z", text[max(0, start - 200) : start])
    return _ADDRESS.search(text, start - len(word[0] if word else ""), end + 8) is not None


def _numbers(text: str, labels: Mapping[str, str]) -> Iterator[CitationSpan]:
    numbered = {label for label in labels if label.isdigit()}
    groups = list(_GROUP.finditer(text))
    touching = {group.start() for group in groups if group.start() and (text[group.start() - 1].isalnum() or text[group.start() - 1] == "_")}
    for group in groups:
        if group.start() in touching and len(touching) * 2 < len(groups):
            continue  # state[8] in a listing, where citations stand after a space
        cited_numbers = list(_expand(group[1]))
        yield from _between(text, group, labels)
        if cited_numbers and all(number in numbered for number, _, _ in cited_numbers):
            yield from (CitationSpan(group.start(1) + start, group.start(1) + end, labels[number]) for number, start, end in cited_numbers)


def _between(text: str, group: re.Match[str], labels: Mapping[str, str]) -> Iterator[CitationSpan]:
    """Every entry of "[3]–[7]", as IEEE prints a range."""
    if (last := _RANGE_END.match(text, group.end())) and group[1].isdigit() and 0 < int(last[1]) - int(group[1]) <= 30:
        for number in range(int(group[1]), int(last[1]) + 1):
            if str(number) in labels:
                yield CitationSpan(group.start(), last.end(), labels[str(number)])


def _expand(numbers: str) -> Iterator[tuple[str, int, int]]:
    """Each number of "3, 5-7" with its place."""
    for match in _RANGE.finditer(numbers):
        if match[3]:
            yield str(int(match[3])), match.start(), match.end()
        elif 0 < int(match[2]) - int(match[1]) <= 30:
            yield from ((str(n), match.start(), match.end()) for n in range(int(match[1]), int(match[2]) + 1))
        else:
            yield from ((str(int(n)), match.start(), match.end()) for n in (match[1], match[2]))


def _alphabetic(text: str, labels: Mapping[str, str]) -> Iterator[CitationSpan]:
    if not any(not label.isdigit() for label in labels):
        return
    for group in _ALPHA_GROUP.finditer(text):
        for part in re.finditer(r"[^\s,;]+", group[1]):
            if part[0] in labels and not part[0].isdigit():
                yield CitationSpan(group.start(1) + part.start(), group.start(1) + part.end(), labels[part[0]])


def _raised(text: str, writer: FlowWriter, labels: Mapping[str, str]) -> list[CitationSpan]:
    """Raised numbers, as Nature and the physics journals cite; never inside formulas or after a digit."""
    citation_spans: list[CitationSpan] = []
    for line, start in writer.places:
        for a, b in runs_of(line.raised):
            piece = text[start + a : start + b]
            before = text[max(0, start + a - 1) : start + a]
            if line.math > 0.3 or before.isdigit() or not re.fullmatch(r"[\d\s,;–—-]{1,40}", piece):
                continue
            numbers = list(_expand(piece))
            if numbers and all(number in labels for number, _, _ in numbers):
                citation_spans += [CitationSpan(start + a + s, start + a + e, labels[number]) for number, s, e in numbers]
    return citation_spans


def _in_parentheses(text: str, labels: Mapping[str, str]) -> list[CitationSpan]:
    """Numbers in round brackets, which equations have too."""
    citation_spans: list[CitationSpan] = []
    for group in re.finditer(r"(?<=[^\W\d] )\((\d{1,3}(?:\s?[,;–—-]\s?\d{1,3}){0,20})\)", text):
        numbers = list(_expand(group[1]))
        before = text[max(0, group.start() - 12) : group.start()]
        if all(number in labels for number, _, _ in numbers) and not re.search(r"(?:Eqs?\.?|quations?|Step|Figs?\.?) \Z", before):
            citation_spans += [CitationSpan(group.start(1) + start, group.start(1) + end, labels[number]) for number, start, end in numbers]
    return citation_spans


def fold(name: str) -> str:
    """A surname in small ASCII letters."""
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower())


def _surnames(author: str) -> set[str]:
    words = author.replace("’", "'").split()
    return {fold(" ".join(words[-n:])) for n in (1, 2, 3) if len(words) >= n} - {""}


def _author_years(text: str, entries: Sequence[BibEntry]) -> Iterator[CitationSpan]:
    index: dict[tuple[str, str], list[BibEntry]] = {}
    for entry in entries:
        for name in _surnames(entry.authors[0]) if entry.authors else ():
            index.setdefault((name, str(entry.year or "n.d.")), []).append(entry)
    for match in _AUTHOR_YEAR.finditer(text):
        for year, start, end in _each_year(match["years"]):
            names = [fold(match["one"]), fold(match["one"].split()[-1]), fold(match["one"].split("-")[-1])]
            if before := _COAUTHOR.search(text, max(0, match.start() - 80), match.start()):
                names.append(fold(before[1]))
            fitting = next((index[name, year[:4]] for name in names if (name, year[:4]) in index), [])
            if chosen := _choose(fitting, match["two"] or "", year):
                first = match.start() if start == 0 else match.start("years") + start
                yield CitationSpan(first, match.start("years") + end, chosen.key)


def _each_year(years: str) -> Iterator[tuple[str, int, int]]:
    last = ""
    if years.startswith("n"):
        yield "n.d.", 0, len(years)
        return
    for match in re.finditer(r"(?:1[89]|20)\d\d[a-z]?|\b[a-z]\b", years):
        last = match[0] if len(match[0]) > 1 else last[:4] + match[0]
        yield last, match.start(), match.end()


def _choose(fitting: Sequence[BibEntry], second: str, year: str) -> BibEntry | None:
    """The entry that fits best: by the letter after the year, then by the second author."""
    if len(fitting) > 1 and len(year) == 5:
        fitting = [entry for entry in fitting if year in entry.raw] or fitting
    if len(fitting) > 1 and second:
        fitting = [entry for entry in fitting if len(entry.authors) > 1 and fold(second) in _surnames(entry.authors[1])] or fitting
    return fitting[0] if fitting else None


def mentions(text: str, spans: Sequence[Span], citation_spans: Sequence[CitationSpan]) -> tuple[Mention, ...]:
    """One mention per entry and sentence; `found` in the order of the text."""
    company = _company(text, citation_spans)
    homes = [(span, Sentences(text[span.start : span.end])) for span in spans if span.role in _PROSE and span.start < span.end]
    seen: dict[tuple[str, int], Mention] = {}
    at = 0
    for cite in citation_spans:
        while at < len(homes) and homes[at][0].end <= cite.start:
            at += 1
        if at == len(homes) or cite.start < homes[at][0].start:
            continue
        span, inside = homes[at]
        start, end = (span.start + place for place in inside.around(cite.start - span.start))
        seen.setdefault(
            (cite.key, start),
            Mention(cite.key, _plain(text[start:end]), span.path, start, end, company[cite], "pdf", printed=_plain(text[cite.start : cite.end])),
        )
    return tuple(seen.values())


def _plain(text: str) -> str:
    return " ".join(text.split())


def _company(text: str, citation_spans: Sequence[CitationSpan]) -> dict[CitationSpan, tuple[str, ...]]:
    """The keys cited in the same bracket, in order, the cite's own among them."""
    company: dict[CitationSpan, tuple[str, ...]] = {cite: (cite.key,) for cite in citation_spans}
    at = 0
    for bracket in _BRACKETS.finditer(text):
        while at < len(citation_spans) and citation_spans[at].end <= bracket.start():
            at += 1
        inside = []
        n = at
        while n < len(citation_spans) and citation_spans[n].start < bracket.end():
            inside.append(citation_spans[n])
            n += 1
        keys = tuple(dict.fromkeys(cite.key for cite in inside))
        company.update(dict.fromkeys((cite for cite in inside if cite.end <= bracket.end() + 1), keys))
    return company
