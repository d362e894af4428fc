"""Searches in which a chat model takes part: it names what the code that answers would contain, and chooses among the passages found.

Questions name roles, code names mechanisms; a model knows both. A choice is lines of a passage that was shown, so nothing but what is
stored can be told; what it does not choose follows in its own order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest

from lineage.records import Answer, Focus, Hit, Query, Reason, ReasonKind
from lineage.text.hidden_text import inline
from retrieval.gaps.model_reader import Claim, Reader, ShownPlace, batched
from retrieval.gaps.model_terms import with_terms
from retrieval.search.fusion import likelihood

_FOUND, _PLACES, _WINDOW = 40, 30, 24_000
"""Hits of each search, places that are shown of a question, and characters of places in one call."""
_CHOSEN, _WIDEST = 5, 12
"""Choices that are taken for a question, and lines of one."""
_CHOICE = """Questions follow of an engineer who re-implements a machine-learning paper without its authors' code, and below each places in works that
the paper builds on, their lines numbered. For each question choose the places whose lines settle it as the paper's authors most likely took it
over, best first, at most five: of the work that the paper builds this part on before others, of training before tests and demonstrations, where the
thing itself is done or set before where it is only passed on. Another place that settles it in another way follows too. Give the number of the
question, the number of the place, and the first and the last of the lines that settle it, as few as do. Leave out a question that none settles."""


class ChosenLines(Claim):
    """A question, one of its places, and the lines of it that settle the question."""

    question: int
    place: int
    first: int
    last: int


class ChosenPlaces(Claim):
    """The choices for several questions, the best of each first."""

    choices: tuple[ChosenLines, ...]


def found(reader: Reader, queries: Sequence[Query]) -> list[Answer]:
    """The answers to the questions, what the model chose first; raises `AnswersMissing`."""
    texts = list(with_terms(reader, [query.text for query in queries]))
    reader.finish()
    wide = [replace(query, k=max(query.k, _FOUND)) for query in queries]
    with_identifiers = [replace(query, text=text) for query, text in zip(wide, texts, strict=True)]
    answers, plain, expected = map(reader.engine.ask_many, (queries, wide, with_identifiers))
    places = [list(_places(pool)) for pool in zip(plain, expected, strict=True)]
    chosen = list(_chosen(reader, queries, places))
    reader.finish()
    notes = (reader.note,) if reader.stopped or reader.malformed else ()
    made = (_with(answer, some, reader.chat.model) for answer, some in zip(answers, chosen, strict=True))
    return [replace(answer, notes=(*answer.notes, *notes)) for answer in made]


def _places(answers: Sequence[Answer]) -> Iterator[ShownPlace]:
    """The places that several searches for a question found, the best of each first, each once."""
    kept: list[ShownPlace] = []
    for hit in filter(None, chain.from_iterable(zip_longest(*(answer.hits for answer in answers)))):
        place = ShownPlace.of(hit)
        if len(kept) < _PLACES and not any(place.shares(other) for other in kept):
            kept.append(place)
            yield place


def _chosen(reader: Reader, queries: Sequence[Query], places: Sequence[Sequence[ShownPlace]]) -> Iterator[list[Hit]]:
    """For each question the places that were chosen, best first, with the lines that were."""
    shown = [
        (query, mine, "\n\n".join(f"Place {n}: {place.where}\n{place.text}" for n, place in enumerate(mine, 1)))
        for query, mine in zip(queries, places, strict=True)
    ]
    for some in batched(shown, _WINDOW, lambda one: one[2]):
        text = "\n\n\n".join(f"Question {n}: {inline(query.text)}\n\n{listed}" for n, (query, _, listed) in enumerate(some, 1))
        answer = reader.ask(_CHOICE, text, ChosenPlaces)
        for n, (_, mine, _) in enumerate(some, 1):
            yield list(_hits(reader, mine, [choice for choice in answer.choices if choice.question == n] if answer else ()))


def _hits(reader: Reader, places: Sequence[ShownPlace], choices: Iterable[ChosenLines]) -> Iterator[Hit]:
    """The hits of the choices that were shown."""
    for choice in islice(choices, _CHOSEN):
        place = places[choice.place - 1] if 1 <= choice.place <= len(places) else None
        if reader.is_kept(bool(place and place.line(choice.first))) and place:
            last = max(choice.first, min(choice.last, choice.first + _WIDEST - 1, place.first + len(place.lines) - 1))
            yield replace(place.hit, focus=Focus(choice.first, last))


def _with(answer: Answer, chosen: Sequence[Hit], model: str) -> Answer:
    """The answer with what was chosen before what was found; it is supported then, and neither its first note nor a flag says otherwise."""
    if chosen and not answer.supported:
        answer = replace(answer, supported=True, notes=answer.notes[1:])
    by_chunk = {hit.chunk.id: hit for hit in (*answer.hits, *reversed(chosen))}
    hits = [by_chunk[id_] for id_ in dict.fromkeys(hit.chunk.id for hit in (*chosen, *answer.hits))][: answer.query.k]
    best = max((sum(reason.value for reason in hit.why) for hit in hits), default=0.0)
    for at, hit in enumerate(hits[: len({hit.chunk.id for hit in chosen})]):
        lift = Reason(ReasonKind.RERANKED, best - sum(reason.value for reason in hit.why), (model,))
        hits[at] = replace(hit, score=round(likelihood(best), 4), why=(*hit.why, lift))
    flagged = (replace(hit, rank=rank, flags=() if chosen else hit.flags) for rank, hit in enumerate(hits, 1))
    return replace(answer, hits=tuple(flagged))
