"""Builds over REST: asked for, followed as server-sent events, cancelled, resumed. The work is `api.server.jobs`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import anyio
from anyio import to_thread
from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.responses import Response

from api.rest import PREFIX, requests, responses
from api.rest.operations import ANY_LINEAGE, JobId, LineageName, as_json, json_only, problems
from api.rest.problems import Problem
from api.server.jobs import Jobs
from api.server.journal import Job
from api.wire import hits
from lineage import lineage_names
from lineage.errors import NotFound
from lineage.settings import Settings

HEARTBEAT = 15.0
LOOK = 0.5
_LATEST = 5
"""Looks at a finished job for the event of its end, which is written just after its state; who comes back after that event gets no other."""
MOST_STREAMS = 64
_STREAM: dict[int | str, Any] = {
    200: {"description": "Events: `state`, `stage`, `waiting`, `note`, at last `end`; each with its number.", "content": {"text/event-stream": {}}}
}
_LastEvent = Annotated[str | None, Header(alias="Last-Event-ID", max_length=20, description="Go on after this event.")]


def job_to_json(job: Job) -> dict[str, Any]:
    """A job with links to itself, its events and its lineage."""
    links = {"self": f"{PREFIX}/jobs/{job.id}", "events": f"{PREFIX}/jobs/{job.id}/events"}
    if job.lineage:
        links["lineage"] = f"{PREFIX}/lineages/{job.lineage}"
    said_: dict[str, Any] = hits.to_json(job)
    return {**said_, "links": links}


def _accepted(job: Job) -> Response:
    answer = as_json(job_to_json(job))
    answer.status_code = 202
    answer.headers["location"] = f"{PREFIX}/jobs/{job.id}"
    return answer


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
            yield format_sse_event(event=event.kind, id=str(event.id), data_str=hits.dumps({"at": event.at, **event.data}))
        if job_events:
            said_at, silent = time.monotonic(), 0
        elif job.finished and (state == job.state or silent >= _LATEST):
            yield format_sse_event(event="end", data_str=hits.dumps(job_to_json(job)))
            return
        else:
            silent += 1
            if time.monotonic() - said_at >= HEARTBEAT:
                said_at = time.monotonic()
                yield format_sse_event(comment="still here")
            await anyio.sleep(LOOK)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


def router(jobs: Jobs, settings: Settings, streams: Streams) -> APIRouter:
    """The routes of builds and jobs."""
    made = APIRouter(prefix=PREFIX, tags=["building"])
    _writing(made, jobs, settings)
    _following(made, jobs, streams, settings.home)
    return made


def _options(path: str, method: str = "GET", extra: Mapping[int | str, Any] | None = None) -> dict[str, Any]:
    return {"response_model": responses.Job, "responses": {**(extra or {}), **problems(path, method)}}


def _writing(made: APIRouter, jobs: Jobs, settings: Settings) -> None:
    @made.post("/lineages", status_code=202, operation_id="build", dependencies=[Depends(json_only)], **_options("/", "POST"))
    def build(wanted: requests.Build) -> Response:
        """Ask for a lineage to be built. The job is told at once; the same request joins one that waits or runs."""
        return _accepted(jobs.submit(wanted.request(settings.papers, settings.repos)))

    @made.delete("/jobs/{job}", operation_id="cancel", **_options("/{job}"))
    def cancel(job: JobId) -> Response:
        """End a job: at once if it waits, at its next step if it runs. What it has done is kept."""
        return as_json(job_to_json(jobs.cancel(job)))

    @made.post("/jobs/{job}/resume", status_code=202, operation_id="resume", **_options("/{job}"))
    def resume(job: JobId) -> Response:
        """Put a job that failed or was cancelled back into the queue; it goes on from what it had done."""
        return _accepted(jobs.resume(job))


def _following(made: APIRouter, jobs: Jobs, streams: Streams, home: Path) -> None:
    @made.get("/jobs", operation_id="jobs", **{**_options("/"), "response_model": responses.JobList})
    def all_jobs() -> Response:
        """Every job that is kept, newest first."""
        return as_json({"jobs": [job_to_json(job) for job in jobs.all()]})

    @made.get("/jobs/{job}", operation_id="job", **_options("/{job}"))
    def one_job(job: JobId) -> Response:
        """A job: its state, its outcome or why it failed."""
        return as_json(job_to_json(jobs.get(job)))

    @made.get("/jobs/{job}/events", operation_id="job_events", **{**_options("/{job}", extra=_STREAM), "response_model": None})
    def job_events(job: JobId, last: _LastEvent = None) -> Response:
        """What happens to a job, as server-sent events; a client that comes back goes on where it was."""
        return streams.answer(jobs, jobs.get(job), _number(last))

    @made.get(f"/lineages/{ANY_LINEAGE}/events", operation_id="lineage_events", **{**_options("/{l}", extra=_STREAM), "response_model": None})
    def lineage_events(lineage: LineageName, last: _LastEvent = None) -> Response:
        """The same for the newest build of a lineage."""
        expected = lineage_names.default_name(lineage) or lineage
        job = jobs.of_lineage(lineage) or jobs.of_lineage(expected) or jobs.of_lineage(lineage_names.resolve(home, lineage))
        if not job:
            raise NotFound(f"no build of {lineage!r} was requested here", hint="POST /api/v1/lineages asks for one")
        return streams.answer(jobs, job, _number(last))
