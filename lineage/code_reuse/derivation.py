"""Who took which function from whom, and what was changed: exact, renamed and adapted copies between repositories. Pure.

`lineage.code_reuse.reuse` counts what is the same word for word; this finds near copies too (`lineage.code_reuse.clones`) and tells each in
words: the direction, by citation and date, and the changes, first those that alter a number or name only, for they are
what a reproduction trips over.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from lineage.code_links.cues import bare
from lineage.code_reuse import clones
from lineage.code_reuse.reuse import HOMES, has_lines, is_boilerplate, is_vendored
from lineage.records import CodeLink, Document, Reference, Work, WorkId
from lineage.sealed import Kept

VERSION = "derivations@1"
"""What a change of the rules here or in `lineage.code_reuse.reuse` raises."""
DEFINITIONS = frozenset({"function", "method"})
MOST = 2000
"""Copies that are kept, most alike first."""
CHANGES = 6
"""Changes of a copy that are told one by one."""
SURE = 0.6
"""Similarity from which on a pair needs nothing else to be believed: of 36 such pairs read by eye 36 were copies."""
LIKELY = 0.45
"""From here on a sure pair between the same two repositories is enough; below, one between the same two files."""
_SHOWN = 70
_LITERAL = re.compile(r"(?<![\w.])[+-]?\d[\w.]*(?:[eE][+-]?\d+)?|\"[^\"\n]*\"|'[^'\n]*'|\b(?:True|False|None)\b")
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\S")

Kind = Literal["exact", "renamed", "adapted"]


@dataclass(frozen=True)
class Place:
    """A definition in a repository: its file, its lines (from 1, both ends included) and its qualified name."""

    work: WorkId
    path: str
    start_line: int
    end_line: int
    symbol: str


@dataclass(frozen=True)
class Derivation(Kept):
    """One function that two repositories share: `taker` has it from `source`, if `why` says how that is known.

    Where nothing tells the direction `why` is empty and the two are in the order of their names; it is empty too where both
    have the function from `common`, a repository that the lineage does not hold. `similarity` (0..1) is the Jaccard
    similarity of their token shingles; `changes` says what `taker` has otherwise.
    """

    source: Place
    taker: Place
    kind: Kind
    similarity: float
    changes: tuple[str, ...] = ()
    why: str = ""
    common: str = ""


@dataclass(frozen=True)
class Ages:
    """What tells which of two repositories had a function first: the papers they belong to, who cites whom, when they began."""

    papers: Mapping[str, frozenset[WorkId]]
    cites: frozenset[tuple[WorkId, WorkId]]
    begun: Mapping[str, str]

    @classmethod
    def of(cls, works: Iterable[Work], links: Iterable[CodeLink], references: Iterable[Reference]) -> Ages:
        """From the graph of a lineage."""
        papers: dict[str, set[WorkId]] = defaultdict(set)
        for link in links:
            if link.tier.own:
                papers[link.repo.lower()].add(link.paper)
        begun = {work.id.lower(): str(work.meta.get("created") or work.year or "") for work in works if work.kind == "code"}
        own = {paper for paper_ids in papers.values() for paper in paper_ids}
        cites = ((reference.citing, reference.cited) for reference in references)
        return cls(
            {repo: frozenset(paper_ids) for repo, paper_ids in papers.items()}, frozenset(pair for pair in cites if own.issuperset(pair)), begun
        )

    def told(self) -> tuple[object, ...]:
        """All of it, in one order."""
        return sorted((repo, sorted(papers)) for repo, papers in self.papers.items()), sorted(self.cites), sorted(self.begun.items())

    def why(self, source: WorkId, taker: WorkId) -> str:
        """Why `taker` has it from `source`; empty if nothing says so."""
        of_source, of_taker = (self.papers.get(work.lower(), frozenset[WorkId]()) for work in (source, taker))
        for paper in sorted(of_taker):
            for cited in sorted(of_source):
                if (paper, cited) in self.cites and (cited, paper) not in self.cites:
                    return f"{paper} cites {cited}"
        before, after = self.begun.get(source.lower(), ""), self.begun.get(taker.lower(), "")
        common_length = min(len(before), len(after), 10)
        return f"begun {before[:10]}, before {after[:10]}" if common_length >= 4 and before[:common_length] < after[:common_length] else ""


def derivations(documents: Iterable[Document], ages: Ages, sketch: clones.Sketching = clones.sketches) -> tuple[Derivation, ...]:
    """Every function that two repositories share, most alike first; of many copies in one repository the best counts."""
    documents = tuple(documents)
    places, texts = _units(documents)
    origins = Origins.of(documents)
    numbers = {work: n for n, work in enumerate(sorted({place.work for place in places}))}
    pairs = clones.pairs([numbers[place.work] for place in places], texts, sketch)
    best = _believed(_best(pairs, places), places)[:MOST]
    candidate_derivations = (
        _derivation(places[pair.one], places[pair.other], texts[pair.one], texts[pair.other], pair.similarity, (ages, origins)) for pair in best
    )
    return tuple(
        sorted(
            candidate_derivations,
            key=lambda derivation: (
                -derivation.similarity,
                derivation.source.work,
                derivation.source.path,
                derivation.source.start_line,
                derivation.taker.work,
            ),
        )
    )


def _units(documents: Iterable[Document]) -> tuple[list[Place], list[str]]:
    places, texts = [], []
    for document in documents:
        if document.kind != "code" or is_boilerplate(document.path):
            continue
        newlines = [match.start() for match in re.finditer("\n", document.text)]
        for span in document.spans:
            text = document.text[span.start : span.end] if span.role in DEFINITIONS else ""
            if text and has_lines(text):
                first = bisect_left(newlines, span.start) + 1
                symbol = ".".join(span.path)
                places.append(Place(document.work, document.path, first, first + text.rstrip("\n").count("\n"), symbol))
                texts.append(text)
    return places, texts


def _best(pairs: Sequence[clones.Pair], places: Sequence[Place]) -> list[clones.Pair]:
    """The pairs in which each function has its best match in the other repository; what many repositories hold is nobody's."""
    taken: set[tuple[int, WorkId]] = set()
    homes: dict[int, set[WorkId]] = defaultdict(set)
    best_derivations = []
    for pair in pairs:
        place, other = places[pair.one], places[pair.other]
        homes[pair.one].add(other.work)
        homes[pair.other].add(place.work)
        if (pair.one, other.work) in taken or (pair.other, place.work) in taken or (is_vendored(place.path) and is_vendored(other.path)):
            continue
        taken |= {(pair.one, other.work), (pair.other, place.work)}
        best_derivations.append(pair)
    return [pair for pair in best_derivations if max(len(homes[pair.one]), len(homes[pair.other])) < HOMES]


def _believed(pairs: Sequence[clones.Pair], places: Sequence[Place]) -> list[clones.Pair]:
    """The pairs that are no coincidence: alike enough, of one qualified name, or beside a sure one."""
    files, works = set(), set()
    for pair in pairs:
        if pair.similarity >= SURE:
            place, other = places[pair.one], places[pair.other]
            works.add((place.work, other.work))
            files.add((place.work, place.path, other.work, other.path))

    def holds(pair: clones.Pair) -> bool:
        first_place, other = places[pair.one], places[pair.other]
        if pair.similarity >= SURE or (first_place.symbol == other.symbol and "." in first_place.symbol):
            return True
        beside = (first_place.work, other.work) in works or (other.work, first_place.work) in works
        same = (first_place.work, first_place.path, other.work, other.path) in files or (
            other.work,
            other.path,
            first_place.work,
            first_place.path,
        ) in files
        return same or (pair.similarity >= LIKELY and beside)

    return [pair for pair in pairs if holds(pair)]


def _derivation(place: Place, other: Place, text: str, text_of_other: str, similarity: float, known: tuple[Ages, Origins]) -> Derivation:
    ages, origins = known
    forth, back = ages.why(place.work, other.work), ages.why(other.work, place.work)
    if (back and not forth) or (not forth and other.work < place.work):
        place, other, text, text_of_other, forth = other, place, text_of_other, text, back
    kind, changes = compared(text, text_of_other)
    common = origins.common(place.work, place.path, other.work, other.path) if forth else ""
    return Derivation(place, other, kind, similarity, changes, "" if common else forth, common)


def compared(source: str, taken: str) -> tuple[Kind, tuple[str, ...]]:
    """How a copy differs from its source: its kind, and the changes in words."""
    renamed = _renamed(source, taken)
    if renamed is None:
        before, after = ([line.strip() for line in text.splitlines() if line.strip()] for text in (source, taken))
        return "adapted", tuple(_changes(before, after))
    rename_notes = tuple(f"{old} is called {new}" for old, new in list(renamed.items())[:CHANGES])
    return ("renamed" if rename_notes else "exact"), rename_notes


def _renamed(source: str, taken: str) -> dict[str, str] | None:
    """The names that were changed, if nothing else was; None otherwise."""
    olds, news = _WORD.findall(source), _WORD.findall(taken)
    if len(olds) != len(news):
        return None
    names: dict[str, str] = {}
    for old, new in zip(olds, news, strict=True):
        if not (_NAME.match(old) and _NAME.match(new)):
            if old != new:
                return None
        elif names.setdefault(old, new) != new:
            return None
    return {old: new for old, new in names.items() if old != new} if len(set(names.values())) == len(names) else None


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Lines that differ in a literal one by one, then how many lines were added and left out."""
    added = removed = literal_changes = 0
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after).get_opcodes():  # without its `autojunk` repeated lines cost their square
        if tag == "equal":
            continue
        if tag == "replace" and b - a == d - c:
            for old, new in zip(before[a:b], after[c:d], strict=True):
                if literal_changes < CHANGES and (changed_literals := _literals(old, new)):
                    literal_changes += 1
                    yield changed_literals
                else:
                    added, removed = added + 1, removed + 1
            continue
        added, removed = added + d - c, removed + b - a
    if added or removed:
        yield f"{added} lines added, {removed} removed"


def _literals(old: str, new: str) -> str:
    """`x = 1e-3` -> `1e-4`, if two lines differ in literals only."""
    if _LITERAL.sub("0", old) != _LITERAL.sub("0", new):
        return ""
    pairs = [(a, b) for a, b in zip(_LITERAL.findall(old), _LITERAL.findall(new), strict=True) if a != b]
    return f"{', '.join(f'{a} -> {b}' for a, b in pairs)} in `{new[:_SHOWN]}`" if pairs else ""


HEAD = 2000
"""Characters of a file in which it says where it comes from."""
_TAKEN = re.compile(
    r"\b(?:adapt(?:ed|s)|based (?:up)?on|borrow(?:ed|s)|buil(?:d|ds|ding|t) (?:up)?on|copied|derive[ds]|fork(?:ed)?|modified|ported|taken)\b",
    re.IGNORECASE,
)
_AFTER = 300
_REPOSITORY = re.compile(r"(?<![\w.-])github\.com/([\w.-]{1,60})/([\w.-]{1,100})", re.IGNORECASE)


class Said(NamedTuple):
    """OWNER/NAME that code is said to come from, and the words of it."""

    origin: str
    words: str


@dataclass(frozen=True)
class Origins:
    """What is said of where code comes from: by README of a work, by the head of a file; `named` are all repositories that a work names."""

    stored: frozenset[str] = frozenset()
    works: Mapping[WorkId, frozenset[Said]] = field(default_factory=dict)
    files: Mapping[tuple[WorkId, str], frozenset[Said]] = field(default_factory=dict)
    named: Mapping[WorkId, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Origins:
        """What the documents of repositories say."""
        stored: set[str] = set()
        works: dict[WorkId, frozenset[Said]] = {}
        files: dict[tuple[WorkId, str], frozenset[Said]] = {}
        named: dict[WorkId, frozenset[str]] = {}
        for document in documents:
            stored.add(_name(document.work))
            if is_readme(document.path):
                works[document.work] = works.get(document.work, _NONE) | {*taken(document.text)}
                named[document.work] = named.get(document.work, frozenset()) | {_written(match) for match in _REPOSITORY.finditer(document.text)}
            elif document.kind == "code" and (saids := frozenset(taken(document.text[:HEAD]))):
                files[document.work, document.path] = saids
        return cls(frozenset(stored), works, files, named)

    def common(self, source: WorkId, path: str, taker: WorkId, taken_path: str) -> str:
        """The repository that both have a file from, "" if nothing says so: one that is not stored, of a taker that does not name the source.

        What both say in the same words came with the copy.
        """
        mine, theirs = self.files.get((taker, taken_path), _NONE), self.files.get((source, path), _NONE)
        if _name(source) in {*(shared_origin.origin for shared_origin in mine), *self.named.get(taker, ())}:
            return ""
        mine, theirs = mine | self.works.get(taker, _NONE), theirs | self.works.get(source, _NONE)
        copied = {shared_origin.origin for shared_origin in mine & theirs}
        both = {shared_origin.origin for shared_origin in mine} & {shared_origin.origin for shared_origin in theirs}
        return min(both - copied - self.stored, default="")


_NONE: frozenset[Said] = frozenset()


def is_readme(path: str) -> bool:
    """Whether a file introduces its repository."""
    return "/" not in path and path.lower().startswith("readme")


def taken(text: str) -> Iterator[Said]:
    """Each repository that a text says something was taken from, in the paragraph that says so."""
    for match in _TAKEN.finditer(text):
        after = text[match.end() : match.end() + _AFTER].partition("\n\n")[0]
        yield from (Said(_written(origin_match), bare(match[0] + after[: origin_match.end()])) for origin_match in _REPOSITORY.finditer(after))


def _written(match: re.Match[str]) -> str:
    return f"{match[1]}/{match[2].removesuffix('.git').rstrip('.')}".lower()


def _name(work: WorkId) -> str:
    return "/".join(work.lower().split("/")[-2:])
