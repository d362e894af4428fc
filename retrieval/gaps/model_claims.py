"""What a chat model reads that rules do not: ancestors, statements of the target with their scopes, the places that decide what is open, and
contradictions.

Without a model nothing of this runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from lineage.ports import ChatModel
from lineage.progress import Watch, unwatched
from lineage.records import MECHANISM, WorkId
from lineage.results import SETTING, Gap, Gaps, Specification, Suggestion
from lineage.text.hidden_text import inline, visible
from retrieval.decisions.decision_check import holds_value
from retrieval.decisions.fact_index import FactIndex
from retrieval.gaps.model_ancestors import ancestors
from retrieval.gaps.model_code import about, choices_of_code
from retrieval.gaps.model_contradictions import contradictions
from retrieval.gaps.model_places import is_open, with_choices
from retrieval.gaps.model_reader import MOST_WINDOWS, QUOTED, Claim, Reader, fact_of, is_verbatim, window_text, windows
from retrieval.gaps.undocumented_settings import works
from retrieval.search.engine import Engine

MOST_DETAILS = 60
_STATEMENTS = """You read part of a machine-learning paper for one who reproduces it. Of the details listed first (name: what it is), find those whose
value the text states for what its authors did. Give the detail's name, the value as written, its scope (which model, stage, data set or experiment;
empty for all) and the quote that states it."""


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
        found = tuple(contradictions(reader, facts.target.id, engine, works(engine)))
    with reader.chain():
        inherited = ancestors(reader, catalog.references(facts.target.id), {work.id: work for work in catalog.works()}, facts.target)
        reader.proceed()
        read = choices_of_code(reader, inherited) if not works(engine) else []
        rows = with_choices(reader, report.gaps, read, about(reader, inherited))
    reader.finish()
    gaps = tuple(_with_statements(gap, stated.get(gap.detail.name, ())) for gap in rows)
    return replace(report, gaps=gaps, conflicts=found, ancestors=inherited, notes=(*report.notes, reader.note))


def _with_statements(gap: Gap, stated: Sequence[Suggestion]) -> Gap:
    """A row with what the model read in the target's own text before all others."""
    return replace(gap, state=Specification.PARTIALLY_SPECIFIED, suggestions=(*stated, *gap.suggestions)) if stated else gap


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
                normalized = known.normalise(name, claim.value)
                value, unit = (normalized.value, normalized.unit) if normalized else (inline(claim.value)[:QUOTED], "")
                fact = fact_of(name, value, chunk, "prose", 0, claim.quote, claim.scope, unit)
                made.setdefault(claim.detail, []).append(reader.offer(fact, chunk, f"it in the text: “{fact.said}”"))
    return made
