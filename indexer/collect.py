"""Fetch everything a lineage is made from: the target, its ranked references, papers, repositories, additions.

Nothing of a repository is parsed here; what is here names its inputs by hash, so that `inputs()` tells whether a
generation made from the same is already there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from indexer.build_context import BuildContext
from indexer.code_links.collector import collect_repositories
from indexer.papers import PaperText, fetch_paper
from indexer.plan import BuildRequest, choose_papers, fetchable, reference_row, worths
from indexer.references import Trace, said_in, trace
from indexer.repositories import TARBALLS, Addition, Repository, front, of_documents
from indexer.target import ResolvedTarget, additions, of_folder
from lineage.code_links import links
from lineage.code_links.exclusion import Exclusion, KeptOut
from lineage.code_links.readme import from_readme
from lineage.code_links.target_code import copy_reason
from lineage.records import CodeLink, LedgerRow, Mention, Reference, Role, Status, Tier, Work, WorkId
from lineage.references import ranking
from lineage.references.ancestors import named_mentions
from lineage.references.signals import RankSignal


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
            [(repository.work.id, repository.blob.named) for repository in self.repositories],
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

    def ranked(self, more: Mapping[WorkId, Sequence[RankSignal]] | None = None, named: Mapping[WorkId, Sequence[Mention]] | None = None) -> Collected:
        """The same with the target's references ranked by all that is known now, and by `more` signals of cited works and mentions by name."""
        own = [r for r in self.references if self._is_listed(r)]
        unlisted = [r for r in self.references if not self._is_listed(r)]
        best = ranking.rank(own, works=self.works, links=self.links, target=self.target, more=more, named=named)
        return replace(self, references=(*best, *unlisted))

    def _is_listed(self, reference: Reference) -> bool:
        return reference.citing == self.target.id and reference.known_by != ("you",)


_FOLLOWED = 5
"""Ancestors of one generation whose own references are followed."""
_CARRIES = 0.5
_USED = {Role.BASE, Role.METHOD, Role.SETUP}


def collect(bench: BuildContext, request: BuildRequest, resolved_target: ResolvedTarget) -> Collected:
    """Fetch what `request` asks for around the target; upstream failures become rows."""
    gathering = _Gathering(bench, request, resolved_target)
    gathering.follow()
    with bench.blobs.aside(TARBALLS) if request.no_target_code or request.blacklist else nullcontext():
        gathering.add()  # a copy of the target's code too, which is known for one only when the target's own was looked at
        gathering.fetch_repositories()
    return gathering.collected()


class _Gathering:
    """The state of one collection: what is known so far, and the rows that say how each item ended."""

    def __init__(self, bench: BuildContext, request: BuildRequest, resolved_target: ResolvedTarget) -> None:
        self.bench, self.request, self.target = bench, request, resolved_target.work
        self.folder = resolved_target.folder
        self.works: dict[WorkId, Work] = {resolved_target.work.id: resolved_target.work}
        self.texts: dict[WorkId, PaperText] = {resolved_target.work.id: resolved_target.text}
        self.references: list[Reference] = []
        self.links: list[CodeLink] = []
        self.rows: list[LedgerRow] = list(resolved_target.rows)
        self.repositories: list[Repository] = []
        self.added: tuple[Addition, ...] = ()
        self.coverage: Mapping[str, Any] = {}
        self.notes: list[str] = []
        self.exclusion = Exclusion()
        self.claims: tuple[KeptOut, ...] = ()

    def follow(self) -> None:
        """Trace the target and, with depth, the ancestors that carry the lineage, within the budget of papers."""
        front, budget = [] if self.folder else [self.target], self.request.papers
        for distance in range(1, self.request.depth + 1):
            share = budget if distance == self.request.depth else (budget + 1) // 2
            ancestors: list[Reference] = []
            for left, citing in zip(range(len(front), 0, -1), front, strict=True):
                traced = trace(self.bench, citing, self.texts[citing.id].document, distance)
                fetched = self._take(traced, -(-share // left))
                share, budget = share - len(fetched), budget - len(fetched)
                ancestors += [r for r in traced.references if r.cited in fetched]
            front = [self.works[name] for name in _carriers(ancestors)]

    def _take(self, traced: Trace, budget: int) -> set[WorkId]:
        """Keep a trace; fetch the best of its papers that are not here yet, and give those that could be read."""
        fresh = [r for r in traced.references if r.cited not in self.texts]
        for name, work in traced.works.items():
            self.works.setdefault(name, work)
        self.works[traced.citing.id] = traced.works.get(traced.citing.id, traced.citing)
        self.references += traced.references
        self.links += traced.links
        self.rows += traced.rows
        self.notes += traced.notes
        if traced.citing.id == self.target.id:
            self.coverage = traced.coverage
        chosen, left = choose_papers(fresh, self.works, budget)
        by_cited = {reference.cited: reference for reference in traced.references}
        already_fetched = [r for r in traced.references if r.cited in self.texts]
        self.rows += (*left, *(reference_row(r, self.texts[r.cited].status, "its text is here already") for r in already_fetched))
        self._papers(chosen, by_cited)
        return {name for name in chosen if self.texts[name].document}

    def _papers(self, chosen: Sequence[WorkId], by_cited: Mapping[WorkId, Reference]) -> None:
        works = [self.works[name] for name in chosen]
        fetched = self.bench.each("papers", works, lambda work: fetch_paper(self.bench, fetchable(work) or work.id, work), lambda work: work.title)
        for work, text in zip(works, fetched, strict=True):
            self.texts[work.id] = text
            self.rows += (*text.rows, reference_row(by_cited[work.id], *_ending(work, text)))

    def add(self) -> None:
        """What the user adds by hand: an edge and a row each."""
        by_hand = tuple({addition.work.id: addition for addition in additions(self.bench, self.request.add)}.values())
        others = (addition for addition in by_hand if addition.work.id != self.target.id)
        self.added = (*((of_folder(self.folder),) if self.folder else ()), *others)
        for addition in by_hand:
            if addition.work.id == self.target.id:
                words = "added by hand, but it is the target itself"
                self.rows.append(LedgerRow("source", self.target.id, addition.work.id, "add", Status.POLICY_SKIPPED, words))
                continue
            self.works.setdefault(addition.work.id, addition.work)
            edge = Reference(self.target.id, addition.work.id, score=1.0, why=("added by hand",), known_by=("you",))
            self.references.append(edge)
            self.rows.append(reference_row(edge, addition.status, addition.detail))
            if addition.text and addition.work.id not in self.texts:
                self.texts[addition.work.id] = addition.text
                self.rows += addition.text.rows
            if addition.blob:
                link = CodeLink(self.target.id, addition.work.id, tier=Tier.MENTIONED, said_by=("you",), evidence=("added by hand",))
                self.repositories.append(Repository(addition.work, addition.blob, link))

    def fetch_repositories(self) -> None:
        """The best repositories within the budget, for the papers whose links are known, their own texts included."""
        texts = {name: text.document for name, text in self.texts.items() if text.document}
        text_links = [link for name, document in texts.items() if name != self.target.id for link in said_in(self.works[name], document)]
        given = {str(name): links.given_in(document) for name, document in texts.items()}
        repositories = collect_repositories(
            self.bench,
            self.request,
            self.works[self.target.id],
            self.works,
            worths(self.references, self.works, self.target.id),
            [*self.links, *text_links],
            given,
            self.repositories,
        )
        self.links = list(repositories.links)
        self.repositories += repositories.repositories
        self.works |= {repository.work.id: repository.work for repository in repositories.repositories}
        self.rows += repositories.rows
        self.exclusion, self.claims = repositories.exclusion, repositories.claims
        for addition in self.added:
            if reason := self._forbidden(addition, repositories.exclusion):
                self._take_out(addition, reason)
        self.links = list(links.merge([*self.links, *self._folder_links()]))

    def _folder_links(self) -> Iterator[CodeLink]:
        """Which papers the READMEs of added folders say that they are the code of."""
        papers = [work for work in self.works.values() if work.kind == "paper"]
        for addition in self.added:
            if addition.code and addition.work.id != self.target.id:
                yield from from_readme(addition.work, of_documents(addition.code.documents).readme, papers)

    def _forbidden(self, addition: Addition, exclusion: Exclusion) -> str:
        """Why what was added by hand is to be kept out all the same."""
        if addition.work.id == self.target.id or not (addition.blob or addition.code):
            return ""
        repo_fingerprint = front(self.bench, addition.blob) if addition.blob else of_documents(addition.code.documents if addition.code else ())
        return exclusion.reason_for_work(addition.work) or copy_reason(
            exclusion, self.works.values(), self.links, addition.work, repo_fingerprint.readme, repo_fingerprint.content
        )

    def _take_out(self, addition: Addition, reason: str) -> None:
        name = addition.work.id
        self.added = tuple(other_addition for other_addition in self.added if other_addition is not addition)
        self.repositories = [repository for repository in self.repositories if repository.work.id != name]
        self.references = [reference for reference in self.references if reference.cited != name]
        self.rows = [row for row in self.rows if (row.kind, row.subject) != ("reference", name)]
        self.rows.append(LedgerRow("source", self.target.id, name, "code", Status.POLICY_SKIPPED, f"added by hand, but {reason}"))
        self.works.pop(name, None)
        if addition.blob:
            self.bench.blobs.refuse(addition.blob.sha256)

    def collected(self) -> Collected:
        """The whole, with the target's references ranked once more by all links that are known now."""
        collected = Collected(
            request=self.request,
            target=self.works[self.target.id],
            works=self.works,
            references=tuple(self.references),
            links=tuple(self.links),
            texts=self.texts,
            repositories=tuple(self.repositories),
            added=self.added,
            rows=tuple(self.rows),
            coverage=self.coverage,
            notes=tuple(self.notes),
            kept_out=self.exclusion.content,
            kept_out_names=self.exclusion.own,
            kept_out_claims=self.claims,
            since=self.exclusion.since,
        )
        return collected.ranked()


def _carriers(references: Iterable[Reference]) -> list[WorkId]:
    """The few ancestors worth following: used, not merely mentioned, best first; a survey that cites everything is not."""
    used = [r for r in references if r.score >= _CARRIES or any(verdict.role in _USED for verdict in r.roles)]
    return list(dict.fromkeys(r.cited for r in sorted(used, key=lambda r: -r.score)))[:_FOLLOWED]


def _ending(work: Work, text: PaperText) -> tuple[Status, str]:
    """How a chosen reference ended: by its text, or by the abstract where no text could be had for good."""
    if text.document or text.status.retryable or not work.abstract:
        return text.status, text.detail
    return Status.ABSTRACT_ONLY, f"its abstract is indexed; {text.detail}"
