"""Events of long work on a terminal: a live table where there is one, plain lines where output is piped.

Everything goes to stderr: stdout belongs to the answer.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from lineage.progress import Event, Note, Stage, Waiting, Watch
from lineage.text.hidden_text import printable

_EVERY = 10.0
_COUNTED = 100
"""Items from which on a stage lasts long enough for its rate and the time left to be told."""


class _Plain:
    """One line when a stage starts, every few seconds while it lasts, and when it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, tuple[float, int]] = {}
        self._started: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        with self._lock:
            line = self._line(event)
        if line:
            print(printable(line), file=sys.stderr, flush=True)

    def _line(self, event: Event) -> str:
        if isinstance(event, Note):
            return f"{event.level}: {event.text}" if event.level != "info" else event.text
        if isinstance(event, Waiting):
            return event.text
        now = time.monotonic()
        start = self._started.setdefault(event.name, now)
        at, done = self._last.get(event.name, (0.0, -1))
        finished = event.total and event.done >= event.total
        if done == event.done or (now - at < _EVERY and not finished and done >= 0):
            return ""
        self._last[event.name] = (now, event.done)
        return _words(event, now - start)


def _words(event: Stage, seconds: float) -> str:
    count = f" {event.done:,}/{event.total:,}" if event.total else ""
    rate = f" ({event.done / seconds:.0f}/s)" if event.total > _COUNTED and seconds > 1 and event.done else ""
    left = remaining(event.done, event.total, seconds)
    return f"{event.name:<12}{count}{rate}{f', {left}' if left else ''} {event.note}".rstrip()


def remaining(done: int, total: int, seconds: float) -> str:
    """The time that a long stage still takes at its rate so far, in words; empty where it is too early to say, or over."""
    if total <= _COUNTED or seconds < 1 or not 0 < done < total:
        return ""
    left = round(seconds / done * (total - done))
    if left < 60:
        return f"about {max(left, 1)} s left"
    minutes = round(left / 60)
    return f"about {minutes} min left" if minutes < 60 else f"about {minutes // 60} h {minutes % 60} min left"


class _Live:
    """One row per stage: its progress, its time, and what it is doing or waiting for."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._rows: dict[str, TaskID] = {}
        self._last: Stage | None = None
        self._started: dict[str, float] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, Note):
                style = "yellow" if event.level == "warning" else "default"
                self._progress.console.print(printable(event.text), style=style, markup=False, highlight=False)
            elif isinstance(event, Waiting):
                self._row(self._last or Stage("target"), event.text)
            else:
                self._end(event.name)
                self._row(event, event.note)
                self._last = event

    def _end(self, next_name: str) -> None:
        """A stage without a count ends when the next one begins."""
        if self._last and not self._last.total and self._last.name != next_name:
            self._progress.update(self._rows[self._last.name], total=1, completed=1, note="")

    def _row(self, stage: Stage, note: str) -> None:
        left = remaining(stage.done, stage.total, time.monotonic() - self._started.setdefault(stage.name, time.monotonic()))
        note = "" if stage.total and stage.done >= stage.total else printable(note)
        count, note = f"{stage.done:,}/{stage.total:,}" if stage.total else "", ", ".join(filter(None, (left, note)))
        if stage.name not in self._rows:
            self._rows[stage.name] = self._progress.add_task(stage.name, total=None, count=count, note=note)
        self._progress.update(self._rows[stage.name], total=stage.total or None, completed=stage.done, count=count, note=note)


@contextmanager
def watching(quiet: bool = False) -> Iterator[Watch]:
    """A watcher for the length of one command: live on a terminal, lines otherwise, silent if asked."""
    if quiet:
        yield lambda event: None
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Plain()
        return
    with _table(console) as progress:
        yield _Live(progress)


def _table(console: Console) -> Progress:
    """Rows of count, time and note; in a narrow terminal the note gives way."""
    whole = Column(no_wrap=True)
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<12}", markup=False, table_column=whole),
        TextColumn("{task.fields[count]:>11}", markup=False, table_column=whole),
        TimeElapsedColumn(table_column=whole),
        TextColumn("{task.fields[note]}", style="dim", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
    )
    return Progress(*columns, console=console, transient=True, expand=True)
