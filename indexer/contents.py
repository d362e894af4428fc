"""From what was collected to what a generation holds: documents, final links and ranks, the ledger.

Repositories are parsed here, and their READMEs heard as witnesses of whose code they are; with every link known
the references are ranked once more, so that the stored order and its reasons agree with the stored evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.collect import Collected
from indexer.repositories import Code, read_repository
from indexer.workbench import Workbench
from lineage import links, ranking
from lineage.catalog import CatalogWriter
from lineage.model import CodeLink, Document, LedgerRow, Reference, Span, Status, WorkId
from lineage.progress import Stage


@dataclass(frozen=True)
class Contents:
    """A generation's rows, before chunking. `documents` stand in the order in which they are to be embedded."""

    collected: Collected
    references: tuple[Reference, ...]
    links: tuple[CodeLink, ...]
    documents: tuple[Document, ...]
    rows: tuple[LedgerRow, ...]

    def into(self, catalog: CatalogWriter) -> None:
        """Write everything but the chunks; the catalogue asserts that what went in came out."""
        catalog.add_works(self.collected.works.values())
        catalog.add_references(self.references)
        catalog.add_links(self.links)
        for document in self.documents:
            catalog.add_document(document)
        catalog.add_ledger(self.rows)
        catalog.expect("reference", len(self.references))
        for kind in ("member", "page", "source"):
            catalog.expect(kind, sum(row.kind == kind for row in self.rows))
        catalog.set_meta("target", self.collected.target.id)
        catalog.set_meta("request", self.collected.request.as_meta())
        catalog.set_meta("coverage", dict(self.collected.coverage))
        catalog.set_meta("notes", list(self.collected.notes))


def read(bench: Workbench, collected: Collected) -> Contents:
    """Parse the repositories and put everything together, most lineage-relevant first."""
    papers = [text.document for text in collected.texts.values() if text.document]
    code = _code(bench, collected)
    said = [link for one in code for document in one.documents for link in _by_readme(collected, document)]
    linked = links.merge([*collected.links, *(r.link for r in collected.repositories), *said])
    target = collected.target
    own = [r for r in collected.references if r.citing == target.id and "you" not in r.known_by]
    rest = [r for r in collected.references if r.citing != target.id or "you" in r.known_by]
    ranked = (*ranking.rank(own, works=collected.works, links=linked, target=target), *rest)
    documents = _ordered(collected, ranked, [*papers, *_abstracts(collected), *(d for one in code for d in one.documents)])
    rows = (*collected.rows, *(row for one in code for row in one.rows))
    return Contents(collected, ranked, linked, documents, rows)


def _code(bench: Workbench, collected: Collected) -> list[Code]:
    found: list[Code] = []
    total = len(collected.repositories)
    for n, repository in enumerate(collected.repositories, 1):
        found.append(read_repository(bench, repository.work.id, repository.blob))
        bench.watch(Stage("parse code", n, total, repository.work.id))
    return [*found, *(addition.code for addition in collected.added if addition.code)]


def _by_readme(collected: Collected, document: Document) -> Sequence[CodeLink]:
    if "/" in document.path or not document.path.lower().startswith("readme"):
        return ()
    papers = [work for work in collected.works.values() if work.kind == "paper"]
    return links.from_readme(collected.works[document.work], document.text, papers)


def _abstracts(collected: Collected) -> Iterator[Document]:
    """Works of which only the abstract is known, as documents of one paragraph."""
    for work in collected.works.values():
        text = collected.texts.get(work.id)
        if work.kind == "paper" and work.abstract and not (text and text.document):
            span = Span(0, len(work.abstract), "abstract", ("Abstract",))
            yield Document(work.id, "abstract", work.abstract, (span,), "abstract@1", "paper", title=work.title, status=Status.ABSTRACT_ONLY)


def _ordered(collected: Collected, references: Sequence[Reference], documents: Sequence[Document]) -> tuple[Document, ...]:
    scores: dict[WorkId, float] = {collected.target.id: 2.0}
    for reference in references:
        scores[reference.cited] = max(reference.score, scores.get(reference.cited, 0.0))
    for repository in collected.repositories:
        scores[repository.work.id] = scores.get(repository.link.paper, 0.0)
    return tuple(sorted(documents, key=lambda d: (-scores.get(d.work, 0.0), d.work, d.path)))
