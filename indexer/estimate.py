"""What a build would fetch and what that would cost, without fetching any of it.

The metadata is asked for as a build asks for it (and kept, so the build asks no second time); texts, tarballs
and their times are estimated from what such things weigh on average and from the polite rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from indexer.build_context import BuildContext
from indexer.plan import BuildRequest, choose_papers, choose_repos
from indexer.references.trace import trace
from indexer.target import resolve
from indexer.transport.upstreams import UPSTREAMS
from lineage.records import CodeLink, Work

EPRINT_MB, TARBALL_MB = 1.5, 4.0
MB_PER_SECOND = 2.0


@dataclass(frozen=True)
class Estimate:
    """`requests` by host, `megabytes` and `minutes` for what is not here yet; papers and repositories best first."""

    target: Work
    papers: tuple[Work, ...]
    repos: tuple[CodeLink, ...]
    requests: Mapping[str, int]
    megabytes: float
    minutes: float


def estimate(bench: BuildContext, request: BuildRequest) -> Estimate:
    """The cost of `request`, from metadata alone. Depth beyond 1 is counted as further papers within the budget."""
    resolved_target = resolve(bench, request.target)
    traced = trace(bench, resolved_target.work, resolved_target.text.document)
    papers, _ = choose_papers(traced.references, traced.works, request.papers)
    scores = {reference.cited: reference.score for reference in traced.references} | {resolved_target.work.id: 2.0}
    repos, _ = choose_repos(traced.links, scores, request.repos)
    requests = Counter({"export.arxiv.org": len(papers), "api.github.com": 2 * len(repos), "codeload.github.com": len(repos)})
    megabytes = EPRINT_MB * len(papers) + TARBALL_MB * len(repos)
    slowest = max((count * UPSTREAMS[host].interval for host, count in requests.items()), default=0.0)
    minutes = (slowest + megabytes / MB_PER_SECOND) / 60
    works = tuple(traced.works[name] for name in papers)
    return Estimate(resolved_target.work, works, repos, {host: count for host, count in requests.items() if count}, megabytes, minutes)
