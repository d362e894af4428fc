"""The report of gaps as a generation keeps it: made at the end of a build, read by whoever asks, filtered by state and topic.

A hit is kept by the chunk, work and reference that it names; what they hold stands in the catalogue and is put in again
when the report is read. A report is of use only to whoever has the same lists of details, names and words (`digest`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from pydantic import TypeAdapter

from lineage.catalog.reader import Catalog
from lineage.errors import UsageError
from lineage.hyperparameters.terms import american
from lineage.records import Chunk, FileProfile, Hit, Reference, Work
from lineage.results import Conflict, FactOccurrence, Gap, Gaps, Specification, Suggestion
from retrieval.search.work_relations import WorkRelations

VERSION = "report@17"
"""What a change of the report's rules raises, so that reports of before are made anew."""
_PACKAGED = (
    ("lineage", "data/details.json"),
    ("lineage", "data/ontology.json"),
    ("lineage", "data/mechanisms.json"),
    ("retrieval", "data/vocabulary.json"),
)
_ADAPTER = TypeAdapter[tuple[str, Gaps]](tuple[str, Gaps])


def digest(own: Iterable[Path | None]) -> str:
    """What a report depends on besides its generation: its version, the packaged lists, and the user's `own` files."""
    total = hashlib.sha256(VERSION.encode())
    for package, name in _PACKAGED:
        total.update(files(package).joinpath(name).read_bytes())
    for path in own:
        total.update(b"\0" + (path.read_bytes() if path and path.is_file() else b""))
    return total.hexdigest()[:16]


def dumped(report: Gaps, mark: str, catalog: Catalog, relations: WorkRelations) -> bytes:
    """A report that was made with what `mark` names, to be kept beside the catalogue."""
    pointed = _Pointing(catalog.chunks_of(hit.chunk.id for hit in _hits(report)), relations)
    return _ADAPTER.dump_json((mark, _mapped(report, pointed.stripped)), exclude_defaults=True)


def loaded(data: bytes, mark: str, catalog: Catalog, relations: WorkRelations) -> Gaps | None:
    """The report again; None for one that was made with something else, or is not whole."""
    try:
        made_with, report = _ADAPTER.validate_json(data)
    except ValueError:
        return None
    if made_with != mark:
        return None
    pointed = _Pointing(catalog.chunks_of(hit.chunk.id for hit in _hits(report)), relations)
    return _mapped(report, pointed.filled)


@dataclass(frozen=True)
class _Pointing:
    """The chunks by identifier and the relations of works that hits are told by."""

    chunks: Mapping[str, Chunk]
    relations: WorkRelations

    def stripped(self, hit: Hit) -> Hit:
        """The hit by names alone, as far as they give all of it back; else whole."""
        work, chunk, reference = hit.work, hit.chunk, hit.reference
        pointer = replace(
            hit,
            chunk=Chunk(chunk.id, chunk.work, chunk.path, chunk.kind, "", "", "", 0, 0, 0, 0, copies=chunk.copies),
            work=Work(work.id),
            reference=Reference(reference.citing, reference.cited) if reference else None,
            paper=Work(hit.paper.id) if hit.paper else None,
            file=FileProfile(hit.file.work, hit.file.path) if hit.file else None,
        )
        return pointer if self.filled(pointer) == hit else hit

    def filled(self, hit: Hit) -> Hit:
        """The hit with everything that its names stand for."""
        known = self.chunks.get(hit.chunk.id)
        if hit.chunk.text or known is None:
            return hit
        relation, chunk = self.relations.of(hit.work.id), replace(known, work=hit.chunk.work, path=hit.chunk.path, copies=hit.chunk.copies)
        return replace(
            hit,
            chunk=chunk,
            work=relation.work,
            reference=relation.reference if hit.reference else None,
            paper=relation.paper if hit.paper else None,
            file=self.relations.file(chunk) if hit.file else None,
        )


def _hits(report: Gaps) -> list[Hit]:
    hits: list[Hit] = []

    def kept(hit: Hit) -> Hit:
        hits.append(hit)
        return hit

    _mapped(report, kept)
    return hits


def _mapped(report: Gaps, change: Callable[[Hit], Hit]) -> Gaps:
    """The report with every hit changed."""

    def occurrences(some: Iterable[FactOccurrence]) -> tuple[FactOccurrence, ...]:
        return tuple(replace(occurrence, evidence=change(occurrence.evidence)) for occurrence in some)

    def suggestion(made: Suggestion) -> Suggestion:
        return replace(made, held=occurrences(made.held), evidence=tuple(map(change, made.evidence)))

    def gap(row: Gap) -> Gap:
        suggestions = tuple(map(suggestion, row.suggestions))
        return replace(row, stated=tuple(map(change, row.stated)), facts=occurrences(row.facts), suggestions=suggestions)

    def conflict(row: Conflict) -> Conflict:
        return replace(row, sides=occurrences(row.sides))

    return replace(report, gaps=tuple(map(gap, report.gaps)), conflicts=tuple(map(conflict, report.conflicts)))


def chosen(gaps: Gaps, state: str = "", topic: str = "") -> Gaps:
    """The report with the rows of one state and one topic only; raises `UsageError` for what is neither."""
    wanted = state.upper().replace(" ", "_").replace("-", "_")
    wanted = {"PARTIAL": Specification.PARTIALLY_SPECIFIED.value}.get(wanted, wanted)
    if wanted and wanted not in Specification.__members__:
        raise UsageError(f"there is no state {state!r}", hint="states: " + ", ".join(specification.value.lower() for specification in Specification))
    topics = sorted({gap.detail.topic for gap in gaps.gaps})
    topic = american(topic.strip().lower())
    if topic and topic not in topics:
        raise UsageError(f"no detail has the topic {topic!r}", hint="topics: " + ", ".join(topics))
    rows = tuple(gap for gap in gaps.gaps if (not wanted or gap.state.value == wanted) and (not topic or gap.detail.topic == topic))
    return replace(gaps, gaps=rows)
