"""What a build has collected before anything is parsed into the catalog: the inputs of a generation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from indexer.papers import PaperText
from indexer.plan import BuildRequest
from indexer.repositories import Addition, Repository
from lineage.code_links.exclusion import KeptOut
from lineage.records import CodeLink, LedgerRow, Mention, Reference, Work, WorkId
from lineage.references import ranking
from lineage.references.short_names import named_mentions
from lineage.references.signals import Signal


@dataclass(frozen=True)
class Collected:
    """The inputs of a generation. `texts` holds the target's and every fetched paper's, by work."""

    request: BuildRequest
    target: Work
    works: Mapping[WorkId, Work]
    references: tuple[Reference, ...]
    links: tuple[CodeLink, ...]
    texts: Mapping[WorkId, PaperText]
    repositories: tuple[Repository, ...]
    added: tuple[Addition, ...]
    rows: tuple[LedgerRow, ...]
    coverage: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    kept_out: frozenset[str] = frozenset()
    kept_out_names: frozenset[str] = frozenset()
    kept_out_claims: tuple[KeptOut, ...] = ()
    since: str = ""

    def inputs(self) -> list[Any]:
        """What the generation is a function of, in a form that can be hashed."""
        return [
            asdict(self.request),
            [asdict(self.works[name]) for name in sorted(self.works)],
            [asdict(reference) for reference in self.references],
            [asdict(link) for link in self.links],
            sorted((name, text.blob, text.status) for name, text in self.texts.items()),
            [(repository.work.id, repository.blob.sha256) for repository in self.repositories],
            [(addition.work.id, addition.digest) for addition in self.added],
            [asdict(row) for row in self.rows],
        ]

    def own_references(self) -> list[Reference]:
        """What the target cites, and what was added to it by hand, in their order."""
        return [reference for reference in self.references if reference.citing == self.target.id]

    def named(self) -> dict[WorkId, tuple[Mention, ...]]:
        """The sentences of the target's text that speak of a cited work by its short name alone."""
        text = self.texts.get(self.target.id)
        own = [r for r in self.references if self._is_listed(r)]
        return named_mentions(text.document, own, self.works) if text and text.document else {}

    def ranked(self, more: Mapping[WorkId, Sequence[Signal]] | None = None, named: Mapping[WorkId, Sequence[Mention]] | None = None) -> Collected:
        """The same with the target's references ranked by all that is known now, and by `more` signals of cited works and mentions by name."""
        own = [r for r in self.references if self._is_listed(r)]
        unlisted = [r for r in self.references if not self._is_listed(r)]
        best = ranking.rank(own, works=self.works, links=self.links, target=self.target, more=more, named=named)
        return replace(self, references=(*best, *unlisted))

    def _is_listed(self, reference: Reference) -> bool:
        return reference.citing == self.target.id and reference.known_by != ("you",)
