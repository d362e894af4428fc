"""Which place decides what the paper leaves open: a chat model chooses among those that rules and search found.

It also names decisions that no list of details has; search looks for their places, and a row is made of each that a place decides.
A choice is a place that was shown and one of its lines, so nothing but what is stored can be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from lineage.records import ChunkKind, Hit, Query, WorkId
from lineage.results import Detail, Gap, Specification, Suggestion
from lineage.text.hidden_text import inline, own_words
from retrieval.decisions.target_text import OWN, section_weight
from retrieval.gaps.model_reader import QUOTED, Claim, Reader, ShownPlace, asking, fact_of, is_open, window_text, windows
from retrieval.search.batch import asked

MOST_ROWS, MOST_FURTHER, AT_ONCE = 30, 24, 6
"""Open rows that are looked at, further decisions, and those of one call."""
_OFFERED, _SEARCHED = 4, 6
_PLACES = 8
"""Places that are shown of a row: of its offers, of search, in all."""
_NEAR = 2
"""Lines from an offer's own within which a choice is that offer."""
_WEIGHT = 0.8
"""Of a further decision."""
_READ = 3
"""Windows of the target's text that one call for further decisions reads."""
_CODE: frozenset[ChunkKind] = frozenset(("code", "config"))
_CHOICE = """You know machine-learning code. A paper leaves each decision below open; places in works that it cites follow, with their lines
numbered. For each decision choose the places that decide it as the paper's authors most likely took it over, at most three, best first: of the
work that the paper builds this part on before others, of training before tests and demonstrations, where the thing itself is done or set before
where it is only passed on. Give the number of the decision, the number of the place and the line that decides. Leave out a decision that no place
decides."""
_FURTHER = """You plan the reproduction of a machine-learning paper. Part of its text follows, behind a list of decisions that are known to be open.
Name further decisions that one must take to get the same results, that this text does not state, and that code of the works it builds on would
settle. Go through what is to be built part by part (data, environments, model, loss, optimizer, sampling, evaluation, each baseline) and ask of each
what the list does not. For each give a title of a few words, a question, and the terms that code which decides it contains. At most eight, those that
matter most first."""


class Choice(Claim):
    """A decision, one of its places and the line of it that decides."""

    decision: int
    place: int
    line: int


class Choices(Claim):
    """The choices for several decisions, the best of each first."""

    choices: tuple[Choice, ...]


class FurtherDecision(Claim):
    """A decision that the text leaves open, and how to look for it."""

    title: str
    question: str
    terms: tuple[str, ...]


class FurtherDecisions(Claim):
    """The further decisions of a part of the text."""

    decisions: tuple[FurtherDecision, ...]


def heaviest(rows: Iterable[Gap]) -> list[Gap]:
    """The open rows that are looked at, the weightiest first."""
    return sorted(filter(is_open, rows), key=lambda gap: -gap.detail.weight)[:MOST_ROWS]


def with_choices(reader: Reader, rows: Sequence[Gap], searched: Sequence[str], read: Sequence[Gap], about: str) -> list[Gap]:
    """The rows, the places that the model chose first in those that are open; behind them what it `read` in code, and a row for each further
    decision that a place decides. `searched` is what is searched for the heaviest rows, `about` tells the paper."""
    by_weight = heaviest(rows)
    chosen = {gap.detail.name: gap for gap in _chosen(reader, about, by_weight, [asking(gap.detail) for gap in by_weight], searched)}
    reader.proceed()
    further = list(_further(reader, [*rows, *read]))
    reader.proceed()
    missing, wanted = [Gap(detail, Specification.UNSPECIFIED) for detail, _ in further], [question for _, question in further]
    decided = [gap for gap in _chosen(reader, about, missing, wanted, wanted) if gap.suggestions]
    return [*(chosen.get(gap.detail.name, gap) for gap in rows), *read, *_unrepeated([*chosen.values(), *read, *decided], len(chosen) + len(read))]


def _unrepeated(gaps: Sequence[Gap], known: int) -> Iterator[Gap]:
    """The rows behind those that are known, without what the model chose first in a row before: one decision has one row."""
    taken: list[tuple[str, str, int]] = []
    for n, gap in enumerate(gaps):
        first = gap.suggestions[0].held[0] if gap.suggestions and gap.suggestions[0].grade == "model" and gap.suggestions[0].held else None
        place = (first.fact.work, first.evidence.chunk.path, first.fact.line) if first else ("", "", 0)
        if n >= known and not any(place[:2] == other[:2] and abs(place[2] - other[2]) <= 1 for other in taken):
            yield gap
        taken.append(place)


def _chosen(reader: Reader, about: str, rows: Sequence[Gap], questions: Sequence[str], searched: Sequence[str]) -> Iterator[Gap]:
    """The rows with the places that were chosen of their offers and of what search finds for their questions, as they are `searched` for."""
    hits, _ = asked(reader.engine, [Query(text, _SEARCHED, _CODE) for text in searched])
    asked_for = list(zip(rows, questions, hits, strict=True))
    for start in range(0, len(asked_for), AT_ONCE):
        some = asked_for[start : start + AT_ONCE]
        places = [_places(gap, searched) for gap, _, searched in some]
        shown = [_shown(n, question, mine) for n, ((_, question, _), mine) in enumerate(zip(some, places, strict=True), 1) if mine]
        answer = reader.ask(_CHOICE, "\n\n".join((about, *shown)), Choices) if shown else None
        for n, ((gap, _, _), mine) in enumerate(zip(some, places, strict=True), 1):
            yield _with(reader, gap, mine, [choice for choice in answer.choices if choice.decision == n] if answer else ())


def _places(gap: Gap, hits: Iterable[Hit]) -> list[ShownPlace]:
    """The places of a row: those that it offers, then those of search, each once."""
    offered = [ShownPlace.of(occurrence.evidence, offer) for offer in gap.suggestions[:_OFFERED] for occurrence in offer.held[:1]]
    kept: list[ShownPlace] = []
    for place in (*offered, *map(ShownPlace.of, hits)):
        if not any(place.shares(other) for other in kept):
            kept.append(place)
    return kept[:_PLACES]


def _shown(number: int, question: str, places: Sequence[ShownPlace]) -> str:
    return "\n".join((f"Decision {number}: {question}", *(f"Place {n}: {place.where}\n{place.text}" for n, place in enumerate(places, 1))))


def _with(reader: Reader, gap: Gap, places: Sequence[ShownPlace], choices: Iterable[Choice]) -> Gap:
    first, taken = list[Suggestion](), set[int]()
    for choice in choices:
        place = places[choice.place - 1] if 1 <= choice.place <= len(places) else None
        if reader.is_kept(bool(place and place.line(choice.line))) and place:
            first.append(_offer(reader, gap, place, choice.line))
            taken.add(id(place.offer))
    return replace(gap, suggestions=(*first, *(offer for offer in gap.suggestions if id(offer) not in taken))) if first else gap


def _offer(reader: Reader, gap: Gap, place: ShownPlace, line: int) -> Suggestion:
    """The offer that a choice names, or a new one of its line."""
    if place.offer and abs(place.offer.held[0].fact.line - line) <= _NEAR:
        return replace(place.offer, grade="model", reason=f"{reader.chat.model} chose it; {place.offer.reason}")
    value = inline(place.line(line))[:QUOTED]
    fact = fact_of(gap.detail.facts[0] if gap.detail.facts else gap.detail.name, value, place.hit.chunk, "call", line, value)
    return reader.offer(fact, place.hit.chunk, "that this line decides it")


def _further(reader: Reader, rows: Iterable[Gap]) -> Iterator[tuple[Detail, str]]:
    """Decisions that the rows lack, each with what to search for."""
    names = {gap.detail.name for gap in rows}
    titles = "\n".join(sorted(gap.detail.title for gap in rows if is_open(gap)))
    target = WorkId(reader.engine.generation.manifest.target)
    own = [window for window in windows(reader.engine, target) if max(section_weight(chunk) for chunk in window) > OWN]
    parts = [own[start : start + _READ] for start in range(0, len(own), _READ)]
    for part in parts:
        answer = reader.ask(_FURTHER, "\n\n".join((f"Known:\n{titles}", *map(window_text, part))), FurtherDecisions)
        for decision in islice(answer.decisions if answer else (), max(1, MOST_FURTHER // len(parts))):
            title = own_words(decision.title)[: QUOTED // 2]
            name = "_".join(re.findall(r"[a-z0-9]+", title.lower()))
            if name and name not in names:
                names.add(name)
                detail = Detail(name, title, "procedure", own_words(decision.question)[: 2 * QUOTED], weight=_WEIGHT)
                yield detail, f"{title}. {detail.question} {inline(' '.join(islice(decision.terms, 12)))[: 2 * QUOTED]}"
