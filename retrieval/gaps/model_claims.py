"""What a chat model reads that rules do not: ancestors, statements of the target with their scopes, the places that decide what is open, and
contradictions.

Without a model nothing of this runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from lineage.ports import ChatModel
from lineage.progress import Watch, unwatched
from lineage.records import MECHANISM, Mention, Reference, Work, WorkId
from lineage.references.inheritance import section_weight, use_probability
from lineage.references.signals import Ancestor, Part
from lineage.results import SETTING, Gap, Gaps, Specification, Suggestion
from lineage.text.hidden_text import inline, visible
from retrieval.decisions.decision_check import holds_value
from retrieval.decisions.fact_index import FactIndex
from retrieval.gaps.model_code import about, choices_of_code
from retrieval.gaps.model_contradictions import contradictions
from retrieval.gaps.model_places import heaviest, with_choices
from retrieval.gaps.model_reader import MOST_WINDOWS, QUOTED, Claim, Reader, asking, fact_of, fitting, is_open, is_verbatim, window_text, windows
from retrieval.gaps.model_review import reviewed
from retrieval.gaps.model_terms import with_terms
from retrieval.gaps.set_elsewhere import followed
from retrieval.gaps.undocumented_settings import works
from retrieval.search.engine import Engine

MOST_DETAILS = 60
_STATEMENTS = """You read part of a machine-learning paper for one who reproduces it. Of the details listed first (name: what it is), find those whose
value the text states for what its authors did. Give the detail's name, the value as written, its scope (which model, stage, data set or experiment;
empty for all) and the quote that states it."""
_WORKS, _SHOWN, _LONGEST = 80, 24_000, 400
"""Works, and characters of sentences, that are shown, and characters of a sentence."""
_SCORES = (0.95, 0.8, 0.65)
"""How surely a part is taken from the first works that are named for it."""
_TAKE = """Works that a machine-learning paper cites follow, then the sentences that cite them. From which works did the paper's authors take over
each part of what they built themselves: model (architecture, method), checkpoint, training (recipe, code base), loss, data, evaluation, sampling?
Name what one would start from to reproduce the paper, the work that gives most first: no baseline that is only compared with, no data set or library
that everybody uses unless it shapes the work. For each part at most three works, each with the number of the sentence that says so best."""


class Statement(Claim):
    """A value that the text states, with the quote that does."""

    detail: str
    value: str
    scope: str
    quote: str


class Statements(Claim):
    """The statements of one part of a text."""

    statements: tuple[Statement, ...]


def with_claims(report: Gaps, engine: Engine, facts: FactIndex, chat: ChatModel, watch: Watch = unwatched) -> Gaps:
    """The report with what the model read: stated values, the places that decide, further decisions, contradictions, ancestors, a note.

    Raises `AnswersMissing`."""
    reader, catalog = Reader(chat, engine, watch), engine.generation.catalog
    stated = _stated(reader, list(filter(is_open, report.gaps)), facts.target.id)
    with reader.chain():
        conflicts = tuple(contradictions(reader, facts.target.id, engine, works(engine)))
    with reader.chain():
        searched = list(with_terms(reader, [asking(gap.detail) for gap in heaviest(report.gaps)]))
        inherited = ancestors(reader, catalog.references(facts.target.id), {work.id: work for work in catalog.works()}, facts.target)
        reader.proceed()
        read = choices_of_code(reader, inherited) if not works(engine) else []
        rows = with_choices(reader, report.gaps, searched, read, about(reader, inherited))
    reader.finish()
    gaps = reviewed(reader, [_with_settings(reader, _with_statements(gap, stated.get(gap.detail.name, ()))) for gap in rows])
    reader.finish()
    return replace(report, gaps=tuple(gaps), conflicts=conflicts, ancestors=inherited, notes=(*report.notes, reader.note))


def _with_statements(gap: Gap, stated: Sequence[Suggestion]) -> Gap:
    """A row with what the model read in the target's own text before all others."""
    return replace(gap, state=Specification.PARTIALLY_SPECIFIED, suggestions=(*stated, *gap.suggestions)) if stated else gap


def _with_settings(reader: Reader, gap: Gap) -> Gap:
    """A row with the values of the names that the chosen lines hand on."""
    return replace(gap, suggestions=tuple(followed(reader, offer) if offer.grade == "model" else offer for offer in gap.suggestions))


def _stated(reader: Reader, rows: Sequence[Gap], target: WorkId) -> dict[str, list[Suggestion]]:
    """What the target's text states of open details, by detail."""
    details = {
        gap.detail.name: gap.detail
        for gap in sorted(rows, key=lambda gap: -gap.detail.weight)
        if not gap.detail.name.startswith((MECHANISM, SETTING))
    }
    listed = "\n".join(f"{name}: {details[name].title}" for name in islice(details, MOST_DETAILS))
    known, made = reader.engine.ontology, dict[str, list[Suggestion]]()
    for window in islice(windows(reader.engine, target), MOST_WINDOWS if listed else 0):
        answer = reader.ask(_STATEMENTS, f"{listed}\n\n{window_text(window)}", Statements)
        for claim in answer.statements if answer else ():
            detail = details.get(claim.detail)
            chunk = next((chunk for chunk in window if is_verbatim(claim.quote, visible(chunk.text)[0])), None)
            name = detail.facts[0] if detail and detail.facts else claim.detail
            proved = bool(detail and chunk and claim.value.strip() and holds_value(claim.quote, claim.value, name, known))
            if reader.is_kept(proved) and chunk:
                normalized = known.normalize(name, claim.value)
                value, unit = (normalized.value, normalized.unit) if normalized else (inline(claim.value)[:QUOTED], "")
                fact = fact_of(name, value, chunk, "prose", 0, claim.quote, claim.scope, unit)
                made.setdefault(claim.detail, []).append(reader.offer(fact, chunk, f"it in the text: “{fact.said}”"))
    return made


class Taken(Claim):
    """A part, the work that it is taken from, and a sentence that cites this work."""

    part: Part
    work: int
    sentence: int


class Inheritance(Claim):
    """What is taken from which works, what gives most first."""

    taken: tuple[Taken, ...]


def ancestors(reader: Reader, references: Sequence[Reference], works: Mapping[WorkId, Work], target: Work) -> tuple[Ancestor, ...]:
    """What the model reads, the work that gives most first; each claim with a sentence that cites its work."""
    cited = [reference.cited for reference in references if reference.mentions and reference.cited in works][:_WORKS]
    sentences = _sentences([reference for reference in references if reference.cited in cited])
    listed = "\n".join(f"Work {n}: {works[name].title}" for n, name in enumerate(cited, 1))
    citing = [", ".join(f"work {cited.index(name) + 1}" for name in names) for _, names in sentences]
    quoted = "\n".join(
        f"Sentence {n} ({inline(' > '.join(mention.section))}; cites {works_cited}): {_text(mention)}"
        for n, ((mention, _), works_cited) in enumerate(zip(sentences, citing, strict=True), 1)
    )
    answer = reader.ask(_TAKE, f"The paper: {target.title}. {target.abstract}\n\n{listed}\n\n{quoted}", Inheritance) if sentences else None
    return tuple(_taken_over(reader, answer.taken if answer else (), cited, sentences))


def _text(mention: Mention) -> str:
    return inline(" ".join(mention.sentence.split()))[:_LONGEST]


def _sentences(references: Sequence[Reference]) -> list[tuple[Mention, list[WorkId]]]:
    """The sentences that most likely say that something is taken over, in the order of the text, each with the works that it cites."""
    citing: dict[str, tuple[Mention, list[WorkId]]] = {}
    sure: dict[str, float] = {}
    for reference in references:
        for mention in reference.mentions:
            if text := _text(mention):
                names = citing.setdefault(text, (mention, []))[1]
                names += [reference.cited] if reference.cited not in names else []
                sure[text] = max(sure.get(text, 0.0), use_probability(mention) * section_weight(mention.section) / len(names) ** 0.5)
    chosen = fitting(sorted(sure, key=lambda text: -sure[text]), _SHOWN, str)
    return sorted((citing[text] for text in chosen), key=lambda row: row[0].start)


def _taken_over(
    reader: Reader, taken: Sequence[Taken], cited: Sequence[WorkId], sentences: Sequence[tuple[Mention, Sequence[WorkId]]]
) -> Iterator[Ancestor]:
    """The claims whose sentence cites their work."""
    places = dict.fromkeys(Part, 0)
    seen: set[tuple[Part, WorkId]] = set()
    for claim in taken:
        work = cited[claim.work - 1] if 1 <= claim.work <= len(cited) else None
        mention, citing = sentences[claim.sentence - 1] if 1 <= claim.sentence <= len(sentences) else (None, ())
        if reader.is_kept(work in citing) and work and mention and (claim.part, work) not in seen and places[claim.part] < len(_SCORES):
            seen.add((claim.part, work))
            yield Ancestor(claim.part, work, _SCORES[places[claim.part]], _text(mention))
            places[claim.part] += 1
