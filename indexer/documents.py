"""From what was collected to what a generation holds: documents, the ledger and vectors.

Repositories are parsed here. What code they share is known only now, so the references are ranked once more with it; the
documents are put in the order in which they are worth embedding.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from indexer.read_document import ReadDocument, Stated
from indexer.repo_profile import VERSION as PROFILE
from indexer.repo_profile import names_of, profiles
from indexer.repositories import Code, Repository, read_repository
from indexer.sandbox.pool import WORKERS
from indexer.store.computed_cache import remembered
from lineage.code_links.exclusion import Exclusion
from lineage.code_links.target_code import is_copied
from lineage.code_reuse import clones, derivation, reuse
from lineage.code_reuse.derivation import Ages, Derivation
from lineage.code_reuse.reuse import Shared
from lineage.errors import ParseError
from lineage.licenses import CUSTOM, of_text
from lineage.progress import Stage
from lineage.records import Chunk, Document, FileProfile, LedgerRow, Span, Status, Work, WorkId
from lineage.references.ancestors import ancestors, cocitation_signals, naming_signals, reuse_signals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.build_context import BuildContext
    from indexer.collect import Collected
    from indexer.work_budget import Allowance
    from lineage.catalog.writer import CatalogWriter
    from lineage.generation import Generation
    from lineage.ports import Embedder, Vectors
    from lineage.references.signals import Ancestor, RankSignal

_LICENCE = re.compile(r"(?:licen[cs]e|copying)(?:[.-](?:md|rst|txt|mit|apache|bsd))?\Z", re.IGNORECASE)
_NOTE = 200
"""Characters of a licence of its own that are kept as a note."""


@dataclass(frozen=True)
class ComparedCode:
    """What the repositories of a lineage share, who has which function from whom, and what each file is for."""

    shared: tuple[Shared, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    profiles: tuple[FileProfile, ...] = ()


@dataclass(frozen=True)
class Contents:
    """A generation's rows, before chunking. `documents` stand in the order in which they are to be embedded.

    `code_signals` are what the target's own code tells of its references, `ancestors_by_text` the ancestors without it.
    """

    collected: Collected
    documents: tuple[ReadDocument, ...]
    rows: tuple[LedgerRow, ...]
    code: ComparedCode = field(default_factory=lambda: ComparedCode())
    ancestors: tuple[Ancestor, ...] = ()
    ancestors_by_text: tuple[Ancestor, ...] = ()
    code_signals: Mapping[WorkId, Sequence[RankSignal]] = field(default_factory=dict)

    def into(self, catalog: CatalogWriter) -> tuple[ReadDocument, ...]:
        """Write everything but what documents are cut into and state; gives those of which that is not in the catalogue yet.

        The catalogue asserts that what went in came out.
        """
        catalog.add_works(self.collected.works.values())
        catalog.add_references(self.collected.references)
        catalog.add_links(self.collected.links)
        new = tuple(document for document in self.documents if catalog.add_document(document, len(document.cuts)))
        catalog.add_ledger(self.rows)
        catalog.expect("reference", len(self.collected.references))
        for kind in ("member", "page", "source"):
            catalog.expect(kind, sum(row.kind == kind for row in self.rows))
        catalog.set_meta("target", self.collected.target.id)
        catalog.set_meta("request", self.collected.request.as_meta())
        catalog.add_files(self.code.profiles)
        catalog.set_meta("coverage", dict(self.collected.coverage))
        catalog.set_meta("kept_out", sorted(self.collected.kept_out))
        catalog.set_meta("kept_out_names", sorted(self.collected.kept_out_names))
        catalog.set_meta("kept_out_claims", [kept_out.as_meta() for kept_out in self.collected.kept_out_claims])
        catalog.set_meta("kept_out_since", self.collected.since)
        catalog.set_meta("shared_code", [shared.as_meta() for shared in self.code.shared])
        catalog.set_meta("derivations", [record.as_meta() for record in self.code.derivations])
        catalog.set_meta("ancestors", [ancestor.as_meta() for ancestor in self.ancestors])
        catalog.set_meta("ancestors_by_text", [ancestor.as_meta() for ancestor in self.ancestors_by_text])
        catalog.set_meta(
            "code_signals", {work: [[signal.name, signal.value, signal.words] for signal in signals] for work, signals in self.code_signals.items()}
        )
        catalog.set_meta("notes", list(self.collected.notes))
        catalog.set_meta("facts_notes", [f"{document.work}: {note}" for document in self.documents for note in document.stated.notes])
        return new

    def within(self, allowance: Allowance) -> Contents:
        """The same without what is made of documents that a budget leaves out; their rows say so."""
        documents = tuple(replace(document, cuts=(), stated=Stated()) if allowance.refuses(document) else document for document in self.documents)
        return replace(self, documents=documents, rows=allowance.rows(self.rows))


def read(bench: BuildContext, collected: Collected) -> Contents:
    """Parse the repositories and put everything together, most lineage-relevant first."""
    papers = [text.document for text in collected.texts.values() if text.document]
    code = _own(collected, _code(bench, collected))
    parsed = [document for repository_code in code for document in repository_code.documents]
    compared = _compared(bench, collected, parsed)
    collected = replace(collected, works={**collected.works, **_licensed(collected, parsed)})
    of_code, of_place, named = _of_code(collected, compared.shared, parsed), _of_place(collected), collected.named()
    by_text = collected.ranked(of_place, named)
    collected = collected.ranked(_joined(of_code, of_place), named)
    abstracts = list(_abstracts(bench, collected))
    documents = [*papers, *(document for document, _ in abstracts if document), *parsed]
    rows = (*collected.rows, *(row for _, row in abstracts if row), *(row for repository_code in code for row in repository_code.rows))
    parts = ancestors(collected.own_references(), named, of_code, collected.target), ancestors(by_text.own_references(), named, {}, collected.target)
    return Contents(collected, _ordered(collected, documents), rows, compared, *parts, of_code)


def _compared(bench: BuildContext, collected: Collected, parsed: Sequence[Document]) -> ComparedCode:
    """The code of all repositories compared, once as long as nothing of it changes."""
    ages = Ages.of(collected.works.values(), collected.links, collected.references)
    names = {work: names_of(work, collected.works.get, collected.links) for work in dict.fromkeys(document.work for document in parsed)}
    key = hashlib.sha256(repr((ages.told(), names)).encode("utf-8", "surrogatepass"))
    for document in parsed:
        key.update("\0".join((document.work, document.path, document.kind, document.parser, document.text)).encode("utf-8", "surrogatepass"))

    def make() -> ComparedCode:
        derived = derivation.derivations(parsed, ages, partial(_sketched, bench))
        return ComparedCode(reuse.shared(parsed), derived, tuple(profiles(parsed, collected.works.values(), collected.links)))

    return remembered(bench.derived, ComparedCode, key.hexdigest(), f"{derivation.VERSION} {clones.VERSION} {PROFILE}", make)


def _sketched(bench: BuildContext, texts: Sequence[str]) -> clones.Sketches:
    """The sketches of one repository's functions, made once."""
    key = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    kept = bench.derived.get(key, "sketches", clones.VERSION)
    if kept is None:
        made = clones.sketches(texts)
        bench.derived.put(key, "sketches", clones.VERSION, b"".join(part.astype("<u8").tobytes() for part in made))
        return made
    numbers = np.frombuffer(kept, "<u8")
    return clones.Sketches(numbers[: len(texts)].astype(np.int64), numbers[len(texts) :])


def _licensed(collected: Collected, parsed: Sequence[Document]) -> dict[WorkId, Work]:
    """Repositories for which no service names a licence, with that of the file at their top."""
    works_by_key: dict[WorkId, Work] = {}
    for document in parsed:
        work = collected.works.get(document.work)
        if work and not work.license and work.id not in works_by_key and _LICENCE.match(document.path):
            licence = of_text(document.text)
            note = {"licence_note": " ".join(document.text[:_NOTE].split())} if licence == CUSTOM else {}
            works_by_key[work.id] = replace(work, license=licence, meta={**work.meta, "licence_file": document.path, **note})
    return works_by_key


def _of_code(collected: Collected, reused: Sequence[Shared], parsed: Sequence[Document]) -> dict[WorkId, tuple[RankSignal, ...]]:
    """What the parsed code of the target tells of its references: what it shares with theirs, and which it names."""
    by_reuse = reuse_signals(reused, collected.links, collected.target.id)
    by_name = naming_signals(parsed, collected.own_references(), collected.works, collected.links, collected.target)
    return _joined(by_reuse, by_name)


def _of_place(collected: Collected) -> dict[WorkId, tuple[RankSignal, ...]]:
    """What the bibliographies of the fetched papers tell of the target's references."""
    lists = {name: text.document.bibliography for name, text in collected.texts.items() if text.document and name != collected.target.id}
    return cocitation_signals(collected.own_references(), collected.works, lists)


def _joined(signals: Mapping[WorkId, Sequence[RankSignal]], other: Mapping[WorkId, Sequence[RankSignal]]) -> dict[WorkId, tuple[RankSignal, ...]]:
    return {work: (*signals.get(work, ()), *other.get(work, ())) for work in {**signals, **other}}


def cut(rows: Iterable[LedgerRow]) -> set[tuple[WorkId, str]]:
    """What time or memory cut: the next build reads it again."""
    return {(row.work, row.subject) for row in rows if row.status.cut}


def reads_further(bench: BuildContext, collected: Collected, before: Set[tuple[WorkId, str]]) -> bool:
    """Whether anything that was cut before is now read to its end."""
    works = {work for work, _ in before}
    again = replace(collected, repositories=tuple(repository for repository in collected.repositories if repository.work.id in works))
    return not before <= cut([*collected.rows, *(row for code in _code(bench, again) for row in code.rows)])


def _code(bench: BuildContext, collected: Collected) -> list[Code]:
    def parsed(repository: Repository) -> Code:
        return read_repository(bench, repository.work.id, repository.blob)

    codes = bench.each("parse code", collected.repositories, parsed, lambda repository: repository.work.id, WORKERS)
    return [*codes, *(addition.code for addition in collected.added if addition.code)]


def _own(collected: Collected, code: Sequence[Code]) -> list[Code]:
    """The code without files that are copies of the target's, where that is to be kept out; their rows say so."""
    if not collected.request.no_target_code:
        return list(code)
    exclusion = Exclusion(no_target_code=True, own=collected.kept_out_names, content=collected.kept_out)
    return [_without_copies(exclusion, repository_code) for repository_code in code]


def _without_copies(exclusion: Exclusion, code: Code) -> Code:
    copied = {(document.work, document.path): reason for document in code.documents if (reason := is_copied(exclusion, document))}
    rows = (
        replace(row, stage="select", status=Status.POLICY_SKIPPED, detail=copied[row.work, row.subject])
        if row.kind == "member" and (row.work, row.subject) in copied
        else row
        for row in code.rows
    )
    return Code(tuple(document for document in code.documents if (document.work, document.path) not in copied), tuple(rows))


def _abstracts(bench: BuildContext, collected: Collected) -> Iterator[tuple[ReadDocument | None, LedgerRow | None]]:
    """Works of which only the abstract is known, as documents of one paragraph, or the rows of those that could not be read."""
    documents = list(_as_documents(collected))
    with bench.clock.timed("parse"):
        for document, made in zip(documents, bench.sandbox.documents(documents, bench.wanted()), strict=True):
            if isinstance(made, ParseError):
                yield None, LedgerRow("source", document.work, "abstract", "parse", made.status, str(made))
            else:
                yield made, None


def _as_documents(collected: Collected) -> Iterator[Document]:
    for work in collected.works.values():
        text = collected.texts.get(work.id)
        if work.kind == "paper" and work.abstract and not (text and text.document):
            span = Span(0, len(work.abstract), "abstract", ("Abstract",))
            yield Document(work.id, "abstract", work.abstract, (span,), "abstract@1", "paper", title=work.title, status=Status.ABSTRACT_ONLY)


def _ordered(collected: Collected, documents: Sequence[ReadDocument]) -> tuple[ReadDocument, ...]:
    scores: dict[WorkId, float] = {collected.target.id: 2.0}
    for reference in collected.references:
        scores[reference.cited] = max(reference.score, scores.get(reference.cited, 0.0))
    for repository in collected.repositories:
        scores[repository.work.id] = scores.get(repository.link.paper, 0.0)
    return tuple(sorted(documents, key=lambda d: (-scores.get(d.work, 0.0), d.work, d.path)))


_BATCH = 256
"""Texts embedded at a time: enough to sort by length, few enough to lose little when interrupted."""


def passage(chunk: Chunk) -> str:
    """What is embedded of a chunk: its header and its text."""
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text


def missing(bench: BuildContext, embedder: Embedder, chunks: Sequence[Chunk]) -> int:
    """How many distinct texts have no vector yet."""
    keys = {_key(passage(chunk)) for chunk in chunks}
    return len(keys) - len(bench.vectors.get(embedder.id, sorted(keys)))


def embed(bench: BuildContext, embedder: Embedder, chunks: Sequence[Chunk]) -> Vectors:
    """Unit vectors (n, dim) float32 of the chunks, in their order; work done is kept batch by batch."""
    texts = {_key(text): text for text in map(passage, chunks)}
    cached_vectors = dict(bench.vectors.get(embedder.id, list(texts)))
    todo = [key for key in texts if key not in cached_vectors]
    for start in range(0, len(todo), _BATCH):
        bench.watch(Stage("embed", start, len(todo)))
        batch_keys = todo[start : start + _BATCH]
        batch_vectors = embedder.passages([texts[key] for key in batch_keys])
        fresh = dict(zip(batch_keys, batch_vectors, strict=True))
        bench.vectors.put(embedder.id, fresh)
        cached_vectors |= fresh
    if todo:
        bench.watch(Stage("embed", len(todo), len(todo)))
    if not chunks:
        return np.zeros((0, embedder.dim), np.float32)
    return np.stack([cached_vectors[_key(passage(chunk))] for chunk in chunks]).astype(np.float32, copy=False)


@dataclass(frozen=True)
class FormerVectors:
    """The vectors of a former generation, by the embedder of that id; `rows` says of each chunk which is its own, -1 none."""

    embedder: str
    vectors: Vectors | None
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, generation: Generation | None, rows: Sequence[int]) -> FormerVectors:
        """The vectors of a generation, as far as they lie in a file; raises `StoreDamaged`."""
        kept, vectors = np.asarray(rows, np.int64), generation.vectors if generation else None
        return cls(generation.manifest.embedder, vectors, kept) if generation and isinstance(vectors, np.ndarray) else cls("", None, kept)

    def unknown(self, embedder: str, new: Sequence[Chunk], every: Callable[[], Sequence[Chunk]]) -> Sequence[Chunk]:
        """The chunks that have no vector by an embedder: the `new` ones, or all."""
        return new if embedder == self.embedder or len(new) == len(self.rows) else every()

    def joined(self, made: Vectors) -> Vectors:
        """The vectors of all chunks: those that are known, and those `made` of the unknown."""
        if self.vectors is None or len(made) == len(self.rows):
            return made
        every = self.vectors[self.rows]
        every[self.rows < 0] = made
        return every


def at_once(embedder: Embedder, chunks: Sequence[Chunk]) -> Vectors:
    """Unit vectors (n, dim) float32 of the chunks, by an embedder that is faster than a cache."""
    return embedder.passages([passage(chunk) for chunk in chunks])


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
