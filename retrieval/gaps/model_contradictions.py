"""Where the target's own code does otherwise than its paper says, as a chat model reads it.

Each part of the text is laid beside the code that search finds for it and the values that differ from its own. A contradiction
is kept only with words of the text and a line of the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest

from lineage.hyperparameters.ontology import Ontology
from lineage.records import Chunk, Query
from lineage.results import Conflict, FactOccurrence
from lineage.text.hidden_text import inline, visible
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.provenance import is_own_code
from retrieval.decisions.target_text import OWN, section_weight, told
from retrieval.gaps.model_reader import MOST_WINDOWS, QUOTED, Claim, Place, Reader, fact_of, is_verbatim, window_text, windows
from retrieval.gaps.undocumented_settings import works
from retrieval.search.batch import asked

_SEARCHED, _DIFFERING, _PLACES = 6, 8, 22
"""Hits of a stretch of text, values that differ from its own, and places that are shown of a window in all."""
_VALUES = 2
"""Own values of one detail that are laid beside a stated one."""
_ASKED = 900
"""Characters of a stretch that search is asked for."""
_SEVERITY = 0.8
_TASK = """You compare part of a machine-learning paper with code of its authors. Report each contradiction: what the text says was done and the
code does otherwise, be it a value, a formula, a step, a part or its order. Both must be of the same experiment, model and stage. No contradiction
is what a command or configuration may override, what the text says of other works or other experiments, what the code merely does not show, another
name or notation for the same, or a detail that the text leaves out. Give a title of a few words, the words of the text, the number of the place, the
line of the code, and why in one short sentence. Most parts have none: then give an empty list."""


class Contradiction(Claim):
    """Words of the text, and a line of a place that does otherwise."""

    title: str
    text: str
    place: int
    line: int
    why: str


class Contradictions(Claim):
    """The contradictions of one part of a text."""

    contradictions: tuple[Contradiction, ...]


def contradictions(reader: Reader, facts: FactIndex) -> Iterator[Conflict]:
    """Every contradiction that the model reads and that both sides prove; none where the target has no code in the lineage."""
    own = works(reader.engine)
    differing = _differing(reader.engine.ontology, facts) if own else {}
    seen: set[tuple[str, int]] = set()
    for window in islice(windows(reader.engine, facts.target.id), MOST_WINDOWS if own else 0):
        if max(section_weight(chunk) for chunk in window) <= OWN:
            continue
        text = window_text(window)
        questions = [Query(part, _SEARCHED, frozenset(("code", "config")), work=work) for work in own for part in _parts(text)]
        found = [hit for ranked in zip_longest(*asked(reader.engine, questions)[0]) for hit in ranked if hit]
        places = list(_once((*_values(window, differing), *map(Place.of, found))))
        shown = "\n\n".join(f"Place {n}: {place.where}\n{place.text}" for n, place in enumerate(places, 1))
        answer = reader.ask(_TASK, f"{text}\n\n{shown}", Contradictions) if places else None
        for claim in answer.contradictions if answer else ():
            made = _conflict(reader, claim, window, places)
            if reader.is_kept(made is not None) and made and (key := (made.sides[1].evidence.chunk.path, claim.line)) not in seen:
                seen.add(key)
                yield made


def _parts(text: str) -> list[str]:
    """What search is asked for a text: each stretch of it."""
    return [text[start : start + _ASKED] for start in range(0, len(text), _ASKED)]


def _differing(known: Ontology, facts: FactIndex) -> Mapping[str, list[FactOccurrence]]:
    """The own code's values of details that the target states otherwise, by the passage that does; first of those that it never has as stated."""
    by_name: Mapping[str, Sequence[FactOccurrence]] = facts.held
    by_chunk: dict[str, list[FactOccurrence]] = {}
    for name, occurrences in by_name.items():
        stated = [occurrence for occurrence in told(occurrences, facts.target.id) if occurrence.fact.literal]
        own = [occurrence for occurrence in occurrences if is_own_code(occurrence) and occurrence.fact.literal]
        agreeing = any(known.same(name, one.fact.value, other.fact.value) for one in stated for other in own)
        for one in stated:
            others = [other for other in own if not known.same(name, one.fact.value, other.fact.value)][:_VALUES]
            rows = by_chunk.setdefault(one.fact.chunk, [])
            rows[:] = [*rows, *others] if agreeing else [*others, *rows]
    return by_chunk


def _values(window: Sequence[Chunk], differing: Mapping[str, Sequence[FactOccurrence]]) -> list[Place]:
    return [Place.of(one.evidence) for chunk in window for one in differing.get(chunk.id, ())][:_DIFFERING]


def _once(places: Sequence[Place]) -> Iterator[Place]:
    kept: list[Place] = []
    for place in places:
        if len(kept) < _PLACES and not any(place.shares(other) for other in kept):
            kept.append(place)
            yield place


def _conflict(reader: Reader, claim: Contradiction, window: Sequence[Chunk], places: Sequence[Place]) -> Conflict | None:
    """The contradiction with both sides, None if one of them is not there."""
    place = places[claim.place - 1] if 1 <= claim.place <= len(places) else None
    chunk = next((chunk for chunk in window if is_verbatim(claim.text, visible(chunk.text)[0])), None)
    if not place or not chunk or not (line := place.line(claim.line)):
        return None
    title = inline(claim.title)[: QUOTED // 2]
    name = "_".join(re.findall(r"[a-z0-9]+", title.lower())) or "contradiction"
    stated = fact_of(name, inline(claim.text)[:QUOTED], chunk, "prose", 0, claim.text)
    done = fact_of(name, inline(line)[:QUOTED], place.hit.chunk, "call", claim.line, line)
    sides = (reader.occurrence(stated, chunk), reader.occurrence(done, place.hit.chunk))
    return Conflict(name, title, "paper-code", sides, _SEVERITY, inline(f"{reader.chat.model} reads it: {claim.why}")[: 2 * QUOTED], "model")
