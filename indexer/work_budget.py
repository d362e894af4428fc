"""Limits on parsing: CPU seconds, megabytes of text and chunks, per repository and per build.

Chunks and facts are made where a file is parsed, so their seconds are its seconds. Whatever is refused for it becomes a
ledger row that names the setting; what seconds cut off is never remembered.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from indexer.read_document import ReadDocument
from lineage.records import LedgerRow, Status, WorkId
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


class Allowance:
    """What a build may hold, while its documents are put together, and what that left out."""

    def __init__(self, build: WorkBudget) -> None:
        self._build = build
        self._refused: dict[tuple[WorkId, str], str] = {}

    def refuses(self, document: ReadDocument) -> bool:
        """Whether a document of a repository is left out."""
        costs: dict[Cost, float] = {"megabytes": len(document.text) / MEGABYTE, "chunks": len(document.cuts)}
        words = next(filter(None, (self._build.refusal(cost, amount) for cost, amount in costs.items())), "")
        if words and document.kind != "paper":
            self._refused[document.work, document.path] = f"not indexed: {words}"
            return True
        for cost, amount in costs.items():
            self._build.spend(cost, amount)
        return False

    def rows(self, rows: Sequence[LedgerRow]) -> tuple[LedgerRow, ...]:
        """The rows of a build, those of documents that were left out saying so."""
        return tuple(self._row(row) for row in rows)

    def _row(self, row: LedgerRow) -> LedgerRow:
        words = self._refused.get((row.work, row.subject)) if row.kind == "member" else None
        return replace(row, status=Status.TOO_LARGE, detail=words) if words else row
