"""Limits on parsing: CPU seconds, megabytes of text and chunks, per repository and per build.

Whatever is refused for it becomes a ledger row that names the setting; what seconds cut off is never remembered.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from lineage.records import Chunk, Document, LedgerRow, Status, WorkId
from lineage.settings import Settings

Cost = Literal["seconds", "megabytes", "chunks"]
Scope = Literal["repo", "build"]
COSTS: tuple[Cost, ...] = ("seconds", "megabytes", "chunks")
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class WorkBudget:
    """The remaining budget of a repository, and of its build (`within`); 0 means no limit.

    A repository spends the build's seconds as it is read. Text and chunks of a build are counted where its documents are put
    together, since what was read of a repository is remembered and may be read again for another build.
    """

    scope: Scope
    limits: Mapping[Cost, float]
    within: WorkBudget | None = None
    spent: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def spend(self, cost: Cost, amount: float) -> None:
        """Count it, seconds in the build as well."""
        with self._lock:
            self.spent[cost] += amount  # type: ignore[assignment]  # seconds are no whole number
        if self.within and cost == "seconds":
            self.within.spend(cost, amount)

    def refusal(self, cost: Cost, amount: float = 0.0) -> str:
        """Why so much more may not be spent, naming the setting, or the empty string."""
        limit = self.limits[cost]
        if limit and self.spent[cost] + amount > limit:
            return f"the budget of the {'repository' if self.scope == 'repo' else 'build'} is spent ({self.scope}_{cost} = {limit:g})"
        return self.within.refusal(cost, amount) if self.within and cost == "seconds" else ""


def budget_of(settings: Settings, scope: Scope, within: WorkBudget | None = None) -> WorkBudget:
    """The budget that the settings give a repository or a build."""
    return WorkBudget(scope, {cost: getattr(settings, f"{scope}_{cost}") for cost in COSTS}, within)


def limits_of(settings: Settings) -> list[float]:
    """Every limit that decides what a generation holds, in one order."""
    return [getattr(settings, f"{scope}_{cost}") for scope in ("repo", "build") for cost in COSTS]


class Allowances:
    """The budgets of a build while its documents are cut into chunks, and what they left out."""

    def __init__(self, settings: Settings, build: WorkBudget) -> None:
        self._settings, self._build = settings, build
        self._repositories: dict[WorkId, WorkBudget] = {}
        self._refused: dict[tuple[WorkId, str], tuple[Status, str]] = {}

    @contextmanager
    def reading(self, document: Document) -> Iterator[None]:
        """Count the processor time of the block."""
        start = time.thread_time()
        yield
        self._of(document).spend("seconds", time.thread_time() - start)

    def refuses(self, document: Document, chunks: Sequence[Chunk] | None = None) -> bool:
        """Whether a document of a repository is left out, for its text before it is cut or for its `chunks` after."""
        cost: Cost = "megabytes" if chunks is None else "chunks"
        amount = len(document.text) / MEGABYTE if chunks is None else len(chunks)
        own = self._of(document)
        status, words = Status.PARSE_TIMEOUT, own.refusal("seconds")
        if not words:
            status, words = Status.TOO_LARGE, self._build.refusal(cost, amount) or (own.refusal(cost, amount) if chunks is not None else "")
        if words and document.kind != "paper":
            self._refused[document.work, document.path] = status, f"not indexed: {words}"
            return True
        for budget in (own, self._build):
            budget.spend(cost, amount)
        return False

    def rows(self, rows: Sequence[LedgerRow]) -> tuple[LedgerRow, ...]:
        """The rows of a build, those of documents that were left out saying so."""
        return tuple(self._row(row) for row in rows)

    def _row(self, row: LedgerRow) -> LedgerRow:
        status, detail = self._refused.get((row.work, row.subject), (row.status, row.detail)) if row.kind == "member" else (row.status, row.detail)
        return replace(row, status=status, detail=detail)

    def _of(self, document: Document) -> WorkBudget:
        if document.work not in self._repositories:
            self._repositories[document.work] = budget_of(self._settings, "repo", self._build)
        return self._repositories[document.work]
