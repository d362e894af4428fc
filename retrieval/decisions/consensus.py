"""What a lineage agrees on for one detail: its values, who holds each since when, and the one that the target inherits.

The target's own words come first, then its own code, then what it inherits from, by the role and score of the reference:
the chain of inheritance points to the value that the strongest holder has. Values that only a default has which the same
repository overrides are told with what overrides them and count for nothing by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lineage.citation import name as work_name
from lineage.citation import pinpoint
from lineage.file_roles import ASIDE
from lineage.hyperparameters.ontology import Ontology
from lineage.records import FactKind
from lineage.results import Consensus, FactOccurrence, Tallies, Tally, Value
from lineage.text.tokens import counted
from retrieval.decisions.fact_index import FactIndex, is_eval_script, standing
from retrieval.decisions.precedence import Precedence
from retrieval.decisions.provenance import by_value

_KINDS: dict[FactKind, float] = {"command": 1.0, "config": 0.9, "call": 0.75, "default": 0.6, "table": 0.9, "prose": 0.85}
_WITHOUT = "this lineage was built without facts, or has none: `lineage build` with its target reads them"
_TRAINING = frozenset(("architecture", "augmentation", "batch", "initialization", "loss", "optimizer", "precision", "regularization", "schedule"))
"""Topics that a program for trying a model says less of than the one that trains it."""
_TRIED = 0.6
_LEAST = 0.05
"""What a source is worth that nothing cites."""


def consensus(holders: FactIndex, name: str, ontology: Ontology) -> Consensus:
    """The values of a detail, the inherited one first, then by how many works hold them; raises `NotFound` for an unknown name."""
    term = ontology.find(name)
    every = holders.of(term.name)
    some = [occurrence for occurrence in every if not occurrence.mentioned]
    valid = [occurrence for occurrence in standing(some) if occurrence.fact.literal]
    weight = _weight(holders.precedence, term.topic, some)
    groups = sorted(_groups(valid, term.name, ontology, weight), key=lambda group: _support(group, weight), reverse=True)
    best = max(valid, key=weight, default=None)
    groups.sort(key=lambda group: best not in group)
    groups += _computed(some, term.name, ontology, weight)
    values = tuple(Value(group[0].fact.value, group[0].fact.unit, tuple(group), inherited=best in group) for group in groups)
    why = _why(best, values) if best else ()
    return Consensus(
        term.name, ontology.title(term.name), values, holders.lineage, holders.generation, why, tuple(_notes(some, valid, len(every), holders))
    )


def tallies(holders: FactIndex, ontology: Ontology) -> Tallies:
    """Every detail that the lineage has facts on, by topic and then by how much there is."""
    rows = []
    for name, every in holders.held.items():
        some = [occurrence for occurrence in every if not occurrence.mentioned]
        if not some:
            continue
        topic = ontology.topic(name)
        weight = _weight(holders.precedence, topic, some)
        valid = [occurrence for occurrence in standing(some) if occurrence.fact.literal]
        values = len(_groups(valid, name, ontology, weight)) + len(_computed(some, name, ontology, weight))
        rows.append(Tally(name, ontology.title(name), topic, len(some), values, len({occurrence.fact.work for occurrence in some})))
    ordered = tuple(sorted(rows, key=lambda row: (row.topic, -row.works, -row.facts, row.name)))
    return Tallies(holders.lineage, holders.generation, ordered, () if ordered else (_WITHOUT,))


def _groups(
    occurrences: Iterable[FactOccurrence], name: str, ontology: Ontology, weight: Callable[[FactOccurrence], float]
) -> list[list[FactOccurrence]]:
    """Holders by value, each group strongest first; schedules are one where they do not contradict."""
    return by_value(name, sorted(occurrences, key=weight, reverse=True), ontology.same)


def _computed(some: Iterable[FactOccurrence], name: str, ontology: Ontology, weight: Callable[[FactOccurrence], float]) -> list[list[FactOccurrence]]:
    return _groups([occurrence for occurrence in some if not occurrence.fact.literal], name, ontology, weight)


def _weight(precedence: Precedence, topic: str, some: Iterable[FactOccurrence]) -> Callable[[FactOccurrence], float]:
    """What each of some holders is worth, found once: it is asked for again and again."""
    weigh = _trained if topic in _TRAINING else _standing
    worth = {id(occurrence): weigh(precedence, topic, occurrence) for occurrence in some}
    return lambda occurrence: worth[id(occurrence)]


def _support(group: Sequence[FactOccurrence], weight: Callable[[FactOccurrence], float]) -> tuple[int, float]:
    return len({occurrence.fact.work for occurrence in group}), sum(weight(occurrence) for occurrence in group)


def _trained(precedence: Precedence, topic: str, occurrence: FactOccurrence) -> float:
    """`_standing` for a detail of training."""
    return _standing(precedence, topic, occurrence) * (_TRIED if is_eval_script(occurrence) else 1.0)


def _standing(precedence: Precedence, topic: str, occurrence: FactOccurrence) -> float:
    """How much a holder speaks for the target: its own text, its own code, then what the target takes from it; then the kind of place."""
    kind = _KINDS[occurrence.fact.kind]
    aside = not ASIDE.isdisjoint(occurrence.evidence.roles)
    if occurrence.evidence.from_target:
        own = 3.0 if occurrence.evidence.work.kind == "paper" else 2.0
        return own * (0.3 if aside else 1.0) + kind
    weight = max(_LEAST, precedence.weight(occurrence.evidence, topic))
    return weight * kind * (0.3 if aside else 1.0)


def _why(best: FactOccurrence, values: Sequence[Value]) -> tuple[str, ...]:
    """Why the first value is the one that the target inherits, in words."""
    where = f"{pinpoint(best.evidence)} has {best.fact.said or best.fact.value!r}"
    first = values[0]
    agreeing = {occurrence.fact.work for occurrence in first.held}
    others = {occurrence.fact.work for value in values[1:] for occurrence in value.held if occurrence.fact.literal}
    reasons = [f"{_by_what(best)}: {where}"]
    if best.overridden:
        reasons.append("it overrides " + ", ".join(f"{fact.value} ({fact.kind})" for fact in best.overridden) + " of the same repository")
    if len(agreeing) > 1 or others:
        elsewhere = others - agreeing
        reasons.append(
            f"{len(agreeing)} of {len(agreeing | others)} works hold it"
            + (f"; {len(elsewhere)} {'holds' if len(elsewhere) == 1 else 'hold'} something else" if elsewhere else "")
        )
    return tuple(reasons)


def _by_what(best: FactOccurrence) -> str:
    hit = best.evidence
    if hit.from_target:
        return "the target says so itself" if hit.work.kind == "paper" else "the target's own code says so"
    edge = hit.reference
    if edge is None:
        return "nothing that the target cites says it; this work was added to the lineage"
    role = edge.roles[0].role.value if edge.roles else "reference"
    paper = f", the code of {hit.paper.id}" if hit.paper and hit.work.kind == "code" else ""
    sentence = next((verdict.sentence for verdict in edge.roles if verdict.sentence), "")
    quoted = f" (“{' '.join(sentence.split())[:200]}”)" if sentence else ""
    whose = work_name(hit.work) if hit.work.id.startswith("local:") else hit.work.id
    return f"strongest of what the target inherits: {whose}{paper}, {role} of {edge.citing}{quoted}"


def _notes(some: Sequence[FactOccurrence], standing: Sequence[FactOccurrence], every: int, holders: FactIndex) -> Iterable[str]:
    if every > len(some):
        yield f"{every - len(some)} places are in repositories that a paper only mentions; their values are not offered"
    computed = sum(not occurrence.fact.literal for occurrence in some)
    if computed:
        yield f"{counted(computed, 'place')} {'computes' if computed == 1 else 'compute'} it: the expression is given as written, nothing was run"
    overridden = len(some) - len(standing) - computed
    if overridden:
        yield f"{counted(overridden, 'value')} {'is' if overridden == 1 else 'are'} overridden within the same repository"
    if not some:
        yield unstated(holders.lineage) if holders.held else _WITHOUT


def unstated(lineage: str) -> str:
    """The note on a detail that no fact is of."""
    return f"no source of {lineage} states it"
