"""What one run may send and receive, so that a metered line or a shared quota is not overdrawn.

What is refused for it is an error like any other: it becomes a ledger row, is kept by nobody, and is asked for by the
next run. Answers that are here already cost nothing. What is under way when the limit is reached still comes, so that
every run brings something: cut off, the same files would be begun and thrown away by each.
"""

from __future__ import annotations

import threading

from lineage.errors import SourceError
from lineage.records import Status
from lineage.settings import Settings

SPENT = "the budget of this run is spent"
"""How the words of every such refusal begin."""
MEGABYTE = 1_000_000


class Budget:
    """Counts the requests and the bytes of one run, from as many threads as you like; a limit of 0 is none."""

    def __init__(self, settings: Settings) -> None:
        self._requests, self._megabytes = settings.max_requests, settings.max_megabytes
        self._sent = self._received = 0
        self._lock = threading.Lock()

    def check(self, url: str) -> None:
        """Raise `SourceError` (POLICY_SKIPPED) where nothing more may be sent."""
        if self._requests and self._sent >= self._requests:
            raise _spent("max_requests", self._requests, url)
        if self._megabytes and self._received >= self._megabytes * MEGABYTE:
            raise _spent("max_megabytes", self._megabytes, url)

    def send(self, url: str) -> None:
        """Count a request, or raise as `check` does."""
        with self._lock:
            self.check(url)
            self._sent += 1

    def receive(self, size: int) -> None:
        """Count bytes that came."""
        with self._lock:
            self._received += size

    def cap(self, size: int) -> int:
        """The largest body that is taken, where `size` bytes are without a budget: none is larger than a whole budget."""
        return min(size, self._megabytes * MEGABYTE) if self._megabytes else size

    def named(self, cap: int) -> str:
        """The setting in brackets, where it is what made a body too large."""
        return f" (max_megabytes = {self._megabytes})" if cap == self._megabytes * MEGABYTE else ""


def _spent(name: str, limit: int, url: str) -> SourceError:
    hint = f"the same command goes on from here; a larger LINEAGE_{name.upper()} goes further"
    return SourceError(Status.POLICY_SKIPPED, f"{SPENT} ({name} = {limit})", url=url, hint=hint)
