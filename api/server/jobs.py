"""Builds as queued jobs, run one at a time.

Any number of processes may share a store (`lineage serve`, one `lineage mcp` for each agent): all may submit, look,
follow and cancel, and whichever holds the worker's lock does the work. If it dies, another takes the lock and resumes
what it left; a build loses nothing by that. Two requests for the same build join, and what waits is bounded.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from api.server.build_process import JobWatch
from api.server.journal import Job, JobEvent, Journal, new_id, now
from api.wire.encode import to_json
from indexer.plan import BuildReport, BuildRequest
from indexer.store.atomic_files import note_process, noted_process
from lineage import ids
from lineage.errors import BadIdentifier, Cancelled, LineageError, QueueFull, failures
from lineage.progress import Event, Note, Stage
from lineage.text.hidden_text import visible

Build = Callable[[BuildRequest, JobWatch], BuildReport]
_LOOK = 1.0
_SAMPLE = 0.25
_GRACE = 3.0
_PLAIN = ("arxiv:", "doi:")
"""Identifiers that do not change when normalized again."""


class Jobs:
    """The job queue of one store. After `start`, this process may become the worker."""

    def __init__(self, home: Path, build: Build, bound: int = 16) -> None:
        self._journal = Journal(home)
        self._build = build
        self._bound = bound
        self._lock = FileLock(self._journal.folder / "worker.lock", thread_local=False)
        self._said = self._journal.folder / "worker.json"
        self._wake, self._stop = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._at_work: threading.Thread | None = None

    # -- for the doors

    def submit(self, request: BuildRequest) -> Job:
        """Return the unfinished job for the same request, or queue a new one.

        Raises `QueueFull`, and `BadIdentifier` for what can name no target or lineage.
        """
        request, lineage = _normal(request)
        with self._journal.submitting():
            unfinished = [job for job in self._journal.all() if not job.finished]
            same = next((job for job in unfinished if job.request == request and not job.cancelling), None)
            if same:
                return same
            self._check_room(unfinished)
            self._journal.prune()
            job = self._journal.write(Job(new_id(), request, lineage, created=now()))
        self._wake.set()
        return job

    def get(self, id_: str) -> Job:
        """Return a job by its id. Raises `NotFound`."""
        return self._journal.get(id_)

    def all(self) -> tuple[Job, ...]:
        """All stored jobs, newest first."""
        return tuple(reversed(list(self._journal.all())))

    def of_lineage(self, lineage: str) -> Job | None:
        """The newest job of a lineage, unfinished ones first."""
        jobs = [job for job in self.all() if job.lineage == lineage]
        return next((job for job in jobs if not job.finished), jobs[0] if jobs else None)

    def events(self, id_: str, after: int = 0) -> tuple[JobEvent, ...]:
        """Up to 500 events after number `after`, oldest first. Raises `NotFound`."""
        return self._journal.events(id_, after)

    def cancel(self, id_: str) -> Job:
        """Cancel a job: at once if queued, within a second if running (`cancelling`); a finished one stays unchanged."""
        with self._journal.submitting():
            job = self._journal.get(id_)
            if job.state == "queued":
                return self._journal.write(replace(job, state="cancelled", ended=now()))
            if job.state == "running":
                self._journal.ask_to_cancel(id_)
        return self._journal.get(id_)

    def resume(self, id_: str) -> Job:
        """Queue a failed or cancelled job again; finished work is kept. Raises `QueueFull`."""
        with self._journal.submitting():
            job = self._journal.get(id_)
            if job.state not in {"failed", "cancelled"}:
                return job
            self._check_room([queued for queued in self._journal.all() if not queued.finished])
            self._journal.forget_cancelling(id_)
            job = self._journal.write(replace(job, state="queued", started="", ended="", error=None))
        self._wake.set()
        return job

    def _check_room(self, unfinished: list[Job]) -> None:
        waiting = sum(job.state == "queued" for job in unfinished)
        if waiting >= self._bound:
            raise QueueFull(f"{waiting} builds wait already", hint="ask again when one has ended, or cancel one")

    # -- the work

    def start(self) -> None:
        """Start as the worker, or wait until the current worker ends."""
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; a running build goes back into the queue for the next process.

        A build that does not stop in time keeps the worker's lock until the process ends: it is still writing.
        """
        self._stop.set()
        self._wake.set()
        for thread in (self._thread, self._at_work):
            if thread:
                thread.join(_GRACE)
        if not (self._at_work and self._at_work.is_alive()):
            self._leave()

    def _leave(self) -> None:
        """Remove the record of the owner, then release the lock."""
        if self._lock.is_locked:
            with suppress(OSError):  # the folder may be gone, or be nobody's to write
                self._said.unlink()
            self._lock.release()

    def alive(self) -> bool:
        """Whether this process is the worker or waits to become it."""
        return self._thread is not None and self._thread.is_alive()

    def holder(self) -> str:
        """A description of the current (or killed) worker; empty if there is none."""
        if self._lock.is_locked:
            return f"this process ({os.getpid()})"
        return noted_process(self._said)

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                if self._lock.is_locked or self._take():
                    self._do_next()
            except (LineageError, OSError) as error:
                print(f"jobs: {error}", file=sys.stderr, flush=True)  # the disk is full, say; it may be better the next time
            self._wake.wait(_LOOK)
            self._wake.clear()

    def _take(self) -> bool:
        """Become the worker and requeue the jobs that the last one left unfinished."""
        with failures(self._journal.folder):
            self._journal.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(blocking=False)
            except Timeout:
                return False
            note_process(self._said)
        for job in list(self._journal.all()):
            if job.state == "running":
                self._journal.write(replace(job, state="queued"))
        return True

    def _do_next(self) -> None:
        while not self._stop.is_set():
            with self._journal.submitting():
                job = next((job for job in self._journal.all() if job.state == "queued"), None)
                if not job:
                    return
                self._journal.forget_cancelling(job.id)
                job = self._journal.write(replace(job, state="running", started=now(), attempts=job.attempts + 1))
            self._do(job)

    def _do(self, job: Job) -> None:
        """Run one job in its own thread, so that a bug ends the job and not the worker."""
        self._at_work = thread = threading.Thread(target=self._run, args=(job,), name=job.id, daemon=True)
        thread.start()
        while thread.is_alive() and not self._stop.is_set():
            thread.join(_LOOK)
        thread.join(_GRACE if self._stop.is_set() else None)
        if not thread.is_alive() and self._journal.get(job.id).state == "running":
            error = {"type": "LineageError", "message": "a bug in lineage", "hint": "please report it with what the server printed"}
            self._end(job, "failed", error=error)

    def _run(self, job: Job) -> None:
        try:
            request, _ = _normal(job.request)  # again, since a job may have waited since before targets were fixed
            report = self._build(request, _Recorder(self._journal, job.id, self._stop))
        except Cancelled:
            self._end(job, "queued" if self._stop.is_set() else "cancelled")
        except LineageError as error:
            self._end(job, "failed", error={"type": type(error).__name__, "message": str(error), "hint": error.hint})
        else:
            summary = {name: value for name, value in to_json(report).items() if name != "losses"}
            self._end(job, "done", lineage=report.lineage, report=summary)

    def _end(self, job: Job, state: Any, **changes: Any) -> None:
        with self._journal.submitting():
            self._journal.write(replace(job, state=state, ended="" if state == "queued" else now(), **changes))
            self._journal.forget_cancelling(job.id)


class _Recorder:
    """Watcher of a job: stores its events (frequent ones sampled) and raises `Cancelled` on request."""

    def __init__(self, journal: Journal, id_: str, stop: threading.Event) -> None:
        self._journal, self._id, self._stopped = journal, id_, stop
        self._told: dict[str, float] = {}
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise `Cancelled` if the job is to stop."""
        if self._stopped.is_set() or self._journal.cancel_asked(self._id):
            raise Cancelled("the build was cancelled", hint="resume it; what was done is kept")

    def __call__(self, event: Event) -> None:
        self.check()
        with self._lock:
            if self._due(event):
                self._journal.tell(self._id, type(event).__name__.lower(), _shown(event))

    def _due(self, event: Event) -> bool:
        if isinstance(event, Note):
            return True
        name, at = getattr(event, "name", "waiting"), time.monotonic()
        finished = isinstance(event, Stage) and event.total and event.done >= event.total
        if not finished and at - self._told.get(name, -_SAMPLE) < _SAMPLE:
            return False
        self._told[name] = at
        return True


def _shown(event: Event) -> Mapping[str, Any]:
    values: dict[str, Any] = to_json(event)
    return {name: visible(value)[0][:400] if isinstance(value, str) else value for name, value in values.items()}


def _normal(request: BuildRequest) -> tuple[BuildRequest, str]:
    """The request with identifiers for targets, and the expected name of its lineage.

    A job is accepted in one folder and run in another, so no word of it may mean a file of the folder one stands in: a door
    that takes files (`lineage mcp --local-files`) gives absolute paths, all else is written as no path is.
    """
    from indexer.target import check

    if request.name:
        ids.check_name(request.name)
    request = replace(request, target=_fixed(request.target), add=tuple(map(_fixed, request.add)))
    check(request.add)
    if Path(request.target).is_absolute():
        return request, request.name
    target = ids.parse(request.target)
    if not target.id or not target.id.startswith(_PLAIN):
        return request, request.name
    return replace(request, target=f"{target.id}{target.version}"), request.name or ids.slug(target.id)


def _fixed(text: str) -> str:
    """A target that means the same in every folder; raises `BadIdentifier`."""
    from indexer.lock.form import identifier

    if Path(text).is_absolute():
        return text
    if not (name := identifier(text)):
        ids.parse(text)
        raise BadIdentifier(f"{text!r} is a path; a queued build names papers and repositories by identifier or URL")
    return name
