"""A view of a finished catalog without some repositories and files, and without what is derived from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineage.catalog.reader import Catalog, Outline, StoredDocument, document_key
from lineage.code_links.target_code import in_catalog, own_exclusion
from lineage.records import Chunk, ChunkKind, CodeLink, Fact, FileProfile, Reference, Setting, Work, WorkId
from lineage.references.ranking import without_signals
from lineage.references.signals import RankSignal

_PAIRS = {"shared_code": ("one", "other"), "derivations": ("source", "taker")}
"""What the catalogue says of two repositories, and under which keys."""


def without_target_code(catalog: Catalog) -> PartialCatalog | None:
    """The catalogue without the target's own code, copies of it included; None where it holds none."""
    target_code = in_catalog(catalog, own_exclusion(catalog))
    return PartialCatalog(catalog, target_code.works, target_code.files) if target_code.works or target_code.files else None


class PartialCatalog(Catalog):
    """`whole` without some `works` and `files` (work, path). Rows keep their numbers, so that the vectors fit; closing it closes the whole."""

    def __init__(self, whole: Catalog, works: Iterable[WorkId], files: Iterable[tuple[WorkId, str]] = ()) -> None:
        self.path = whole.path
        self._whole = whole
        self._profiles = {}
        self._works = frozenset(works)
        self._files = frozenset(files)
        self.without = frozenset({*self._works, *(document_key(*file) for file in self._files)})
        """What is missing, as `rows` and `lexical` take it."""

    def _all(self, statement: str, values: Sequence[Any] = (), seconds: float = 60.0) -> list[tuple[Any, ...]]:
        return self._whole._all(statement, values, seconds)  # noqa: SLF001 - the same class

    def close(self) -> None:
        """Close the whole catalogue."""
        self._whole.close()

    def _has(self, work: str, path: str = "") -> bool:
        return work not in self._works and (WorkId(work), path) not in self._files

    def meta(self) -> dict[str, Any]:
        """The same, without pairs of repositories of which one is missing, and with the ancestors as the text alone tells them."""
        meta = self._whole.meta()
        return {
            **meta,
            "ancestors": meta.get("ancestors_by_text", ()),
            **{key: [row for row in meta[key] if all(map(self._holds, map(row.get, ends)))] for key, ends in _PAIRS.items() if key in meta},
        }

    def _holds(self, end: str | Mapping[str, Any]) -> bool:
        return self._has(end) if isinstance(end, str) else self._has(end["work"], end["path"])

    def works(self) -> tuple[Work, ...]:
        """Every work that is not missing."""
        return tuple(work for work in self._whole.works() if self._has(work.id))

    def work(self, id_: str) -> Work | None:
        """The work of an identifier or alias, None for a missing one."""
        work = self._whole.work(id_)
        return work if work and self._has(work.id) else None

    def references(self, citing: str | None = None) -> tuple[Reference, ...]:
        """Edges to what is not missing, scored without what they share with the target's code."""
        meta = self._whole.meta()
        target = WorkId(str(meta.get("target") or ""))
        edges = (edge for edge in self._whole.references(citing) if self._has(edge.cited))
        return without_signals(edges, self._code_signals(meta), target)

    def _code_signals(self, meta: Mapping[str, Any]) -> Mapping[WorkId, Sequence[RankSignal]]:
        """What the target's code said of its references."""
        return {WorkId(work): [RankSignal(*row) for row in rows] for work, rows in meta.get("code_signals", {}).items()}

    def links(self) -> tuple[CodeLink, ...]:
        """Links to repositories that are not missing."""
        return tuple(link for link in self._whole.links() if self._has(link.repo))

    def facts(self, name: str | None = None) -> tuple[Fact, ...]:
        """Facts of what is not missing."""
        return tuple(fact for fact in self._whole.facts(name) if self._has(fact.work) and fact.chunk not in self._chunks)

    def mechanisms(self, kind: str = "") -> tuple[Fact, ...]:
        """Mechanisms of what is not missing."""
        return tuple(fact for fact in self._whole.mechanisms(kind) if self._has(fact.work) and fact.chunk not in self._chunks)

    @cached_property
    def _chunks(self) -> frozenset[str]:
        """Chunks of the missing files."""
        rows = [row for work, path in sorted(self._files) for row in self._whole.neighbours(work, path)]
        return frozenset(chunk.id for chunk in self._whole.chunks(rows))

    def settings(self, work: WorkId, names: Sequence[str] = ()) -> Sequence[Setting]:
        """Settings of the files that are not missing."""
        return tuple(setting for setting in self._whole.settings(work, names) if self._has(work, setting.path))

    def _profile(self, work: WorkId) -> Iterable[FileProfile]:
        return (file for file in self._whole.files(work).values() if self._has(work, file.path))

    def works_read(self) -> frozenset[WorkId]:
        """Works of which there are documents, and that are not missing."""
        return frozenset(filter(self._has, self._whole.works_read()))

    def documents(self, work: str | None = None) -> tuple[StoredDocument, ...]:
        """Documents that are not missing."""
        return tuple(document for document in self._whole.documents(work) if self._has(document.work, document.path))

    def document_text(self, work: str, path: str) -> str | None:
        """The text of a document, None for a missing one."""
        return self._whole.document_text(work, path) if self._has(work, path) else None

    def chunk(self, id_: str) -> Chunk | None:
        """The chunk of an identifier, None for one of what is missing."""
        chunk = self._whole.chunk(id_)
        return chunk if chunk and self._has(chunk.work, chunk.path) else None

    def chunks_of(self, ids: Iterable[str]) -> dict[str, Chunk]:
        """The chunks of those identifiers that are not of what is missing."""
        return {id_: chunk for id_, chunk in self._whole.chunks_of(ids).items() if self._has(chunk.work, chunk.path)}

    def outlines(self, rows: Sequence[int]) -> dict[int, Outline]:
        """Outlines of rows, as the whole has them."""
        return self._whole.outlines(rows)

    def homes(self, rows: Sequence[int]) -> dict[int, list[tuple[int, WorkId, str, int, int]]]:
        """Homes of texts that are not missing."""
        homes = self._whole.homes(rows)
        return {row: [home for home in some if self._has(home[1], home[2])] for row, some in homes.items()}

    def rows(self, kinds: Collection[ChunkKind] = (), without: Collection[str] = ()) -> NDArray[np.int64]:
        """Rows of all chunks of these kinds that are not missing."""
        return self._whole.rows(kinds, self.without.union(without))

    def lexical(
        self, asked: Sequence[tuple[str, float]], k: int, *, kinds: Collection[ChunkKind] = (), without: Collection[str] = ()
    ) -> list[tuple[int, float]]:
        """The best chunks that are not missing."""
        return self._whole.lexical(asked, k, kinds=kinds, without=self.without.union(without))

    def held(self, terms: Collection[str], rows: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """What the whole says of rows."""
        return self._whole.held(terms, rows)

    def texts(
        self, literal: str = "", any_case: bool = False, words: Sequence[str] = (), kinds: Collection[ChunkKind] = (), without: Collection[str] = ()
    ) -> list[tuple[int, str]]:
        """Texts of chunks that are not missing."""
        return self._whole.texts(literal, any_case, words, kinds, self.without.union(without))
