"""What a lineage settles a question with: of each detail or mechanism that it asks for, which works have which value or statement.

None of it depends on the question but which details and mechanisms are asked for, so a build keeps all of it beside the catalogue (`dumped`),
by the rows of chunks; a generation that keeps none, or one made with other lists, has it made name by name when it is asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from lineage.records import MECHANISM, Focus, Settled, SettledSide, WorkId
from retrieval.decisions.provenance import evidence

if TYPE_CHECKING:
    from lineage.catalog.reader import Catalog
    from lineage.generation import Generation
    from lineage.hyperparameters.mechanisms import MechanismKind
    from lineage.hyperparameters.ontology import Ontology
    from lineage.records import Chunk, Hit
    from retrieval.decisions.fact_index import FactIndex
    from retrieval.decisions.mechanism_places import MechanismPlaces
    from retrieval.search.work_relations import WorkRelations

VERSION = "settled@2"
"""What a change of the rules of values or mechanisms raises, so that what was kept before is made anew."""
_DETAILS, _VALUES = 3, 4
_PLACES = 8
"""Statements of one repository that are kept of a mechanism."""


class ValuePlace(NamedTuple):
    """Where a work has a value."""

    work: WorkId
    row: int
    line: int


class HeldValue(NamedTuple):
    """A value of a detail as it is shown, and where each work has it."""

    said: str
    places: Sequence[ValuePlace]


class StatementPlace(NamedTuple):
    """A statement: the row of its chunk, its lines, and how much it says."""

    row: int
    line: int
    end_line: int
    score: float


class StatingWork(NamedTuple):
    """A work, how much it speaks for the target, and its statements of a mechanism that say most, best first."""

    work: WorkId
    standing: float
    places: Sequence[StatementPlace]


class SettledIndex:
    """What the works of a generation hold of each detail and mechanism: read from what it keeps, else made by `making`."""

    def __init__(self, making: Callable[[], Making], kept: bytes | None = None, mark: str = "") -> None:
        self._making = making
        self._kept = _lines(kept, mark) if kept else None
        self._read: dict[str, Any] = {}

    @cached_property
    def _made(self) -> Making:
        return self._making()

    def values(self, name: str) -> Sequence[HeldValue]:
        """The values of a detail, that of the target and its nearest works first."""
        if name not in self._read:
            self._read[name] = (
                self._made.values(name)
                if self._kept is None
                else [HeldValue(value, [ValuePlace(*place) for place in places]) for value, places in self._row(name)]
            )
        return self._read[name]  # type: ignore[no-any-return]

    def statements(self, kind: MechanismKind) -> Sequence[StatingWork]:
        """The works that state a mechanism, the ancestors of its part first."""
        key = MECHANISM + kind.name
        if key not in self._read:
            self._read[key] = (
                self._made.statements(kind)
                if self._kept is None
                else [StatingWork(work, standing, [StatementPlace(*place) for place in places]) for work, standing, places in self._row(key)]
            )
        return self._read[key]  # type: ignore[no-any-return]

    def _row(self, name: str) -> list[Any]:
        line = (self._kept or {}).get(name)
        return json.loads(line) if line else []


class Making:
    """Values and statements of a catalogue, by the names of details and mechanisms; `facts` gives those of some details."""

    def __init__(
        self, catalog: Catalog, relations: WorkRelations, facts: Callable[[str], FactIndex], known: Ontology, mechanisms: MechanismPlaces
    ) -> None:
        self._catalog, self._relations, self._facts, self._known, self.mechanisms = catalog, relations, facts, known, mechanisms

    @classmethod
    def of(cls, generation: Generation, relations: WorkRelations, known: Ontology, facts: FactIndex | None = None) -> Making:
        """Those of a generation, out of all its `facts` or of those of the details that are asked for."""
        from retrieval.decisions.fact_index import holders
        from retrieval.decisions.mechanism_places import MechanismPlaces
        from retrieval.decisions.precedence import Precedence

        catalog, manifest = generation.catalog, generation.manifest
        of_names = partial(holders, catalog, relations, manifest.lineage, manifest.id, WorkId(manifest.target))
        mechanisms = MechanismPlaces(catalog, relations, Precedence.of_meta(catalog.meta()))
        return cls(catalog, relations, lambda name: facts or of_names([name]), known, mechanisms)

    def values(self, name: str) -> list[HeldValue]:
        """As `SettledIndex.values`."""
        from retrieval.decisions.consensus import consensus
        from retrieval.decisions.fact_index import is_low_evidence_path

        by_value = []
        for value in consensus(self._facts(name), name, self._known).values:
            valid = [holder for holder in value.held if holder.fact.literal and not is_low_evidence_path(holder)]
            first = {holder.fact.work: holder for holder in reversed(valid)}
            if first:
                by_value.append((f"{value.value} {value.unit}".strip(), list(first.values())[::-1]))
        rows = self._rows([holder.fact.chunk for _, some in by_value for holder in some])
        return [
            HeldValue(words, [ValuePlace(holder.fact.work, rows[holder.fact.chunk], holder.fact.line) for holder in some]) for words, some in by_value
        ]

    def statements(self, kind: MechanismKind) -> list[StatingWork]:
        """As `SettledIndex.statements`."""
        ranked = self.mechanisms.ranked(kind, _PLACES)
        rows = self._rows([fact.chunk for work in ranked for _, fact in work.facts])
        return [
            StatingWork(
                work.work,
                work.standing,
                [StatementPlace(rows[fact.chunk], fact.line, max(fact.line, fact.end_line), score) for score, fact in work.facts],
            )
            for work in ranked
        ]

    def _rows(self, chunks: Sequence[str]) -> Mapping[str, int]:
        """The first row of each chunk."""
        outlines = self._catalog.outlines(self._catalog.rows_of(chunks))
        return {outline.chunk.id: row for row, outline in outlines.items()}


def settled_values(index: SettledIndex, details: Sequence[str], known: Ontology, without: AbstractSet[str], shown: Shown) -> Iterator[Settled]:
    """The values of each detail, that of the target and its nearest works first, each with the works that hold it."""
    for name in details[:_DETAILS]:
        by_value = ((value.said, [place for place in value.places if place.work not in without]) for value in index.values(name))
        some = [(words, places) for words, places in by_value if places][:_VALUES]
        if some:
            yield Settled(known.title(name), tuple(SettledSide(words, shown.hit(*places[0]), len(places)) for words, places in some))


class Shown(NamedTuple):
    """What makes hits of places: chunks by their rows, and how works are related to the target."""

    chunks: Callable[[Sequence[int]], Sequence[Chunk]]
    relations: WorkRelations

    def hit(self, work: WorkId, row: int, line: int, end_line: int = 0) -> Hit:
        """The chunk of a row as evidence of a work, which points at the lines."""
        (chunk,) = self.chunks([row])
        hit = evidence(chunk if chunk.work == work else replace(chunk, work=work), self.relations, line)
        return replace(hit, focus=Focus(line, max(line, end_line)))


# -- what a generation keeps: a line with the mark and the names, then a line of JSON for each


def mark(known: Ontology) -> str:
    """What is kept depends on this besides its generation: the rules, the details and the kinds of mechanisms."""
    kinds = files("lineage").joinpath("data/mechanisms.json").read_bytes()
    return hashlib.sha256(f"{VERSION} {known.digest} ".encode() + kinds).hexdigest()[:16]


def dumped(made: Making, names: Sequence[str], kinds: Sequence[MechanismKind], mark: str) -> bytes:
    """All that is held of some details and kinds, made with what `mark` names."""
    rows: dict[str, Sequence[HeldValue | StatingWork]] = {name: made.values(name) for name in names}
    rows |= {MECHANISM + kind.name: made.statements(kind) for kind in kinds}
    filled = {name: some for name, some in rows.items() if some}
    return "\n".join(json.dumps(row, separators=(",", ":")) for row in ((mark, *filled), *filled.values())).encode()


def _lines(kept: bytes, mark: str) -> dict[str, bytes] | None:
    """Lines by name; None for what was made with something else."""
    first, *rest = kept.split(b"\n")
    made_with, *names = json.loads(first)
    return dict(zip(names, rest, strict=True)) if made_with == mark else None
