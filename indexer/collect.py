"""Everything a lineage is made from, fetched: the target, its ranked references, papers, repositories, additions.

Nothing of a repository is parsed here; what is here names its inputs by hash, so that `inputs()` tells whether a
generation made from the same is already there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from lineage.exclusion import Exclusion

from indexer.additions import Addition, additions
from indexer.papers import PaperText, fetch_paper
from indexer.plan import BuildRequest, choose_papers, choose_repos, fetchable, reference_row
from indexer.repositories import fetch_repository
from indexer.target import Found
from indexer.trace import Trace, trace
from indexer.workbench import Workbench
from lineage.errors import SourceError
from lineage.model import Blob, CodeLink, LedgerRow, Reference, Status, Tier, Work, WorkId
from lineage.progress import Stage

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Repository:
    """A pinned repository, its tarball, and the link that brought it here."""

    work: Work
    blob: Blob
    link: CodeLink


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


def collect(bench: Workbench, request: BuildRequest, found: Found) -> Collected:
    """Fetch what `request` asks for around the target; upstream failures become rows."""
    gathering = _Gathering(bench, request, found)
    gathering.follow()
    gathering.add()
    gathering.fetch_repositories()
    return gathering.collected()


class _Gathering:
    """The state of one collection: what is known so far, and the rows that say how each item ended."""

    def __init__(self, bench: Workbench, request: BuildRequest, found: Found) -> None:
        self.bench, self.request, self.target = bench, request, found.work
        self.works: dict[WorkId, Work] = {found.work.id: found.work}
        self.texts: dict[WorkId, PaperText] = {found.work.id: found.text}
        self.references: list[Reference] = []
        self.links: list[CodeLink] = []
        self.rows: list[LedgerRow] = list(found.rows)
        self.repositories: list[Repository] = []
        self.added: tuple[Addition, ...] = ()
        self.coverage: Mapping[str, Any] = {}
        self.notes: list[str] = []
        self.exclusion = Exclusion.of(request.blacklist, no_target_code=request.no_target_code, target=found.work)

    def follow(self) -> None:
        """Trace the target and, with depth, the ancestors that carry the lineage, within the budget of papers."""
        front, budget = [self.target], self.request.papers
        for distance in range(1, self.request.depth + 1):
            ancestors: list[Work] = []
            for citing in front:
                traced = trace(self.bench, citing, self.texts[citing.id].document, distance)
                fetched = self._take(traced, budget)
                budget -= len(fetched)
                ancestors += fetched
            front = ancestors

    def _take(self, traced: Trace, budget: int) -> list[Work]:
        """Keep a trace; fetch the best of its papers that are not here yet."""
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
        known = [r for r in traced.references if r.cited in self.texts]
        self.rows += (*left, *(reference_row(r, self.texts[r.cited].status, "its text is here already") for r in known))
        return [work for work in self._papers(chosen, by_cited) if self.texts[work.id].document]

    def _papers(self, chosen: Sequence[WorkId], by_cited: Mapping[WorkId, Reference]) -> list[Work]:
        works = [self.works[name] for name in chosen]
        fetched = self._each("papers", works, lambda work: fetch_paper(self.bench, fetchable(work) or work.id, work), lambda work: work.title)
        for work, text in zip(works, fetched, strict=True):
            self.texts[work.id] = text
            self.rows += (*text.rows, reference_row(by_cited[work.id], *_ending(work, text)))
        return works

    def add(self) -> None:
        """What the user adds by hand: an edge and a row each."""
        self.added = additions(self.bench, self.request.add)
        for addition in self.added:
            self.works.setdefault(addition.work.id, addition.work)
            edge = Reference(self.target.id, addition.work.id, score=1.0, why=("added by hand",), known_by=("you",))
            self.references.append(edge)
            self.rows.append(reference_row(edge, addition.status, addition.detail))
            if addition.text:
                self.texts[addition.work.id] = addition.text
                self.rows += addition.text.rows
            if addition.blob:
                link = CodeLink(self.target.id, addition.work.id, tier=Tier.MENTIONED, said_by=("you",), evidence=("added by hand",))
                self.repositories.append(Repository(addition.work, addition.blob, link))

    def fetch_repositories(self) -> None:
        """The best repositories within the budget, pinned; renames that lead to one repository are one."""
        scores = {reference.cited: reference.score for reference in reversed(self.references)} | {self.target.id: 2.0}
        allowed: list[CodeLink] = []
        for link in self.links:
            reason = self.exclusion.reason(link, self.works.get(link.paper))
            if reason:
                self.rows.append(LedgerRow("source", link.repo, link.repo, "select", Status.POLICY_SKIPPED, reason))
            else:
                allowed.append(link)
        chosen, left = choose_repos(allowed, scores, self.request.repos)
        self.rows += left
        outcomes = self._each("repositories", chosen, self._repository, lambda link: link.repo)
        for link, outcome in zip(chosen, outcomes, strict=True):
            self._keep(link, outcome)

    def _repository(self, link: CodeLink) -> Repository | SourceError:
        published = str(self.works[link.paper].meta.get("published") or "") if link.paper in self.works else ""
        try:
            work, blob = fetch_repository(self.bench, link.repo, published if self.request.code_as_of == "paper" else "")
        except SourceError as error:
            return error
        return Repository(work, blob, link)

    def _keep(self, link: CodeLink, outcome: Repository | SourceError) -> None:
        if isinstance(outcome, SourceError):
            self.rows.append(LedgerRow("source", link.repo, link.repo, "code", outcome.status, str(outcome)))
            return
        reason = self.exclusion.reason_for_work(outcome.work)
        same = next((r for r in self.repositories if r.work.id.lower() == outcome.work.id.lower()), None)
        if reason or same:
            detail = reason or f"the same repository as {outcome.work.id}, renamed"
            self.rows.append(LedgerRow("source", link.repo, link.repo, "code", Status.POLICY_SKIPPED, detail))
            return
        self.repositories.append(outcome)
        self.works[outcome.work.id] = outcome.work
        detail = f"commit {str(outcome.work.meta.get('commit'))[:12]}"
        self.rows.append(LedgerRow("source", outcome.work.id, link.repo, "code", Status.OK, detail))

    def _each(self, stage: str, items: Sequence[T], work: Callable[[T], R], name: Callable[[T], str]) -> list[R]:
        """`work` over all items, four at a time, in order, with progress."""
        results: list[R] = []
        with ThreadPoolExecutor(max_workers=4) as pool:
            for item, result in zip(items, pool.map(work, items), strict=True):
                results.append(result)
                self.bench.watch(Stage(stage, len(results), len(items), name(item)))
        return results

    def collected(self) -> Collected:
        """The whole, with links pointing to the names that renamed repositories have now."""
        names = {alias.lower(): r.work.id for r in self.repositories for alias in (r.work.id, *r.work.aliases, r.link.repo)}
        links = tuple(replace(link, repo=names.get(link.repo.lower(), link.repo)) for link in self.links)
        return Collected(
            request=self.request,
            target=self.works[self.target.id],
            works=self.works,
            references=tuple(self.references),
            links=_unique(links),
            texts=self.texts,
            repositories=tuple(self.repositories),
            added=self.added,
            rows=tuple(self.rows),
            coverage=self.coverage,
            notes=tuple(self.notes),
        )


def _ending(work: Work, text: PaperText) -> tuple[Status, str]:
    """How a chosen reference ended: by its text, or by the abstract where no text could be had for good."""
    if text.document or text.status.retryable or not work.abstract:
        return text.status, text.detail
    return Status.ABSTRACT_ONLY, f"its abstract is indexed; {text.detail}"


def _unique(links: Iterable[CodeLink]) -> tuple[CodeLink, ...]:
    kept: dict[tuple[WorkId, str], CodeLink] = {}
    for link in links:
        kept.setdefault((link.paper, link.repo.lower()), link)
    return tuple(kept.values())
