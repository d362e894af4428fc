"""The target's own repositories in a build that keeps them out: what they hold and claim, looked at once.

A repository that links say is the target's is looked at once and thrown away. Its README is read too, because it knows better
than a sentence of the target which paper it belongs to, and names others' repositories; only hashes of its files and the
links that the README makes are remembered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexer.build_context import BuildContext
from indexer.plan import BuildRequest
from indexer.repo_fingerprint import told
from indexer.repositories import pinned, tarball
from indexer.result_cache import remembered
from lineage.code_links import links as witnesses
from lineage.code_links.exclusion import Exclusion, published
from lineage.code_links.readme import beside, from_readme
from lineage.errors import SourceError
from lineage.records import CodeLink, Work, WorkId

TARBALLS = "https://codeload.github.com/"
"""Where tarballs come from: what is looked at before it may be kept."""
VERSION = "own@2"
"""Under which version a look is remembered; lock files carry it, because the bytes are not kept."""
_UNQUOTED = "a README of the target's names it beside this paper"


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
            named = (replace(readme_link, evidence=(_UNQUOTED,)) for readme_link in beside(work, shown.readme, papers))
            return Look(shown.content, (*from_readme(work, shown.readme, papers), *named), str(work.meta.get("created") or ""))

        with self.bench.blobs.aside(TARBALLS):
            try:
                return remembered(self.bench.derived, Look, key, VERSION, make)
            except SourceError as error:  # within the block, so that the answer is kept and not asked for again
                self.failed(link, error)
                return Look()
