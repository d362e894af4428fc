"""Seconds of work by stage. Stages overlap when several threads work, so their sum may exceed the wall time."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Adds up what `timed` blocks took, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._start = time.monotonic()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Count the block towards `stage`."""
        start = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._seconds[stage] += time.monotonic() - start

    def seconds(self) -> dict[str, float]:
        """Seconds of `fetch`, `parse`, `embed`, `write` and `wall`, to the millisecond."""
        stages = {stage: round(self._seconds[stage], 3) for stage in ("fetch", "parse", "embed", "write")}
        return {**stages, "wall": round(time.monotonic() - self._start, 3)}
