"""The values that a question asks for: of each detail the one that the target's chain of inheritance points to."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.hyperparameters.ontology import Ontology
from lineage.results import FactOccurrence
from retrieval.decisions.consensus import consensus
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.irrelevant_mentions import measured
from retrieval.decisions.subject_matcher import SubjectMatcher, mentions
from retrieval.search.question_subject import Subject, asked_details, asks_for, called, named_details, subject_of

MOST = 3


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
