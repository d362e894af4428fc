"""Which repositories a lineage gets: every link followed within the budget, and what is kept out, kept out.

Repositories are taken in rounds, because a README names further ones. With `--no-target-code` the target's own
repository is looked at once for the hashes of its files and thrown away, so that copies are known by content
whatever they are called; only the hashes stay, for `lineage check` to prove it. Every tarball is looked at aside and
gets its place in the store once it may be kept: what lies there may be another lineage's, and is never taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from indexer.front import Front
from indexer.plan import BuildRequest, came_out, choose_repos
from indexer.remembered import remembered
from indexer.repositories import front, pinned, tarball
from indexer.workbench import Workbench
from lineage import links as witnesses
from lineage.errors import SourceError
from lineage.exclusion import Exclusion
from lineage.model import Blob, CodeLink, LedgerRow, Status, Work, WorkId
from lineage.progress import Stage
from lineage.readme import beside, from_readme

_ROUNDS = 2
TARBALLS = "https://codeload.github.com/"
"""Where tarballs come from: what is looked at before it may be kept."""


@dataclass(frozen=True)
class Repository:
    """A pinned repository, its tarball, and the link that brought it here."""

    work: Work
    blob: Blob
    link: CodeLink


@dataclass(frozen=True)
class Kept:
    """Repositories of a lineage, the code links but those that lead to what is kept out, and rows of those that are not here.

    `exclusion` knows what was kept out: hashes of its files (`content`) and its names (`own`), those of copies and forks included.
    """

    repositories: tuple[Repository, ...] = ()
    links: tuple[CodeLink, ...] = ()
    rows: tuple[LedgerRow, ...] = ()
    exclusion: Exclusion = field(default_factory=Exclusion)


@dataclass(frozen=True)
class _Left:
    """A repository that is not kept: how it ended, and why in words."""

    status: Status
    detail: str
    excluded: bool = False


@dataclass
class Quest:
    """The search for the repositories of one lineage; `run` it once."""

    bench: Workbench
    request: BuildRequest
    target: Work
    works: Mapping[WorkId, Work]
    scores: Mapping[WorkId, float]
    links: tuple[CodeLink, ...]
    here: tuple[Repository, ...] = ()
    found: dict[str, Repository] = field(default_factory=dict)
    rows: dict[str, LedgerRow] = field(default_factory=dict)
    excluded: set[str] = field(default_factory=set)

    def run(self) -> Kept:
        """Follow the links, then those that the READMEs name, within the budget of repositories."""
        self.exclusion = Exclusion.of(self.request.blacklist, no_target_code=self.request.no_target_code, target=self.target)
        self.exclusion = self.exclusion.knowing(self.links, content=self._own_content())
        self.found = {repository.work.id.lower(): repository for repository in self.here}
        fresh: Sequence[Repository] = self.here
        for _ in range(_ROUNDS):
            fresh = [*fresh, *self._round()]
            heard = [link for repository in fresh for link in self._readme(repository)]
            self.links, fresh = witnesses.merge([*self.links, *heard]), ()
        links = tuple(link for link in self._named_as_now() if not self._excluded(link))
        told = replace(self.exclusion, own=self.exclusion.own | self.excluded)
        return Kept(tuple(r for r in self.found.values() if r not in self.here), links, tuple(self.rows.values()), told)

    def _round(self) -> list[Repository]:
        known = {name.lower() for r in self.found.values() for name in (r.work.id, *r.work.aliases)} | set(self.rows)
        allowed = [link for link in self.links if link.repo.lower() not in known and not self._excluded(link)]
        chosen, left = choose_repos(allowed, self.scores, self.request.repos + len(self.here) - len(self.found))
        self.rows |= {row.subject.lower(): row for row in left}
        fresh: list[Repository] = []
        with ThreadPoolExecutor(max_workers=4) as pool:
            for n, (link, outcome) in enumerate(zip(chosen, pool.map(self._fetch, chosen), strict=True), 1):
                self.bench.watch(Stage("repositories", n, len(chosen), link.repo.removeprefix("repo:")))
                fresh += self._keep(link, outcome)
        return fresh

    def _excluded(self, link: CodeLink) -> bool:
        if link.repo.lower() in self.excluded:
            return True
        reason = self.exclusion.reason(link, self.works.get(link.paper))
        if reason:
            self._row(link, Status.POLICY_SKIPPED, reason)
            self.excluded.add(link.repo.lower())
        return bool(reason)

    def _fetch(self, link: CodeLink) -> Repository | _Left:
        if not self.request.no_target_code:
            return self._fetched(link)
        with self.bench.blobs.aside(TARBALLS) as aside:
            outcome = self._fetched(link)
            if isinstance(outcome, _Left) and outcome.excluded:
                aside.refused.update(aside.held)
        return outcome

    def _fetched(self, link: CodeLink) -> Repository | _Left:
        try:
            work = self.bench.github.repository(link.repo)
            if reason := self.exclusion.reason_for_work(work):
                return _Left(Status.POLICY_SKIPPED, reason, excluded=True)
            work = self._pinned(work, link)
            known = self.bench.derived.get(self._judged(work), "kept out", "1")
            if known:
                return _Left(Status.POLICY_SKIPPED, known.decode(), excluded=True)
            return self._without_copies(Repository(work, tarball(self.bench, work), link))
        except SourceError as error:
            return _Left(error.status, str(error))

    def _pinned(self, work: Work, link: CodeLink) -> Work:
        """The head, or what came out with the paper; in words what it is where that cannot be told."""
        if self.request.code_as_of == "head":
            return pinned(self.bench, work)
        day = came_out(self.works.get(link.paper, self.target), self.request.target)
        why = f"nobody says when {link.paper} came out"
        try:
            if day:
                return pinned(self.bench, work, day)
        except SourceError as error:
            if error.status is not Status.NOT_FOUND:  # it is there, but nobody lists its commits
                raise
            why = str(error)
        made = pinned(self.bench, work)
        return replace(made, meta={**made.meta, "commit_note": f"the head, because {why}"})

    def _without_copies(self, repository: Repository) -> Repository | _Left:
        if not self.request.no_target_code:
            return repository
        reason = is_copy(self.exclusion, self.target, repository.work, front(self.bench, repository.blob))
        if not reason:
            return repository
        self.bench.derived.put(self._judged(repository.work), "kept out", "1", reason.encode())
        return _Left(Status.POLICY_SKIPPED, reason, excluded=True)

    def _judged(self, work: Work) -> str:
        """The name under which it is remembered that this commit is a copy of the target's code, so that it is not fetched again."""
        return f"{self.target.id} {work.id} {work.meta['commit']}" if self.request.no_target_code else ""

    def _keep(self, link: CodeLink, outcome: Repository | _Left) -> list[Repository]:
        if isinstance(outcome, _Left):
            self._row(link, outcome.status, outcome.detail)
            self.excluded |= {link.repo.lower()} if outcome.excluded else set()
            return []
        name = outcome.work.id.lower()
        if name in self.found:
            self._row(link, Status.POLICY_SKIPPED, f"the same repository as {outcome.work.id}, under a former name")
            return []
        self.found[name] = outcome
        note = outcome.work.meta.get("commit_note")
        self._row(link, Status.OK, f"commit {str(outcome.work.meta['commit'])[:12]}" + (f": {note}" if note else ""))
        return [outcome]

    def _row(self, link: CodeLink, status: Status, detail: str) -> None:
        self.rows[link.repo.lower()] = LedgerRow("source", link.paper, link.repo, "code", status, detail)

    def _readme(self, repository: Repository) -> Iterable[CodeLink]:
        readme = front(self.bench, repository.blob).readme
        papers = [work for work in self.works.values() if work.kind == "paper"]
        yield from from_readme(repository.work, readme, papers)
        yield from beside(repository.work, readme, papers)

    def _own_content(self) -> frozenset[str]:
        """Hashes of the target's own files, from a tarball that is not kept."""
        if not self.request.no_target_code:
            return frozenset()
        own = [link for link in self.links if self.exclusion.reason(link, self.target)]
        return frozenset(hash_ for link in own for hash_ in self._hashes(link))

    def _hashes(self, link: CodeLink) -> frozenset[str]:
        def make() -> Front:
            work = pinned(self.bench, self.bench.github.repository(link.repo))
            blob = tarball(self.bench, work)
            self.bench.blobs.refuse(blob.sha256)
            return replace(front(self.bench, blob), readme="")

        with self.bench.blobs.aside(TARBALLS):
            try:
                return remembered(self.bench.derived, Front, f"own {link.repo.lower()}", "own@1", make).content
            except SourceError as error:  # within the block, so that the answer is kept and not asked for again
                subject = f"hashes of {link.repo}"
                self.rows[subject.lower()] = LedgerRow("source", self.target.id, subject, "code", error.status, str(error))
                return frozenset()

    def _named_as_now(self) -> tuple[CodeLink, ...]:
        """All links, with renamed repositories under the name that they have now."""
        names = {name.lower(): r.work.id for r in self.found.values() for name in (r.work.id, *r.work.aliases, r.link.repo)}
        return witnesses.merge(replace(link, repo=names.get(link.repo.lower(), link.repo)) for link in self.links)


def is_copy(exclusion: Exclusion, target: Work, work: Work, said: Front) -> str:
    """Why a repository or folder is the target's own code, by its files and README, or the empty string; only with `no_target_code`."""
    if not exclusion.no_target_code:
        return ""
    if reason := exclusion.reason_for_content(said.content):
        return reason
    claims = from_readme(work, said.readme, [target])
    return "its README says that it is the target's code" if any(link.tier.own for link in claims) else ""


def quest(
    bench: Workbench,
    request: BuildRequest,
    target: Work,
    works: Mapping[WorkId, Work],
    scores: Mapping[WorkId, float],
    links: Sequence[CodeLink],
    here: Sequence[Repository] = (),
) -> Kept:
    """The repositories for a lineage beside those that are `here` by hand; upstream failures become rows."""
    return Quest(bench, request, target, works, scores, witnesses.merge(links), tuple(here)).run()
