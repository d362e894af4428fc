"""Build jobs requested over REST and MCP, stored on disk so that they outlive the process.

    HOME/jobs/<id>.json       the job, replaced whole at every change of its state
    HOME/jobs/<id>.events     what happened, a line of JSON each; a torn last line is not there yet
    HOME/jobs/<id>.cancel     somebody wants it to end
    HOME/jobs/worker.lock     held by the process that works at the queue; worker.json says which
    HOME/jobs/submit.lock     held while a request is compared with those that wait

An event's number is where its line ends in the file, so that reading on costs nothing and a number that was never
given out is harmless.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock

from indexer.plan import JOB_ID, BuildRequest
from indexer.store.atomic_files import write_whole
from lineage.errors import NotFound, StoreDamaged, failures

State = Literal["queued", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
UNFINISHED = frozenset({"queued", "running"})
_ID = re.compile(JOB_ID + r"\Z")
_KEPT = 200
_MOST = 500
"""Maximum number of events per read."""


@dataclass(frozen=True)
class Job:
    """A build job. Times are UTC in ISO 8601, empty if not reached; `lineage` is the expected name, then the real one.

    `report` is what `build --json` tells, once it is done; `error` says why it failed: type, message, hint.
    """

    id: str
    request: BuildRequest
    lineage: str = ""
    state: State = "queued"
    created: str = ""
    started: str = ""
    ended: str = ""
    attempts: int = 0
    report: Mapping[str, Any] | None = None
    error: Mapping[str, str] | None = None
    cancelling: bool = False

    @property
    def finished(self) -> bool:
        """Whether the job is over unless it is resumed."""
        return self.state not in UNFINISHED


@dataclass(frozen=True)
class JobEvent:
    """An event of a job: `kind` is `state`, `stage`, `waiting` or `note`, `data` its values."""

    id: int
    at: str
    kind: str
    data: Mapping[str, Any]


def now() -> str:
    """The current time in the format of jobs."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def new_id() -> str:
    """An identifier that sorts by time."""
    return f"j_{time.time_ns():016x}{secrets.token_hex(4)}"


class Journal:
    """The jobs of one store. The constructor does no I/O; all methods are safe across threads and processes."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "jobs"

    def submitting(self) -> FileLock:
        """The lock held while a request is compared with queued ones."""
        with failures(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / "submit.lock")

    def write(self, job: Job) -> Job:
        """Store the job and a state event, and return it."""
        value = asdict(replace(job, cancelling=False)) | {"request": job.request.as_meta()}
        with failures(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(job.id, "json"), json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        event: dict[str, Any] = {"state": job.state, "lineage": job.lineage}
        self.tell(job.id, "state", event | ({"error": dict(job.error)} if job.error else {}))
        return job

    def get(self, id_: str) -> Job:
        """Return a job by its id. Raises `NotFound` and `StoreDamaged`."""
        path = self._path(id_, "json")
        try:
            value = json.loads(path.read_bytes())
            request = BuildRequest.from_meta(value.pop("request"))
            job = Job(**value, request=request)
        except FileNotFoundError as error:
            raise NotFound(f"there is no job {id_}") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreDamaged(f"{path} cannot be read: {error}", hint="delete it; the build can be requested again") from error
        return replace(job, cancelling=not job.finished and self.cancel_asked(id_))

    def all(self) -> Iterator[Job]:
        """All readable jobs, oldest first."""
        for path in sorted(self.folder.glob("j_*.json")):
            try:
                yield self.get(path.stem)
            except (NotFound, StoreDamaged):
                continue  # pruned meanwhile, or named by `GET /jobs/{id}`

    def tell(self, id_: str, kind: str, data: Mapping[str, Any]) -> None:
        """Append an event."""
        line = json.dumps({"at": now(), "kind": kind, **data}, ensure_ascii=True)
        with failures(self.folder), self._path(id_, "events").open("ab") as file:
            file.write(line.encode() + b"\n")

    def events(self, id_: str, after: int = 0) -> tuple[JobEvent, ...]:
        """Up to 500 events after number `after`. Raises `NotFound`."""
        job_events: list[JobEvent] = []
        try:
            with self._path(id_, "events").open("rb") as file:
                at = _line_start(file, after)
                while len(job_events) < _MOST and (line := file.readline()).endswith(b"\n"):
                    at += len(line)
                    job_events.extend(_event(at, line))
        except FileNotFoundError as error:
            raise NotFound(f"there is no job {id_}") from error
        return tuple(job_events)

    def ask_to_cancel(self, id_: str) -> None:
        """Request the cancellation of a job."""
        with failures(self.folder):
            self._path(id_, "cancel").touch()

    def cancel_asked(self, id_: str) -> bool:
        """Whether cancellation of a job was requested."""
        return self._path(id_, "cancel").exists()

    def forget_cancelling(self, id_: str) -> None:
        """Withdraw the request."""
        self._path(id_, "cancel").unlink(missing_ok=True)

    def prune(self) -> None:
        """Remove the oldest finished jobs beyond the last 200."""
        finished = [job for job in self.all() if job.finished]
        for job in finished[: max(0, len(finished) - _KEPT)]:
            for kind in ("json", "events", "cancel"):
                self._path(job.id, kind).unlink(missing_ok=True)

    def _path(self, id_: str, kind: str) -> Path:
        if not _ID.match(id_):
            raise NotFound(f"{id_[:80]!r} is not the id of a job")
        return self.folder / f"{id_}.{kind}"


def _line_start(file: Any, after: int) -> int:
    """Seek to the first line at or after offset `after`, and return its offset."""
    if after <= 0:
        return 0
    file.seek(after - 1)
    return after - 1 + len(file.readline())


def _event(end: int, line: bytes) -> Iterator[JobEvent]:
    try:
        value = json.loads(line)
        yield JobEvent(end, str(value.pop("at")), str(value.pop("kind")), value)
    except (ValueError, KeyError, TypeError, AttributeError):
        return  # a line that a crash left torn in the middle of the file
