"""Choose and fetch a lineage's repositories: follow every link within the budget, apply the exclusions.

Repositories are taken in rounds, because those that are here name further ones and some are gone. With `--no-target-code` the target's own
repository is looked at once for the hashes of its files and thrown away (`own_code`), so that copies are known by content
whatever they are called; only the hashes stay, for `lineage check` to prove it. Repositories of other works are fetched
first: a file that they have too tells nothing of whose copy a third one is. Every tarball is looked at aside and
gets its place in the store once it may be kept: what lies there may be another lineage's, and is never taken out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count

from indexer.build_context import BuildContext
from indexer.plan import BuildRequest, came_out, choose_repos
from indexer.repositories import TARBALLS, Repository, front, pinned, read_repository, tarball, told
from indexer.store.computed_cache import remembered
from lineage.code_links import links as witnesses
from lineage.code_links.exclusion import Exclusion, ExclusionReason, Ground, KeptOut, published
from lineage.code_links.readme import beside, from_readme
from lineage.code_links.target_code import copy_reason
from lineage.errors import SourceError
from lineage.progress import Stage
from lineage.records import CodeLink, LedgerRow, Status, Work, WorkId

_ROUNDS = 4
VERSION = "own@2"
"""Under which version a look is remembered; lock files carry it, because the bytes are not kept."""
_UNQUOTED = "a README of the target's names it beside this paper"


@dataclass(frozen=True)
class CollectedRepositories:
    """Repositories of a lineage, the code links but those that lead to what is kept out, and rows of those that are not here.

    `exclusion` knows what was kept out: hashes of its files (`content`) and its names (`own`), those of copies and forks included;
    `claims` is what is known of each, by which `lineage check` proves that it was kept out rightly.
    """

    repositories: tuple[Repository, ...] = ()
    links: tuple[CodeLink, ...] = ()
    rows: tuple[LedgerRow, ...] = ()
    exclusion: Exclusion = field(default_factory=Exclusion)
    claims: tuple[KeptOut, ...] = ()


@dataclass(frozen=True)
class _Left:
    """A repository that is not kept: its status and why; with its record and reason if it is excluded."""

    status: Status
    detail: str
    excluded: Work | None = None
    reason: ExclusionReason | None = None


@dataclass
class RepositoryCollector:
    """The search for the repositories of one lineage; `run` it once."""

    bench: BuildContext
    request: BuildRequest
    target: Work
    works: Mapping[WorkId, Work]
    worths: Mapping[WorkId, float]
    links: tuple[CodeLink, ...]
    given: dict[str, Collection[WorkId]]
    here: tuple[Repository, ...] = ()
    found: dict[str, Repository] = field(default_factory=dict)
    rows: dict[str, LedgerRow] = field(default_factory=dict)
    left: dict[str, LedgerRow] = field(default_factory=dict)
    excluded: dict[str, tuple[Work | None, Ground]] = field(default_factory=dict)
    foreign: frozenset[str] = frozenset()

    @property
    def papers(self) -> list[Work]:
        """The target and what is cited."""
        return [work for work in self.works.values() if work.kind == "paper"]

    def run(self) -> CollectedRepositories:
        """Follow the links, then those that the READMEs name, within the budget of repositories."""
        own = OwnCode(self.bench, self.request, self.target, self.works, self._unseen)
        self.found = {repository.work.id.lower(): repository for repository in self.here}
        fresh: Sequence[Repository] = self.here
        for number in range(_ROUNDS):
            self._know(own)
            fresh = [*fresh, *self._round(first=number == 0)]
            heard = [link for repository in fresh for link in self._readme(repository)]
            self.links, fresh = witnesses.merge([*self.links, *heard]), ()
            self.links = witnesses.merge([*self.links, *witnesses.namesakes(self._others_give(), self.papers, self.links)])
        self._know(own)
        links = tuple(link for link in self._named_as_now() if not self._excluded(link))
        self.rows = self.left | self.rows
        self._unfollowed(links)
        exclusion = replace(self.exclusion, own=self.exclusion.own | self.excluded.keys())
        here = tuple(r for r in self.found.values() if r not in self.here)
        return CollectedRepositories(here, links, tuple(self.rows.values()), exclusion, tuple(self._claims()))

    def _know(self, own: OwnCode) -> None:
        """What is to be kept out by the links that are known now."""
        self.exclusion, self.links = own.exclusion(self.links)
        self._set_apart(self.found.values())  # whose they are may be told by READMEs that were read after they were fetched

    def _unfollowed(self, links: Iterable[CodeLink]) -> None:
        """A row for each repository that only a README of the last round names."""
        known_ids = {name.lower() for r in self.found.values() for name in (r.work.id, *r.work.aliases)} | set(self.rows)
        for link in links:
            if link.repo.lower() not in known_ids:
                self._row(link, Status.POLICY_SKIPPED, "named only by a README that was read last; it was not followed")

    def _claims(self) -> Iterator[KeptOut]:
        """What is known of each repository that was kept out."""
        for repo, (work, ground) in sorted(self.excluded.items(), key=lambda row: row[0]):
            links = tuple(replace(link, evidence=()) for link in self.links if link.repo.lower() == repo)
            began = str((work.meta.get("created") or work.meta.get("commit_date") or "") if work else "")
            yield KeptOut(repo, began, links, ground)

    def _round(self, first: bool) -> list[Repository]:
        """Fetch the best; the first time a third of the places is left for what those that come name."""
        known_ids = {name.lower() for r in self.found.values() for name in (r.work.id, *r.work.aliases)} | set(self.rows)
        allowed = [link for link in self.links if link.repo.lower() not in known_ids and not self._excluded(link)]
        taken = len(self.found) - len(self.here)
        places = self.request.repos - taken - (self.request.repos // 3 if first else 0)
        chosen, left = choose_repos(allowed, self.worths, places, taken)
        self.left = {row.subject.lower(): row for row in left}  # one of them may come in for one that fails
        fresh: list[Repository] = []
        with ThreadPoolExecutor(max_workers=4) as pool:
            done = count(1)
            for batch in self._batches(chosen, pool)[: 1 if first else None]:
                for link, outcome in zip(batch, pool.map(self._fetch, batch), strict=True):
                    self.bench.watch(Stage("repositories", next(done), len(chosen), link.repo.removeprefix("repo:")))
                    fresh += self._keep(link, outcome)
                self._set_apart(fresh)
        return fresh

    def _batches(self, chosen: Sequence[CodeLink], pool: ThreadPoolExecutor) -> tuple[Sequence[CodeLink], ...]:
        """What is fetched together: other works' repositories before those that may be copies of the target's."""
        if not self.request.no_target_code:
            return (chosen,)
        others = list(pool.map(self._is_anothers, chosen))
        apart = [[link for link, other in zip(chosen, others, strict=True) if other is wanted] for wanted in (True, False)]
        return tuple(batch for batch in apart if batch)

    def _is_anothers(self, link: CodeLink) -> bool:
        try:
            return self.exclusion.is_anothers(self.bench.github.repository(link.repo))
        except SourceError:
            return False  # fetching it says why

    def _set_apart(self, fresh: Iterable[Repository]) -> None:
        """Files of other works' repositories are not the target's, though it may hold them too."""
        if self.request.no_target_code:
            others = (repository for repository in fresh if self.exclusion.is_anothers(repository.work))
            theirs = (front(self.bench, other.blob).content for other in others if not self.exclusion.reason_for_work(other.work))
            self.foreign = self.foreign.union(*theirs)
            self.exclusion = self.exclusion.without(self.foreign)

    def _excluded(self, link: CodeLink) -> bool:
        if link.repo.lower() in self.excluded:
            return True
        reason = self.exclusion.reason(link, self.works.get(link.paper))
        if reason:
            self._row(link, Status.POLICY_SKIPPED, reason)
            self.excluded.setdefault(link.repo.lower(), (None, reason.ground))
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
                return _Left(Status.POLICY_SKIPPED, reason, work, reason)
            work = self._pinned(work, link)
            cached_verdict = self.bench.derived.get(self._judged(work), "kept out", "3")
            if cached_verdict:
                ground, _, words = cached_verdict.decode().partition(" ")
                return _Left(Status.POLICY_SKIPPED, words, work, ExclusionReason(words, Ground(ground)))
            repository = Repository(work, tarball(self.bench, work), link)
            if not self.request.no_target_code and not self.request.blacklist:
                read_repository(self.bench, work.id, repository.blob)  # while others are fetched; what was read is remembered
            return self._without_copies(repository)
        except SourceError as error:
            return _Left(error.status, str(error))

    def _pinned(self, work: Work, link: CodeLink) -> Work:
        """The head commit, or the one released with the paper; a note if that is unknown."""
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
        pinned_work = pinned(self.bench, work)
        return replace(pinned_work, meta={**pinned_work.meta, "commit_note": f"the head, because {why}"})

    def _without_copies(self, repository: Repository) -> Repository | _Left:
        if not self.request.no_target_code:
            return repository
        repo_fingerprint = front(self.bench, repository.blob)
        reason = copy_reason(self.exclusion, self.works.values(), self.links, repository.work, repo_fingerprint.readme, repo_fingerprint.content)
        if not reason:
            return repository
        self.bench.derived.put(self._judged(repository.work), "kept out", "3", f"{reason.ground} {reason}".encode())
        return _Left(Status.POLICY_SKIPPED, reason, repository.work, reason)

    def _judged(self, work: Work) -> str:
        """The name under which it is remembered that this commit is a copy of the target's code, so that it is not fetched again.

        What else is known then (whose repositories the others are) is part of the name: it may judge otherwise.
        """
        if not self.request.no_target_code:
            return ""
        exclusion_digest = hashlib.sha256("\0".join([*sorted(self.exclusion.others), "", *sorted(self.exclusion.content)]).encode()).hexdigest()
        return f"{self.target.id} {work.id} {work.meta['commit']} {exclusion_digest}"

    def _keep(self, link: CodeLink, outcome: Repository | _Left) -> list[Repository]:
        if isinstance(outcome, _Left):
            self._row(link, outcome.status, outcome.detail)
            if outcome.excluded and outcome.reason:
                noted = (outcome.excluded, outcome.reason.ground)
                self.excluded |= {link.repo.lower(): noted, outcome.excluded.id.lower(): noted}
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

    def _unseen(self, link: CodeLink, error: SourceError) -> None:
        """A row for a repository of the target that could not be looked at."""
        subject = f"hashes of {link.repo}"
        self.rows[subject.lower()] = LedgerRow("source", self.target.id, subject, "code", error.status, str(error))

    def _readme(self, repository: Repository) -> Iterable[CodeLink]:
        shown = front(self.bench, repository.blob)
        self.given[repository.work.id.removeprefix("repo:")] = shown.given
        yield from from_readme(repository.work, shown.readme, self.papers)
        yield from beside(repository.work, shown.readme, self.papers)

    def _others_give(self) -> dict[str, Collection[WorkId]]:
        """The repositories that papers and repositories give the address of, but for the target's own code, which may be kept out."""
        own = {link.repo.lower().removeprefix("repo:") for link in self.links if link.paper == self.target.id and link.tier.own}
        return {name: repos for name, repos in self.given.items() if name.lower() not in own}

    def _named_as_now(self) -> tuple[CodeLink, ...]:
        """All links, with renamed repositories under the name that they have now."""
        names = {name.lower(): r.work.id for r in self.found.values() for name in (r.work.id, *r.work.aliases, r.link.repo)}
        return witnesses.merge(replace(link, repo=names.get(link.repo.lower(), link.repo)) for link in self.links)


def collect_repositories(
    bench: BuildContext,
    request: BuildRequest,
    target: Work,
    works: Mapping[WorkId, Work],
    worths: Mapping[WorkId, float],
    links: Sequence[CodeLink],
    given: Mapping[str, Collection[WorkId]],
    here: Sequence[Repository] = (),
) -> CollectedRepositories:
    """The repositories for a lineage beside those that are `here` by hand; upstream failures become rows."""
    return RepositoryCollector(bench, request, target, works, worths, witnesses.merge(links), dict(given), tuple(here)).run()


@dataclass(frozen=True)
class Look:
    """What a repository shows: hashes of its telling files, the links that its README makes, the day it was created."""

    content: frozenset[str] = frozenset()
    claims: tuple[CodeLink, ...] = ()
    created: str = ""


@dataclass
class OwnCode:
    """The target's own repositories in a build that keeps them out; every one is looked at once."""

    bench: BuildContext
    request: BuildRequest
    target: Work
    works: Mapping[WorkId, Work]
    failed: Callable[[CodeLink, SourceError], None]
    _looks: dict[str, Look] = field(default_factory=dict)

    def exclusion(self, links: Sequence[CodeLink]) -> tuple[Exclusion, tuple[CodeLink, ...]]:
        """What is to be kept out by what is known now, and the links with what the READMEs of the target's repositories claim."""
        plain = Exclusion.of(self.request.blacklist, no_target_code=self.request.no_target_code, target=self.target, works=self.works.values())
        if not self.request.no_target_code:
            return plain.knowing(links), tuple(links)
        claimed = {link.repo.lower(): link for link in links if plain.reason(link, self.works.get(link.paper))}
        looks = {repo: self._look(link) for repo, link in claimed.items() if not plain.reason_for_url(repo.removeprefix("repo:"))}
        links = witnesses.merge([*links, *(claim for look in looks.values() for claim in look.claims)])
        full_exclusion = plain.knowing(links)
        own = [look for repo, look in looks.items() if repo in full_exclusion.own]
        since = max(min((look.created for look in own if look.created), default=""), published(self.target))
        return full_exclusion.knowing(content=(hash_ for look in own for hash_ in look.content), since=since), links

    def _look(self, link: CodeLink) -> Look:
        repo = link.repo.lower()
        if repo not in self._looks:
            self._looks[repo] = self._looked(link)
        return self._looks[repo]

    def _looked(self, link: CodeLink) -> Look:
        papers = [work for work in self.works.values() if work.kind == "paper"]
        names = sorted(name for paper in papers for name in (paper.id, paper.title, *paper.aliases))
        key = f"own {link.repo.lower()} {hashlib.sha256(chr(0).join(names).encode()).hexdigest()}"

        def make() -> Look:
            work = pinned(self.bench, self.bench.github.repository(link.repo))
            blob = tarball(self.bench, work)
            self.bench.blobs.refuse(blob.sha256)
            shown = told(self.bench.blobs.whole(blob.sha256))  # not remembered by its hash: nothing of it is to stay
            if shown.cut:
                raise SourceError(Status.PARSE_TIMEOUT, "reading its archive took longer than allowed")
            named = (replace(readme_link, evidence=(_UNQUOTED,)) for readme_link in beside(work, shown.readme, papers))
            return Look(shown.content, (*from_readme(work, shown.readme, papers), *named), str(work.meta.get("created") or ""))

        with self.bench.blobs.aside(TARBALLS):
            try:
                return remembered(self.bench.derived, Look, key, VERSION, make)
            except SourceError as error:  # within the block, so that the answer is kept and not asked for again
                self.failed(link, error)
                return Look()
