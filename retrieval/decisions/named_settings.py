"""The details that a question names, those whose value it asks for, and the value that the target's chain of inheritance points to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lineage.hyperparameters.ontology import Ontology
from lineage.results import FactOccurrence
from lineage.text.tokens import STOP
from retrieval.decisions.consensus import consensus
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.irrelevant_mentions import measured
from retrieval.search.question_subject import Span, Subject, SubjectMatcher, called, mentions, subject

MOST = 3
_WORD = re.compile(r"[A-Za-z_][\w.-]{0,60}")
_SPOKEN = re.compile(r"[A-Za-z_][\w.@-]{0,60}|[,;?]")
_LONGEST = 4
_NUMBERS = frozenset(("number", "integer", "fraction"))
_WHAT = frozenset(("what", "which"))
_MEASURES = frozenset(("many", "much", "large", "long", "big", "high", "often", "far", "deep", "wide", "small", "strong", "low"))
_IS = frozenset(("is", "are", "was", "were"))
_JOINS = frozenset(("and", "or", ","))
_LEFT = (
    "is are was were does do did has have had can could will would should may might must be get gets of for in on at to from by with when where"
    " how that per after before during without into between than as what which ? ;"
)
_ENDS = frozenset(_LEFT.split())
"""A verb, a preposition or the next question ends the nouns whose value is asked for."""
_QUALIFIED = "default value values maximum minimum max min exact initial fixed specific"
_PASSED = STOP | frozenset(_QUALIFIED.split())
_SHARE = 0.4
_VAGUE = frozenset(("model", "models", "data", "dataset", "datasets", "method", "task", "loss", "training", "train", "name", "type", "used", "size"))


def named_details(question: str, known: Ontology) -> tuple[str, ...]:
    """Names of details in the order of the question; the longest phrase that is a name counts, its parts do not."""
    return tuple(dict.fromkeys(named.name for named in _named(question, known)))


class _Named(NamedTuple):
    """A detail that is named by so many words, between two places of the question."""

    name: str
    size: int
    span: Span


def _named(question: str, known: Ontology) -> list[_Named]:
    """The same with the words that name each."""
    places = list(_WORD.finditer(question))[:200]
    words = [place[0].rstrip(".-") for place in places]
    nameds: list[_Named] = []
    at = 0
    while at < len(words):
        size, name = next(((size, name) for size in range(_LONGEST, 0, -1) if (name := _name(words[at : at + size], size, known))), (1, ""))
        first = at + _qualifying(words[at : at + size], known)
        nameds += [_Named(name, size, (places[first].start(), places[at + size - 1].end()))] if name else []
        at += size
    return nameds


def _qualifying(words: Sequence[str], known: Ontology) -> int:
    """How many of the first words of a detail's name only say of what it is: "BERT's" tokenizer."""
    naming = known.naming(" ".join(words))
    scope = naming.scope.split("_") if naming else []
    return next((n for n, word in enumerate(words) if word.lower() not in scope), 0)


def asked_details(question: str, known: Ontology) -> tuple[str, ...]:
    """Names of the details whose value a question asks for: "which optimiser ...", "how many epochs ...", or nothing but names of numbers.

    "which parameters are excluded from weight decay?" names one and asks for something else, as "activation" alone may.
    """
    asked = [name for phrase in _interrogated(question) if (name := known.name_of(" ".join(phrase)))]
    if not asked and _asks_for(question, known, 1.0):
        asked = [name for name in named_details(question, known) if known.terms[name].type in _NUMBERS]
    return tuple(dict.fromkeys(asked))


def _interrogated(question: str) -> list[list[str]]:
    """The nouns right after "what", "which" or "how many", up to the verb or preposition; what "and" joins to them, apart."""
    words = _SPOKEN.findall(question)[:200]
    found: list[list[str]] = []
    at = 0
    while at < len(words):
        start = _after_interrogative([word.lower() for word in words[at : at + 3]])
        at += start or 1
        if not start:
            continue
        phrases: list[list[str]] = [[]]
        while at < len(words) and (word := words[at].lower()) not in _ENDS and len(phrases[-1]) < _LONGEST:
            if word in _JOINS:
                phrases.append([])
            elif word not in _PASSED:
                phrases[-1].append(words[at])
            at += 1
        found += filter(None, phrases)
    return found


def _after_interrogative(words: Sequence[str]) -> int:
    """How many of the next words ask for what follows them; 0 if none."""
    if words[0] in _WHAT:
        return 2 if words[1:2] and words[1] in _IS else 1
    return 2 if words[0] == "how" and words[1:2] and words[1] in _MEASURES else 0


def _asks_for(question: str, known: Ontology, share: float = _SHARE) -> bool:
    """Whether details are what is asked for: so many of the words that tell are their names."""
    telling = [word for word in _WORD.findall(question) if word.lower() not in _VAGUE | _PASSED]
    return sum(named.size for named in _named(question, known)) >= share * len(telling)


def _name(words: list[str], size: int, known: Ontology) -> str:
    if len(words) < size or words[0].lower() in STOP or words[-1].lower() in STOP or (size == 1 and words[0].lower() in _VAGUE):
        return ""
    found = known.name_of(" ".join(words)) or ""
    naming = known.naming(words[0]) if size == 1 else None
    # `ImageNet` is no net that a question asks for
    return "" if naming and naming.scope and known.terms[found].type == "text" else found


def subject_of(question: str, known: Ontology, target: frozenset[str] = frozenset()) -> Subject:
    """What a question is about besides the details that it names; `target` are the folded names of the target."""
    return subject(question, [named.span for named in _named(question, known)], known, target)


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
    asked, named, sure = asked_details(question, known), named_details(question, known), _asks_for(question, known)
    wanted = [name for name in named if name in asked or (sure and not asked)]
    best = [_best(name, holders, known, speakers, about) for name in wanted]
    open_ = sure or not (about.names or about.hints)
    return tuple([occurrence for occurrence in best if occurrence and (open_ or speakers.hinted(occurrence, about))][:MOST])


def _best(name: str, holders: FactIndex, known: Ontology, speakers: SubjectMatcher, about: Subject) -> FactOccurrence | None:
    """The first holder of a detail, by what its lineage agrees on, that speaks most of a question's subject."""
    values = consensus(holders, name, known).values if holders.of(name) else ()
    return speakers.best([occurrence for value in values for occurrence in value.held if occurrence.fact.literal and not measured(occurrence)], about)
