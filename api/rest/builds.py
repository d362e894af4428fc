"""What happens to a build over REST, as server-sent events. The work is `api.server.jobs`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import anyio
from anyio import to_thread
from fastapi import APIRouter, Header
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.responses import Response

from api.rest import PREFIX
from api.rest.operations import ANY_LINEAGE, JobId, LineageName, problems
from api.rest.problems import Problem
from api.server.jobs import Jobs
from api.server.journal import Job
from api.wire.encode import dumps
from api.wire.stored import JobView
from lineage import lineage_names
from lineage.errors import NotFound

HEARTBEAT = 15.0
LOOK = 0.5
_LATEST = 5
"""Looks at a finished job for the event of its end, which is written just after its state; who comes back after that event gets no other."""
MOST_STREAMS = 64
_STREAM: dict[int | str, Any] = {
    200: {"description": "Events: `state`, `stage`, `waiting`, `note`, at last `end`; each with its number.", "content": {"text/event-stream": {}}}
}
_LastEvent = Annotated[str | None, Header(alias="Last-Event-ID", max_length=20, description="Go on after this event.")]


class Streams:
    """Event streams that are open, counted, since each holds a connection for as long as a build takes."""

    def __init__(self, most: int = MOST_STREAMS) -> None:
        self.open = 0
        self._most = most

    def answer(self, jobs: Jobs, job: Job, after: int) -> Response:
        """The stream of a job's events, or 503 when as many are open as may be."""
        if self.open >= self._most:
            return Problem(503, "overloaded", f"{self.open} event streams are open already").response()
        return EventSourceResponse(self._counted(jobs, job, after), headers={"x-accel-buffering": "no"})

    async def _counted(self, jobs: Jobs, job: Job, after: int) -> AsyncIterator[bytes]:
        self.open += 1
        try:
            async for line in events(jobs, job.id, after):
                yield line
        finally:
            self.open -= 1


async def events(jobs: Jobs, id_: str, after: int) -> AsyncIterator[bytes]:
    """A job's events from the one after `after` on, a comment whenever nothing happens for long, and `end` when it has ended."""
    said_at, state, silent = time.monotonic(), "", 0
    yield format_sse_event(retry=2000, comment="events of " + id_)
    while True:
        job = await to_thread.run_sync(jobs.get, id_)  # before its events, so that none is missed at the end
        job_events = await to_thread.run_sync(jobs.events, id_, after)
        for event in job_events:
            after = event.id
            state = str(event.data.get("state", state))
            yield format_sse_event(event=event.kind, id=str(event.id), data_str=dumps({"at": event.at, **event.data}))
        if job_events:
            said_at, silent = time.monotonic(), 0
        elif job.finished and (state == job.state or silent >= _LATEST):
            yield format_sse_event(event="end", data_str=dumps(JobView.from_record(job)))
            return
        else:
            silent += 1
            if time.monotonic() - said_at >= HEARTBEAT:
                said_at = time.monotonic()
                yield format_sse_event(comment="still here")
            await anyio.sleep(LOOK)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


def router(jobs: Jobs, home: Path, streams: Streams) -> APIRouter:
    """The routes of events."""
    made = APIRouter(prefix=PREFIX, tags=["building"])

    @made.get("/jobs/{job}/events", operation_id="job_events", responses={**_STREAM, **problems("/{job}", "GET")})
    def job_events(job: JobId, last: _LastEvent = None) -> Response:
        """What happens to a job, as server-sent events; a client that comes back goes on where it was."""
        return streams.answer(jobs, jobs.get(job), _number(last))

    @made.get(f"/lineages/{ANY_LINEAGE}/events", operation_id="lineage_events", responses={**_STREAM, **problems("/{l}", "GET")})
    def lineage_events(lineage: LineageName, last: _LastEvent = None) -> Response:
        """The same for the newest build of a lineage."""
        expected = lineage_names.default_name(lineage) or lineage
        job = jobs.of_lineage(lineage) or jobs.of_lineage(expected) or jobs.of_lineage(lineage_names.resolve(home, lineage))
        if not job:
            raise NotFound(f"no build of {lineage!r} was requested here", hint="POST /api/v1/lineages asks for one")
        return streams.answer(jobs, job, _number(last))

    return made
