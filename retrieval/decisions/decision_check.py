"""Whether lines state a value: the cited lines of a decision, by a value that was read there or by name and value in their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lineage.citation import citation
from lineage.decisions import LONGEST, Decision
from lineage.errors import NotFound, UnsupportedDecision, UsageError
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.values import stated_numbers
from lineage.records import Chunk
from lineage.text.hidden_text import inline
from lineage.text.phrases import sentences
from lineage.text.tokens import STOP, parts, stem
from retrieval.search.read import cited_chunks, read

if TYPE_CHECKING:
    from lineage.records import Chunk, Fact
    from lineage.results import FactOccurrence
    from retrieval.decisions.fact_index import FactIndex
    from retrieval.search.engine import Engine

_WHOLE_ROLES = frozenset({"table", "algorithm", "caption"})
"""Where a value and its name stand in different rows or cells."""
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]{0,60}")
_PAIR = re.compile(r"([A-Za-z_][\w.-]{0,60})[\"']?(?:\s?[=:]\s?|\s(?=-?\d))([\[(][^\])]{0,200}[\])]|[^\s,()\[\]{}]{1,200})")
"""A name that is set to a value: `lr=1e-4`, `"betas": [0.9, 0.95]`, `--cfg 3.2`."""
_NEAR = 1
_SHARE = 0.5


def holds_value(text: str, value: str, name: str, known: Ontology) -> bool:
    """Whether a text holds every number and every word of a value; of a choice, one of its spellings."""
    term = known.terms.get(name)
    normalized = known.normalize(name, value)
    spellings = (value, normalized.value, *term.values.get(normalized.value, ())) if term and normalized else (value,)
    words, numbers = {stem(word) for word in parts(text)}, stated_numbers(text)
    return any(_holds(spelling, text, words, numbers) for spelling in spellings)


def _holds(value: str, text: str, words: set[str], numbers: set[str]) -> bool:
    claimed = stated_numbers(value)
    rest = [stem(word) for word in parts(value) if not any(c.isdigit() for c in word) and word not in {"e", "x"}]
    if not claimed and not rest:
        return bool(value.strip()) and "".join(value.split()) in "".join(text.split())
    if claimed:
        return claimed <= numbers and all(word in words for word in rest if len(word) > 1)
    return all(word in words for word in rest) or "".join(rest) in words


def names_detail(text: str, name: str, known: Ontology) -> bool:
    """Whether a text has an identifier or phrase that means a detail; of one that no list knows, half of its words."""
    if any(known.name_of(word) == name for word in dict.fromkeys(_IDENTIFIER.findall(text))):
        return True
    words = [stem(word) for word in parts(text)]
    run = f" {' '.join(words)} "
    term = known.terms.get(name)
    if term:
        phrases = (parts(phrase) for phrase in (term.title, *term.prose, name))
        return any(f" {' '.join(map(stem, phrase))} " in run for phrase in phrases if phrase)
    telling = {stem(word) for word in parts(name) if word not in STOP}
    return len(telling & set(words)) >= max(1, _SHARE * len(telling))


def states(piece: str, name: str, value: str, known: Ontology, around: str = "") -> bool:
    """Whether a piece of a text names a detail and holds its value; where it sets names to values, whether it sets the detail to it."""
    own = [text for word, text in _PAIR.findall(piece) if known.name_of(word.replace("-", "_")) == name]
    if own:
        return any(holds_value(text, value, name, known) for text in own)
    return holds_value(piece, value, name, known) and names_detail(f"{piece}\n{around}", name, known)


def statements(chunk: Chunk) -> Iterator[str]:
    """The pieces of a chunk in which a value and its name must stand together: two sentences, three lines, a whole table."""
    if chunk.role in _WHOLE_ROLES:
        yield f"{chunk.header}\n{chunk.text}"
        return
    pieces = sentences(chunk.text) if chunk.kind == "paper" else chunk.text.split("\n")
    reach = 0 if chunk.kind == "paper" else _NEAR
    for at in range(len(pieces)):
        yield "\n".join(pieces[max(0, at - reach) : at + _NEAR + 1])


_SHOWN, _QUOTED = 12, 600
_NO_NAME = "nothing beside the value names the detail"
_NO_VALUE = "the value does not stand there"
_NEITHER = "neither the detail nor the value stands there"
_PROBLEMS = ("", _NO_NAME, _NO_VALUE, _NEITHER)


@dataclass(frozen=True)
class CitedLines:
    """The lines of a citation: how it is written, the words that count, what they lack, and whether they are of the target's own code."""

    citation: str
    text: str
    problem: str
    from_target_code: bool


def named(engine: Engine, name: str) -> tuple[str, str]:
    """The normalized name and the title of a detail; a name that no list knows stands for itself. Raises `UsageError` for none."""
    name = _plain(name)
    if not name or len(name) > 120:
        raise UsageError("a decision needs the name of a detail", hint="`lineage gaps` lists those that are open")
    known = engine.ontology.name_of(name) or name
    return known, engine.ontology.title(known)


def _plain(text: str) -> str:
    """One line of characters that can be seen and written."""
    return " ".join(inline(text.encode("utf-8", "replace").decode()).split())


def cited_lines(engine: Engine, facts: FactIndex, name: str, value: str, cited: str) -> CitedLines:
    """The cited lines that state a value, else those that come nearest, with what they lack.

    Raises `NotFound` and `UsageError` for what is no citation here.
    """
    passage = read(engine, cited)
    hits = [replace(passage.hit, chunk=chunk) for chunk in cited_chunks(engine, cited.strip().strip("`\"'"))] or [passage.hit]
    own = passage.hit.from_target and passage.hit.work.kind == "code"
    readings = [CitedLines(citation(hit), *_stated(engine, facts.of(name), name, value, hit.chunk), own) for hit in hits]
    return min(readings, key=lambda lines: _PROBLEMS.index(lines.problem))


def _stated(engine: Engine, occurrences: Iterable[FactOccurrence], name: str, value: str, chunk: Chunk) -> tuple[str, str]:
    """The words of a chunk that state a detail's value, and what they lack."""
    known, pieces = engine.ontology, list(statements(chunk))
    around = " ".join((*chunk.section[-1:], chunk.symbol))
    holding = [piece for piece in pieces if holds_value(piece, value, name, known)]
    both = [piece for piece in holding if states(piece, name, value, known, around)]
    if both:
        shortest = min(both, key=len)
        return next((line for line in shortest.split("\n") if states(line, name, value, known)), shortest), ""
    stated = [occurrence.fact for occurrence in occurrences if _is_there(occurrence, chunk)]
    if any(_says(fact, value, known) for fact in stated):
        return chunk.text, ""
    naming = [piece for piece in pieces if names_detail(piece, name, known)]
    return next(iter(holding or naming), chunk.text), _NO_NAME if holding else _NO_VALUE if naming else _NEITHER


def _says(fact: Fact, value: str, known: Ontology) -> bool:
    """Whether a fact has a value; a statement of code, whether it is the value or holds it."""
    if not fact.end_line:
        return known.same(fact.name, fact.value, value)
    return "".join(value.split()) == "".join(fact.value.split()) or holds_value(fact.value, value, fact.name, known)


def _is_there(occurrence: FactOccurrence, chunk: Chunk) -> bool:
    fact, place = occurrence.fact, occurrence.evidence.chunk
    if (fact.work, place.path) != (chunk.work, chunk.path):
        return False
    return fact.chunk == chunk.id if chunk.kind == "paper" else chunk.start_line <= (fact.line or place.start_line) <= chunk.end_line


def checked(engine: Engine, facts: FactIndex, decision: Decision, force: bool) -> Decision:
    """The decision with its name, citation and quote as the lineage has them.

    Raises `UnsupportedDecision`, which shows the lines, if they do not state it, unless `force`.
    """
    name, title = named(engine, decision.name)
    if not decision.value.strip() or len(decision.value) > LONGEST or len(decision.note) > LONGEST:
        raise UsageError(f"a decision has a value, and at most {LONGEST:,} characters", hint='lineage decide "learning rate" 1e-4 --because CITATION')
    value = _plain(decision.value)
    lines = cited_lines(engine, facts, name, value, decision.citation)
    if lines.problem and not force:
        shown = "\n".join(f"  {text[:160]}" for text in lines.text.split("\n")[:_SHOWN])
        raise UnsupportedDecision(
            f"{lines.citation} does not state {title} = {value}: {lines.problem}",
            hint=f"cite the lines that do, or record it anyway with --force. These say:\n{shown}",
        )
    return replace(
        decision,
        name=name,
        title=title,
        value=value,
        note=_plain(decision.note),
        by=_plain(decision.by),
        citation=lines.citation,
        quote=lines.text[:_QUOTED],
        support="unsupported" if lines.problem else "stated",
        from_target_code=lines.from_target_code,
    )


def rechecked(engine: Engine, facts: FactIndex, decisions: Sequence[Decision]) -> Iterator[Decision]:
    """The decisions as this generation supports them: citations of another generation are resolved anew."""
    for decision in decisions:
        if decision.generation == facts.generation and not decision.origin:
            yield decision
            continue
        try:
            lines = cited_lines(engine, facts, decision.name, decision.value, decision.citation)
        except (NotFound, UsageError):
            yield replace(decision, support="unresolved")
            continue
        quote = decision.quote or lines.text[:_QUOTED]
        yield replace(decision, support="unsupported" if lines.problem else "stated", quote=quote, from_target_code=lines.from_target_code)
