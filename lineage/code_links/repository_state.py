"""The state of a linked repository: archived, fork, renamed, empty, gone, blocked, or not fetched and why.

A link says whose code it is; whether that code is alive is told by the repository's record and by the ledger row that
says how fetching it ended. Both are read here, once, for every door. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lineage.records import CodeLink, LedgerRow, Status, Work, WorkId

_ENDED = {
    Status.NOT_FOUND: "gone",
    Status.GONE: "gone",
    Status.LEGAL_451: "blocked for legal reasons",
    Status.FORBIDDEN: "blocked",
    Status.EMPTY: "empty",
}
_STAGES = {"code", "select"}


@dataclass(frozen=True)
class RepositoryState:
    """`status` is how fetching ended (None: nobody tried), `detail` why; the rest is what its forge says of it.

    `fork_of` is `owner/name` or empty where the forge names no parent, `renamed_from` are former names, and
    `undescribed` says that the forge refused its record, so that nothing is known of these.
    """

    status: Status | None = None
    detail: str = ""
    archived: bool = False
    fork: bool = False
    fork_of: str = ""
    renamed_from: tuple[str, ...] = ()
    undescribed: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The state in a few words each; none for a repository that is here and has nothing special about it."""
        state_words = ["archived"] if self.archived else []
        state_words += [f"fork of {self.fork_of}" if self.fork_of else "fork"] if self.fork else []
        state_words += [f"renamed from {', '.join(self.renamed_from)}"] if self.renamed_from else []
        state_words += ["record refused"] if self.undescribed else []
        return (*state_words, *(() if self.status is Status.OK else (self._missing(),)))

    def _missing(self) -> str:
        ended = _ENDED.get(self.status) if self.status else None
        return ended or "not fetched" + (f": {self.detail}" if self.detail else "")


def states(links: Iterable[CodeLink], works: Mapping[WorkId, Work], rows: Iterable[LedgerRow]) -> dict[WorkId, RepositoryState]:
    """The state of every repository that the links name, by its name there."""
    ended = {row.subject.lower(): row for row in rows if row.kind == "source" and row.stage in _STAGES}
    return {link.repo: _state(works.get(link.repo), ended.get(link.repo.lower())) for link in links}


def _state(work: Work | None, row: LedgerRow | None) -> RepositoryState:
    if not work or not work.meta.get("commit"):
        return RepositoryState(row.status, row.detail) if row else RepositoryState()
    fork_of = str(work.meta.get("fork_of") or "")
    return RepositoryState(
        status=Status.OK,
        detail=str(work.meta.get("commit_note") or ""),
        archived=bool(work.meta.get("archived")),
        fork=bool(work.meta.get("fork") or fork_of),
        fork_of=fork_of,
        renamed_from=tuple(name.partition("/")[2] for name in work.aliases if name.startswith("repo:")),
        undescribed="unasked" in work.meta,
    )
