"""Whether the server can do its work: looked at, not assumed, and at most once a second."""

from __future__ import annotations

import os
import shutil
import threading
import time
from dataclasses import dataclass
from typing import Literal

from api.server.jobs import Jobs
from lineage import generation as layout
from lineage.errors import LineageError
from lineage.settings import Settings


@dataclass(frozen=True)
class Check:
    """The result of one health check."""

    ok: bool
    detail: str


@dataclass(frozen=True)
class HealthReport:
    """Health of the server."""

    status: Literal["ok", "failing"]
    checks: dict[str, Check]


ROOM = 100 * 1024 * 1024
"""Bytes of the disk below which no build would end well."""


class Monitor:
    """The checks behind `/healthz`."""

    def __init__(self, settings: Settings, jobs: Jobs) -> None:
        self._home, self._lineages_at, self._jobs = settings.home, settings.lineages, jobs
        self._lock = threading.Lock()
        self._latest = (float("-inf"), HealthReport("failing", {}))

    def look(self) -> HealthReport:
        """The checks, at most a second old."""
        with self._lock:
            at, report = self._latest
            if time.monotonic() - at > 1:
                checks = {"store": Check(*self._store()), "lineages": Check(*self._lineages()), "queue": Check(*self._queue())}
                report = HealthReport("ok" if all(check.ok for check in checks.values()) else "failing", checks)
                self._latest = (time.monotonic(), report)
            return report

    def _store(self) -> tuple[bool, str]:
        try:
            free = shutil.disk_usage(self._home).free
            usable = os.access(self._home, os.R_OK | os.W_OK | os.X_OK)
        except OSError as error:
            return False, f"the store cannot be read: {error.strerror}"
        room = f"{free / 1e9:.1f} GB free"
        return usable and free >= ROOM, room if usable else "the store is not readable and writable"

    def _lineages(self) -> tuple[bool, str]:
        """Opens every lineage; it is well if one can be opened, or there is none."""
        damaged = []
        names = layout.names(self._lineages_at)
        for name in names:
            try:
                layout.open_generation(self._lineages_at, name).close()
            except LineageError:
                damaged.append(name)
        detail = f"{len(names) - len(damaged)} of {len(names)} can be opened"
        return not names or len(damaged) < len(names), f"{detail}; damaged: {', '.join(damaged[:5])}" if damaged else detail

    def _queue(self) -> tuple[bool, str]:
        alive = self._jobs.alive()
        return alive, f"worked at by {self._jobs.holder() or 'nobody yet'}" if alive else "nobody works at the queue"
