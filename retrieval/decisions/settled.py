"""What a lineage settles a question with: of each detail or mechanism that it asks for, which works have which value or statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from lineage.records import Settled, SettledSide
from retrieval.decisions.consensus import consensus
from retrieval.decisions.fact_index import is_low_evidence_path
from retrieval.decisions.provenance import line_at, measured

if TYPE_CHECKING:
    from lineage.hyperparameters.mechanisms import MechanismKind
    from lineage.hyperparameters.ontology import Ontology
    from retrieval.decisions.fact_index import FactIndex
    from retrieval.decisions.mechanism_places import HeldPlace, MechanismPlaces

_DETAILS, _VALUES, _HOLDERS = 3, 4, 3
_SURE, _WORKS, _LONGEST = 0.35, 5, 110


def settled_values(holders: FactIndex, details: Sequence[str], known: Ontology, without: AbstractSet[str]) -> Iterator[Settled]:
    """The values of each detail, that of the target and its nearest works first, each with the works that hold it."""
    for name in details[:_DETAILS]:
        found = consensus(holders, name, known)
        sides = []
        for value in found.values:
            valid = [
                one for one in value.held if one.fact.literal and one.fact.work not in without and not (measured(one) or is_low_evidence_path(one))
            ]
            hits = {one.fact.work: one.evidence for one in reversed(valid)}
            if hits:
                sides.append(SettledSide(f"{value.value} {value.unit}".strip(), tuple(hits.values())[::-1][:_HOLDERS]))
        if sides:
            yield Settled(found.title, tuple(sides[:_VALUES]))


def settled_mechanisms(asked: Sequence[tuple[MechanismKind, float]], places: MechanismPlaces, without: AbstractSet[str]) -> Iterator[Settled]:
    """The statement of each repository that says most of each mechanism, the ancestors of its part first."""
    for kind, share in asked:
        held = [of_work[0] for of_work in places.of(kind) if of_work[0].occurrence.fact.work not in without] if share >= _SURE else []
        if held:
            yield Settled(kind.title, tuple(map(_side, held[:_WORKS])))


def _side(place: HeldPlace) -> SettledSide:
    fact, hit = place.occurrence.fact, place.occurrence.evidence
    said = " ".join(" ".join(line_at(hit.chunk, line) for line in range(fact.line, max(fact.line, fact.end_line) + 1)).split())
    return SettledSide(said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…", (hit,))
