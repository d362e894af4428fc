"""One row of the report by any name that it goes by, and its offers beside the facts: what `gaps` prints, `facts` and `decide` know (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from lineage.citation import pinpoint
from lineage.decisions import Decisions, titles
from lineage.errors import LineageError, NotFound
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import american, fold
from lineage.results import Consensus, Detail, FactOccurrence, Gap, Gaps, Specification, Suggestion, Value
from retrieval.decisions.consensus import consensus, unstated
from retrieval.decisions.fact_index import FactIndex

_CUT = "…"
_NEAREST = 3
_SPOKEN = "the target speaks of it"


def row_of(gaps: Sequence[Gap], *names: str) -> int | None:
    """Where the row of a detail stands that goes by one of the names: by its name, its title (or how it is cut), or the fact it is mainly about."""
    for at, gap in enumerate(gaps):
        if any(gap.detail.name == name or _is_title(gap.detail.title, name) for name in names if name):
            return at
    return next((at for at, gap in enumerate(gaps) if gap.detail.facts and gap.detail.facts[0] in names), None)


def _is_title(title: str, name: str) -> bool:
    title, wanted = fold(american(title)), fold(american(name.removesuffix(_CUT)))
    return title.startswith(wanted) and bool(wanted) if name.endswith(_CUT) else title == wanted


def _row(report: Gaps, *names: str) -> Gap | None:
    at = row_of(report.gaps, *names)
    return report.gaps[at] if at is not None else next((gap for gap in report.gaps if not set(gap.detail.facts).isdisjoint(names)), None)


def _offered(gap: Gap, name: str) -> list[Suggestion]:
    """The values and statements that a row offers for a detail: of a fact those of that name, else all."""
    return [suggestion for suggestion in gap.suggestions if name not in gap.detail.facts or suggestion.held[0].fact.name == name]


def with_offers(holders: FactIndex, report: Gaps, names: Iterable[str]) -> FactIndex:
    """The facts with what rows of the report offer for these details, which need not be facts: statements."""
    more: dict[str, tuple[FactOccurrence, ...]] = {}
    for name in names:
        if row := _row(report, name):
            more[name] = (*holders.of(name), *(occurrence for suggestion in _offered(row, name) for occurrence in suggestion.held))
    return replace(holders, held={**holders.held, **more})


def values(holders: FactIndex, name: str, ontology: Ontology, report: Callable[[], Gaps]) -> Consensus:
    """The values of a detail by any name, or by any title that the report prints; raises `NotFound` for what is neither.

    The report is asked for where the facts alone do not answer.
    """
    try:
        agreed = consensus(holders, name, ontology)
    except NotFound:
        made = _made(report)
        row = _row(made, name) if made else None
        if made is None or row is None:
            raise
        return _with_row(Consensus(row.detail.name, row.detail.title, (), made.lineage, made.generation), row, row.detail.name)
    if agreed.values:
        return agreed
    made = _made(report)
    row = _row(made, agreed.name, name) if made else None
    return _with_row(agreed, row, agreed.name) if row else agreed


def _made(report: Callable[[], Gaps]) -> Gaps | None:
    """The report; None where none can be made, as with an embedder that is not at hand: the facts stand without it."""
    try:
        return report()
    except LineageError:
        return None


def _with_row(agreed: Consensus, row: Gap, name: str) -> Consensus:
    """The values with those of a row that are not among them: the own code's first, the target's own words before all."""
    known = {_place(occurrence) for value in agreed.values for occurrence in value.held}
    stated = [Value(fact.fact.value, fact.fact.unit, (fact,)) for fact in row.facts if name not in row.detail.facts or fact.fact.name == name]
    offers = [offer for offer in _offered(row, name) if known.isdisjoint(map(_place, offer.held))]
    added = [Value(offer.value, offer.unit, offer.held) for offer in offers]
    new = [value for value in stated if known.isdisjoint(map(_place, value.held))] + added
    own = [value for value in new if _is_own(value)] if not any(map(_is_own, agreed.values)) else []
    ordered = (*own, *agreed.values, *(value for value in new if value not in own))
    if own or not agreed.values:
        ordered = tuple(replace(value, inherited=at == 0) for at, value in enumerate(ordered))
        agreed = replace(agreed, why=_why(row, offers) if ordered else ())
    notes = [note for note in agreed.notes if not (ordered and note == unstated(agreed.lineage))]
    return replace(agreed, values=ordered, notes=(*notes, *(() if ordered else _places(row))))


def _why(row: Gap, offers: Sequence[Suggestion]) -> tuple[str, ...]:
    return () if row.facts or not offers else (offers[0].reason, *offers[0].chain)


def _places(row: Gap) -> list[str]:
    """Where to read of a detail that nobody gives a value for."""
    return [f"{_SPOKEN}: {pinpoint(hit)}" for hit in row.stated[:_NEAREST]] or ["nobody in the lineage states it"]


def _is_own(value: Value) -> bool:
    return value.held[0].evidence.from_target


def _place(occurrence: FactOccurrence) -> tuple[str, str, int, str, str]:
    fact = occurrence.fact
    return fact.work, occurrence.evidence.chunk.path, fact.line, fact.name, fact.value


_DOUBTED = "decided, but its citation does not bear it out: "


def with_decisions(report: Gaps, decisions: Decisions, known: Ontology) -> Gaps:
    """The report with the decisions on its rows, those without a row behind them, and notes on those that the lineage does not support."""
    rows = list(report.gaps)
    for decision in decisions.decisions:
        at = row_of(rows, decision.name, decision.title)
        if at is None:
            detail = Detail(decision.name, decision.title or decision.name, known.topic(decision.name) or "decided", "", (decision.name,))
            rows.append(Gap(detail, Specification.UNSPECIFIED, decision=decision))
        else:
            rows[at] = replace(rows[at], decision=decision)
    doubted = [decision for decision in decisions.decisions if decision.support != "stated"]
    notes = (*report.notes, *decisions.notes, *((_DOUBTED + titles(doubted),) if doubted else ()))
    return replace(report, gaps=tuple(rows), notes=notes)
