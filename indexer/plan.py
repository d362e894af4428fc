"""A build's request, what it chooses to fetch, and its report. Pure.

Choosing is a function of the ranked references and the code links alone, so that `--dry-run`, a build and
its repetition choose the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lineage.records import UNKNOWN, CodeLink, LedgerRow, Provenance, Reference, Status, Tier, Work, WorkId
from lineage.sealed import Kept

PAPERS, REPOS = 20, 12
JOB_ID = r"j_[0-9a-f]{24}"
"""The form of the identifier that a queued build gets."""
BOUNDS = {"depth": (1, 3), "papers": (0, 1000), "repos": (0, 500)}
"""What may be asked for, by field of a request, both ends included: as the command line, REST and the settings have it."""
_MENTIONED = 0.3
_EACH_YEAR = 0.8
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


@dataclass(frozen=True)
class BuildRequest(Kept):
    """One build as asked for; `add` are further paths or URLs, `blacklist` URL fragments."""

    target: str
    name: str = ""
    depth: int = 1
    papers: int = PAPERS
    repos: int = REPOS
    add: tuple[str, ...] = ()
    no_target_code: bool = False
    blacklist: tuple[str, ...] = ()
    code_as_of: Literal["head", "paper"] = "head"


@dataclass(frozen=True)
class BuildReport:
    """The outcome of a build (CONTRACTS: `build --json` data)."""

    lineage: str
    generation: str
    target: Work
    references: Mapping[str, Any]
    lineage_papers: int
    repositories: int
    chunks: int
    facts: int
    requests: Mapping[str, int]
    seconds: Mapping[str, float]
    content_hash: str
    ledger: Mapping[str, int]
    losses: tuple[LedgerRow, ...] = ()
    unchanged: bool = False
    tier: Literal["lexical", "static", "dense"] = "dense"
    peak_memory: int = 0
    notes: tuple[str, ...] = field(default=())
    provenance: Provenance = UNKNOWN


def fetchable(work: Work) -> WorkId | None:
    """The identifier under which a paper's text can be had: its arXiv id, or None."""
    return next((name for name in (work.id, *work.aliases) if name.startswith("arxiv:")), None)


def came_out(work: Work, asked: str = "") -> str:
    """The publication day (`YYYY-MM-DD`) of the version that `asked` names, else of the first; empty if unknown."""
    version = work.meta.get("version")
    named = version and asked.removesuffix(".pdf").endswith(f"{work.id.rpartition(':')[2]}v{version}")
    days = (work.meta.get("updated") if named else "", work.meta.get("published"), work.meta.get("publicationDate"))
    return next((str(day) for day in days if _DAY.match(str(day))), "")


def choose_papers(references: Sequence[Reference], works: Mapping[WorkId, Work], limit: int) -> tuple[tuple[WorkId, ...], tuple[LedgerRow, ...]]:
    """The `limit` best-ranked papers whose text can be had, and a row for every other reference."""
    chosen: list[WorkId] = []
    left: list[LedgerRow] = []
    for rank, reference in enumerate(references, 1):
        work = works[reference.cited]
        if fetchable(work) and len(chosen) < limit:
            chosen.append(reference.cited)
        else:
            left.append(reference_row(reference, *_why_left(work, rank, limit)))
    return tuple(chosen), tuple(left)


def _why_left(work: Work, rank: int, limit: int) -> tuple[Status, str]:
    if fetchable(work):
        return Status.POLICY_SKIPPED, f"ranked {rank}; only the {limit} best-ranked papers with a full text are fetched (--papers)"
    if not work.said_by or work.id.startswith("ref:"):
        return Status.UNRESOLVED, "not found by any service; kept in the graph as the paper cites it"
    if work.abstract:
        return Status.ABSTRACT_ONLY, "not on arXiv; its abstract is indexed"
    return Status.METADATA_ONLY, "not on arXiv and no abstract available; only its title and the citing sentences are known"


def worths(references: Iterable[Reference], works: Mapping[WorkId, Work], target: WorkId) -> dict[WorkId, float]:
    """What the code of each work is worth a place: its score, a fifth less for every year by which it is older than the target."""
    newest = works[target].year
    worth = {target: 2.0}
    for reference in references:
        year = works[reference.cited].year
        age = max(0, newest - year) if newest and year else 0
        worth.setdefault(reference.cited, reference.score * _EACH_YEAR**age)
    return worth


def choose_repos(
    links: Iterable[CodeLink], worths: Mapping[WorkId, float], limit: int, taken: int = 0
) -> tuple[tuple[CodeLink, ...], tuple[LedgerRow, ...]]:
    """The `limit` best repositories beside `taken` others, one link each: by what the paper that they belong to is worth, then by tier.

    A repository that a paper merely mentions counts a fraction of it: those of cited works come first.
    """
    best: dict[str, CodeLink] = {}
    ordered = sorted(links, key=lambda link: (-_worth(link, worths), link.tier.rank, link.repo.lower()))
    for link in ordered:
        best.setdefault(link.repo.lower(), link)
    chosen_links = tuple(best.values())
    left = (
        LedgerRow(
            "source",
            link.repo,
            link.repo,
            "select",
            Status.POLICY_SKIPPED,
            f"ranked {n}; only the {taken + limit} best-ranked repositories are fetched (--repos)",
        )
        for n, link in enumerate(chosen_links[limit:], taken + limit + 1)
    )
    return chosen_links[:limit], tuple(left)


def _worth(link: CodeLink, worths: Mapping[WorkId, float]) -> float:
    return worths.get(link.paper, 0.0) * (_MENTIONED if link.tier is Tier.MENTIONED else 1.0)


def reference_row(reference: Reference, status: Status, detail: str) -> LedgerRow:
    """The terminal row of a reference."""
    return LedgerRow("reference", reference.citing, reference.cited, "text", status, detail)
