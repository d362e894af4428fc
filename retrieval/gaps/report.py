"""The report put together: domains, verdicts, offers, and what limited them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lineage.code_links.links import surest
from lineage.hyperparameters.checklist import Checklist, ChecklistItem, DetectedDomain
from lineage.hyperparameters.ontology import Ontology
from lineage.records import Hit, Reason, ReasonKind, WorkId
from lineage.results import SETTING, FactOccurrence, Gap, GapReason, Gaps, Specification, Suggestion
from retrieval.decisions import target_text as text
from retrieval.decisions.fact_index import standing
from retrieval.decisions.mechanism_places import MechanismPlaces
from retrieval.decisions.precedence import Precedence
from retrieval.decisions.target_text import TargetText
from retrieval.gaps import undocumented_settings as own
from retrieval.gaps.mechanisms import Mechanisms
from retrieval.gaps.offers import VALUES, Context, Offer, offers
from retrieval.gaps.stated import DetailVerdict, Pointer, judged, named_in, unclaimed
from retrieval.gaps.undocumented_settings import place
from retrieval.search.engine import Engine

MOST = 48
"""Rows that others than the target answer."""
_OTHERS = 3
SHOWN = 5
"""Facts of the target that are shown for a detail, and offers, but for the own code's."""
_FIRST = 2
"""Offers of a row that another row on the same line repeats."""


@dataclass(frozen=True)
class ReportInputs:
    """What a report is made from: the engine, the list, how values compare, the facts that are held by name, and the mechanisms if they were read."""

    engine: Engine
    checklist: Checklist
    ontology: Ontology
    held: Mapping[str, Sequence[FactOccurrence]]
    places: MechanismPlaces | None = None


def report(material: ReportInputs) -> Gaps:
    """What the target leaves unsaid, weightiest gap first within its state."""
    generation = material.engine.generation
    catalog, target = generation.catalog, WorkId(generation.manifest.target)
    target_text = text.read(catalog, target)
    occurrences_by_key = all_standing(material.held)
    links = surest(catalog.links())
    context = Context(target_text.work, links, material.ontology.same, Precedence.of_meta(catalog.meta()))
    domains = _recognized(material, target_text)
    needs = asked_for(material.checklist.of(recognized.name for recognized in domains), target_text, occurrences_by_key)
    verdicts = [unclaimed(detail_verdict, occurrences_by_key, target_text.work.id) for detail_verdict in judged(needs, target_text.sentences)]
    gaps = [_gap(detail_verdict, occurrences_by_key, target_text, context) for detail_verdict in verdicts]
    mechanisms = Mechanisms(material.engine, target_text, context, (recognized.name for recognized in domains), material.places)
    gaps = _with_own(material, target_text, gaps, occurrences_by_key, context)
    gaps = without_repeated(mechanisms.rows(gaps))
    return Gaps(
        lineage=generation.manifest.lineage,
        generation=generation.manifest.id,
        target=target_text.work,
        domains=tuple(recognized.name for recognized in domains),
        gaps=tuple(_worthwhile(sorted(gaps, key=_order))),
        notes=tuple(_notes(material, target_text, domains, occurrences_by_key)),
        provenance=generation.manifest.origin,
    )


def _worthwhile(gaps: Sequence[Gap]) -> Iterator[Gap]:
    """The rows without those that others answer beyond the weightiest: nobody reads more."""
    answered = 0
    for gap in gaps:
        others = gap.state is not Specification.SPECIFIED and _worth(gap) == _OTHERS
        answered += others
        if not others or answered <= MOST:
            yield gap


def _order(gap: Gap) -> tuple[bool, int, float, int, str]:
    """What is open first, by whose value it is, then by weight, what is not named before what is."""
    states = (Specification.UNSPECIFIED, Specification.PARTIALLY_SPECIFIED, Specification.SPECIFIED)
    return gap.state is Specification.SPECIFIED, _worth(gap), -gap.detail.weight, states.index(gap.state), gap.detail.name


def _worth(gap: Gap) -> int:
    """0 for a detail that the own code has, 1 for its further settings, 2 for what those have whom the target points to, 3 for what others have,
    4 for what nobody has."""
    first = next((suggestion for suggestion in gap.suggestions if suggestion.value), None)
    if first is None:
        return 4
    if first.evidence and first.evidence[0].from_target:
        return int(gap.detail.name.startswith(SETTING))
    return _OTHERS - (gap.reason is GapReason.DEFERS)


def asked_for(
    needs: Sequence[ChecklistItem], target_text: TargetText, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]]
) -> tuple[ChecklistItem, ...]:
    """Without the details of a domain that the target's text never names and the lineage has no value of; all where there is no text."""
    if not target_text.own:
        return tuple(needs)
    spoken = named_in(needs, target_text.sentences)

    def _offered(name: str) -> bool:
        return any(not holder.mentioned for holder in occurrences_by_key.get(name, ()))

    return tuple(item for item in needs if not item.of_a_domain or item.detail.name in spoken or any(map(_offered, item.detail.facts)))


def without_repeated(gaps: Sequence[Gap]) -> list[Gap]:
    """The rows without those on a setting that another row offers from the same line."""
    offered = {
        place(occurrence)
        for gap in gaps
        if not gap.detail.name.startswith(SETTING)
        for suggestion in gap.suggestions[:_FIRST]
        for occurrence in suggestion.held
    }
    return [gap for gap in gaps if not (gap.detail.name.startswith(SETTING) and offered & set(map(place, gap.suggestions[0].held)))]


def all_standing(occurrences_by_key: Mapping[str, Sequence[FactOccurrence]]) -> dict[str, list[FactOccurrence]]:
    """The facts by name, without what the same repository overrides."""
    return {name: standing(some) for name, some in occurrences_by_key.items()}


def _recognized(material: ReportInputs, target_text: TargetText) -> tuple[DetectedDomain, ...]:
    """What the target is; where it has hardly a word of its own, what its README and the works around it speak of."""
    detected = material.checklist.recognized(target_text.work.title, target_text.work.abstract, target_text.plain)
    if target_text.own or len(target_text.sentences) > SHOWN:
        return detected
    return material.checklist.recognized(target_text.work.title, target_text.work.abstract, _surroundings(material.engine, target_text.work.id))


def _surroundings(engine: Engine, target: WorkId) -> str:
    catalog = engine.generation.catalog
    titles = [work.title for work in catalog.works() if work.kind == "paper"]
    own = [link.repo for link in catalog.links() if link.paper == target and link.tier.own]
    paths = [(repo, document.path) for repo in own for document in catalog.documents(repo) if "readme" in document.path.lower()]
    return "\n".join((*titles, *((catalog.document_text(repo, path) or "")[:20_000] for repo, path in paths[:3])))


# -- one gap


def _gap(verdict: DetailVerdict, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target_text: TargetText, context: Context) -> Gap:
    item = verdict.item
    own = stated_facts(item, occurrences_by_key, target_text.work.id)
    state = Specification.SPECIFIED if own else verdict.state
    reason, of = _reason(state, verdict, own, target_text.own)
    stated, made = [*(occurrence.evidence for occurrence in own), *_shown(verdict, target_text)], list[Suggestion]()
    if state is not Specification.SPECIFIED:
        stated += [text.hit(pointer.sentence, target_text.work, why=(Reason(ReasonKind.DEFERS, of=(pointer.cue,)),)) for pointer in verdict.pointers]
        made = _suggestions(item, occurrences_by_key, verdict.pointers, context)
    return Gap(item.detail, state, _distinct(stated)[:SHOWN], tuple(own[:SHOWN]), tuple(made), reason, of)


def _shown(verdict: DetailVerdict, target_text: TargetText) -> list[Hit]:
    """The sentences that speak of a detail as evidence."""
    return [
        text.hit(shown.sentence, target_text.work, shown.strength, (Reason(ReasonKind.STATES, of=(shown.value,)),) if shown.value else ())
        for shown in verdict.shown
    ]


def stated_facts(item: ChecklistItem, facts: Mapping[str, Sequence[FactOccurrence]], target: WorkId) -> list[FactOccurrence]:
    """The facts by which the target's own text states a detail, those of the first names first, one a value."""
    occurrences_by_key: dict[tuple[str, str], FactOccurrence] = {}
    for name in item.detail.facts:
        told = text.told(facts.get(name, ()), target)
        for occurrence in sorted(told, key=lambda candidate: (-text.section_weight(candidate.evidence.chunk), candidate.fact.line)):
            occurrences_by_key.setdefault((occurrence.fact.name, occurrence.fact.value), occurrence)
    return list(occurrences_by_key.values())


def _distinct(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    kept: dict[tuple[str, int], Hit] = {}
    for hit in hits:
        kept.setdefault((hit.chunk.id, hit.focus.start_line if hit.focus else 0), hit)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept.values(), 1))


def _suggestions(
    item: ChecklistItem, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], pointers: Sequence[Pointer], context: Context
) -> list[Suggestion]:
    """The first values, one a fact name before others of it."""
    first: dict[str, Offer] = {}
    made = offers(item.detail.facts, occurrences_by_key, pointers, context, topic=item.detail.topic)
    rest = [offer for offer in made if first.setdefault(offer.name, offer) is not offer]
    chosen = sorted([*first.values(), *rest][: max(VALUES, len(first))], key=lambda entry: entry.place)
    return [entry.suggestion for entry in chosen[:SHOWN]]


def _reason(state: Specification, verdict: DetailVerdict, own: Sequence[FactOccurrence], own_text: bool) -> tuple[GapReason, str]:
    """Why a detail stands as it does, and what that speaks of."""
    if own:
        return (GapReason.STATES_VALUES, str(len(own))) if len(own) > 1 else (GapReason.STATES_VALUE, "")
    if state is Specification.SPECIFIED:
        value = next((shown.value for shown in verdict.shown if shown.value), "")
        return (GapReason.SENTENCE_STATES, value) if value else (GapReason.SENTENCE_SAYS, "")
    if not own_text and not verdict.shown:
        return GapReason.NO_TEXT, ""
    if verdict.pointers:
        return GapReason.DEFERS, "; ".join(dict.fromkeys(f"“{pointer.cue}”" for pointer in verdict.pointers[:SHOWN]))
    return (GapReason.MENTIONED if verdict.shown else GapReason.NOT_NAMED), ""


# -- settings that no list of details knows


def _with_own(
    material: ReportInputs, target_text: TargetText, gaps: Sequence[Gap], occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], context: Context
) -> list[Gap]:
    """The rows, and rows on settings that the own code has and the text does not give."""
    if not target_text.own:
        return list(gaps)
    known = own.known_of(gaps, occurrences_by_key, target_text.work.id)
    return [*gaps, *own.rows(material.engine, own.works(material.engine), target_text, known, context)]


# -- notes


def _notes(
    material: ReportInputs,
    target_text: TargetText,
    domains: Sequence[DetectedDomain],
    occurrences_by_key: Mapping[str, Sequence[FactOccurrence]],
) -> Iterator[str]:
    detected = "; ".join(f"{domain.title} ({', '.join(domain.terms[:3])})" for domain in domains)
    yield f"detected domains: {detected}" if detected else "no domain detected: only details that every paper needs are listed"
    if not target_text.own:
        quoted = sum(sentence.chunk.path != "abstract" for sentence in target_text.sentences)
        have = f"only its abstract and {quoted} quoted sentences were read" if target_text.sentences else "nothing can count as stated"
        yield f"the target's full text is not available; {have}"
    if not any(occurrences_by_key.values()):
        yield "no values were extracted in this generation: build the lineage again"
    if material.engine.excluded:
        yield "the target's own code is excluded"
