"""Which holders of a value speak of what a question is about (pure).

A holder speaks of what stands in its scope, path, headings, row or sentence, and in the command that it is part of; what a program
takes if nobody says otherwise is spoken of by the commands that run it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.records import WorkId
from lineage.results import FactOccurrence
from retrieval.decisions.consensus import consensus
from retrieval.decisions.experiment_folders import Folders
from retrieval.decisions.experiments import telling
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.provenance import BEGINS, command_of, is_own_code, line_at, measured, sentences_of
from retrieval.search.question_subject import (
    LONGEST,
    Subject,
    asked_details,
    asks_for,
    called,
    named_details,
    names_spoken,
    subject_of,
    words_of,
    works_folded,
)

_OTHER = re.compile(r"(?:,|\band\b|\bor\b)\s{1,3}(?=\$?\d[\w.,^{}\\-]{0,20}\$?\s(?:for|on|in|with)\b)")
"""What stands before the next of several values, each of something else: "2048 for A and 1024 for B"."""
MOST = 3


class _Rank(NamedTuple):
    """Orders holders: those that speak of a name; that stand in no other experiment's folder; the target's own where it speaks nearly, the
    work that is named, the target's own; by how many names are spoken of near the value, in its scope, around it; by hints."""

    speaks: bool
    inside: bool
    standing: int
    near: int
    scope: int
    around: int
    hints: int


@dataclass(frozen=True)
class SubjectMatcher:
    """The facts of a lineage by name, and what each speaks of."""

    held: Mapping[str, Sequence[FactOccurrence]]

    @cached_property
    def _run(self) -> Mapping[tuple[WorkId, str], frozenset[str]]:
        """The words of the commands that run each program of each work."""
        found: dict[tuple[WorkId, str], set[str]] = defaultdict(set)
        for occurrence in (occurrence for some in self.held.values() for occurrence in some if occurrence.fact.kind == "command"):
            found[occurrence.fact.work, occurrence.fact.scope.rpartition("/")[2]] |= words_of(
                f"{_saying(occurrence)} {' '.join(occurrence.evidence.chunk.section[-1:])}"
            )
        return {place: frozenset(words) for place, words in found.items()}

    @cached_property
    def _folders(self) -> Folders:
        """The folders of the target's own code that are an experiment each."""
        return Folders.of_files(occurrence.evidence.file for some in self.held.values() for occurrence in some if is_own_code(occurrence))

    def best(self, some: Sequence[FactOccurrence], about: Subject) -> FactOccurrence | None:
        """The first of those that speak most of a subject; none where it names something that nobody speaks of, or only others than the
        target do, which has values of its own: one value of its own is for all that it speaks of."""
        if about.own:
            some = [occurrence for occurrence in some if occurrence.evidence.from_target]
        ranked = [(self._rank(occurrence, about), occurrence) for occurrence in some]
        rank, first = max(ranked, key=lambda row: row[0], default=(None, None))
        if rank is None or not about.names:
            return first
        own = [occurrence for occurrence in some if occurrence.evidence.from_target]
        if rank.speaks and (rank.standing or not own):
            return first
        return own[0] if len({occurrence.fact.value for occurrence in own}) == 1 and self._knows(about) else None

    def hinted(self, occurrence: FactOccurrence, about: Subject) -> bool:
        """Whether a holder speaks of a name of a question, or of half of what else it hints at."""
        rank = self._rank(occurrence, about)
        return rank.speaks or (not about.names and 0 < len(about.hints) <= 2 * rank.hints)

    def _knows(self, about: Subject) -> bool:
        """Whether anything that the target's own text or code sets speaks of a name."""
        own = (occurrence for some in self.held.values() for occurrence in some if occurrence.evidence.from_target)
        return any(names_spoken(_text(occurrence) | self._near(occurrence), about) for occurrence in own)

    def _rank(self, occurrence: FactOccurrence, about: Subject) -> _Rank:
        text = _text(occurrence) if about.names else frozenset[str]()
        near, scope = (names_spoken(words, about, text) for words in (self._near(occurrence), words_of(occurrence.fact.scope)))
        around, whose = 0 if _parted(occurrence) else names_spoken(text, about), _is_of_named(occurrence, about)
        standing = 3 if near and occurrence.evidence.from_target else 2 if whose else int(occurrence.evidence.from_target)
        hints = len(about.hints & telling(f"{_place(occurrence)} {occurrence.fact.scope}")) if about.hints else 0
        return _Rank(bool(near or around or whose), self._inside(occurrence, about), standing, near, scope, around, hints)

    def _near(self, occurrence: FactOccurrence) -> frozenset[str]:
        """The words of where a holder stands and of what says it; a default is said with the commands that run its program."""
        run = self._run.get((occurrence.fact.work, occurrence.evidence.chunk.path.rpartition("/")[2])) if occurrence.fact.kind == "default" else None
        return words_of(f"{occurrence.fact.scope} {occurrence.fact.written} {_place(occurrence)} {_saying(occurrence)}") | (run or frozenset())

    def _inside(self, occurrence: FactOccurrence, about: Subject) -> bool:
        """Whether a holder stands outside of the folders of experiments, or in that of one which the question names."""
        experiment = self._folders.of(occurrence) if occurrence.evidence.from_target else ""
        return not experiment or experiment in self._folders.named(" ".join(word for name in about.names for word in name))


def _place(occurrence: FactOccurrence) -> str:
    chunk = occurrence.evidence.chunk
    return f"{chunk.path} {chunk.symbol} {' '.join(chunk.section)}"


def _is_of_named(occurrence: FactOccurrence, about: Subject) -> bool:
    """Whether a holder is of a work, other than the target, that is named, be it with a size: `SiT-XL` is asked of SiT."""
    work = occurrence.evidence.work
    whose = {fold(work.id.rpartition("/")[2]), fold(work.title.partition(":")[0])}
    return not occurrence.evidence.from_target and not whose.isdisjoint(works_folded(about))


def _text(occurrence: FactOccurrence) -> frozenset[str]:
    """The words of the passage of a paper."""
    return words_of(occurrence.evidence.chunk.text) if occurrence.evidence.work.kind == "paper" else frozenset()


def _parted(occurrence: FactOccurrence) -> bool:
    """Whether the passage of a value gives several, and says of what each is."""
    return occurrence.fact.kind == "prose" and _OTHER.search(occurrence.evidence.chunk.text) is not None


def mentions(occurrence: FactOccurrence, about: Subject) -> bool:
    """Whether the passage that holds a value has any word of a subject."""
    text = f"{occurrence.fact.work} {occurrence.fact.scope} {_place(occurrence)} {occurrence.evidence.chunk.text[:LONGEST]}"
    return names_spoken(words_of(text), about) > 0 or not about.hints.isdisjoint(telling(text))


def _saying(occurrence: FactOccurrence) -> str:
    """What says a value: the row of a table, the sentence up to the next value, the command with its lines, else the line."""
    if occurrence.fact.kind == "command":
        return command_of(occurrence)
    line = line_at(occurrence.evidence.chunk, occurrence.fact.line)
    if occurrence.fact.kind != "prose":
        return line
    said, here = sentences_of(occurrence)
    sentence = said[here] if here >= 0 else line
    return next((part for part in _OTHER.split(sentence) if occurrence.fact.said[:BEGINS] in part), sentence)


def speaking(question: str, occurrences: Sequence[FactOccurrence], known: Ontology) -> list[FactOccurrence]:
    """Those of the holders whose passage speaks of what a question is about; all where it is about details alone."""
    about = subject_of(question, known, frozenset().union(*(called(occurrence.evidence.work, [occurrence.fact.work]) for occurrence in occurrences)))
    return [occurrence for occurrence in occurrences if not (about.names or about.hints) or mentions(occurrence, about)]


def held_for(question: str, holders: FactIndex, known: Ontology) -> tuple[FactOccurrence, ...]:
    """For each detail that the question asks for, the holder of its best value that speaks most of what the question is about, if any does;
    at most `MOST`."""
    own = {
        occurrence.fact.work
        for some in holders.held.values()
        for occurrence in some
        if occurrence.evidence.from_target and occurrence.evidence.work.kind == "code"
    }
    about = subject_of(question, known, called(holders.target, own))
    speakers = SubjectMatcher(holders.held)
    asked, named, sure = asked_details(question, known), named_details(question, known), asks_for(question, known)
    wanted = [name for name in named if name in asked or (sure and not asked)]
    best = [_best(name, holders, known, speakers, about) for name in wanted]
    open_ = sure or not (about.names or about.hints)
    return tuple([occurrence for occurrence in best if occurrence and (open_ or speakers.hinted(occurrence, about))][:MOST])


def _best(name: str, holders: FactIndex, known: Ontology, speakers: SubjectMatcher, about: Subject) -> FactOccurrence | None:
    """The first holder of a detail, by what its lineage agrees on, that speaks most of a question's subject."""
    values = consensus(holders, name, known).values if holders.of(name) else ()
    return speakers.best([occurrence for value in values for occurrence in value.held if occurrence.fact.literal and not measured(occurrence)], about)
