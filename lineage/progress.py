"""Progress of long work: three kinds of event, passed to a watcher.

The pipeline knows nothing of terminals; the doors decide how an event is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """A stage has `done` of `total` items; `total` 0 means not yet known; `note` is what it is at."""

    name: str
    done: int = 0
    total: int = 0
    note: str = ""


@dataclass(frozen=True)
class Waiting:
    """A host keeps us waiting; `text` says which, how long and why (politeness, Retry-After, backoff)."""

    text: str


@dataclass(frozen=True)
class Note:
    """One line worth reading now; `level` is `info` or `warning`."""

    text: str
    level: str = "info"


Event = Stage | Waiting | Note
Watch = Callable[[Event], None]


def unwatched(event: Event) -> None:
    """The watcher of those who do not watch."""
