"""The build tools: a build is a job with a handle, and clients poll its state.

No call lasts as long as a build. What a job tells a reader is ours (stages, counts), except for titles, which stand
behind the fence like every text of others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from api.mcp import results
from api.mcp.arguments import BuildArguments, StatusArguments
from api.mcp.context import Desk
from api.mcp.fence import NOTICE
from api.mcp.results import Result
from api.operations import StoredLineage
from api.server.jobs import Jobs
from api.server.journal import Job, JobEvent
from api.wire import hits
from indexer.plan import BuildRequest
from lineage.errors import UsageError
from lineage.generation import Damaged

_KEPT = ("generation", "tier", "unchanged", "lineage_papers", "repositories", "chunks", "facts", "ledger", "content_hash", "notes")
_MOST, _JOBS, _LAST = 50, 10, 50


def build(desk: Desk, asked: BuildArguments) -> Result:
    """Queue a build, or return the unfinished job for the same request."""
    from indexer.target import is_path  # brings the whole write side along

    if is_path(asked.target) and not desk.local:
        raise UsageError(
            "this server builds from identifiers only, not from files of its machine",
            hint="give an arXiv id, a DOI or a title in quotes; or a person runs `lineage build PATH`, or starts `lineage mcp --local-files`",
        )
    target = os.path.abspath(os.path.expanduser(asked.target)) if is_path(asked.target) else asked.target  # noqa: PTH100, PTH111 - neither raises
    request = BuildRequest(target, asked.name, papers=asked.papers, repos=asked.repos, no_target_code=asked.no_target_code)
    return state(desk, desk.jobs.submit(request).id)


def status(desk: Desk, asked: StatusArguments) -> Result:
    """The state of one job, the completeness of one lineage, or a list of all."""
    if asked.job:
        return state(desk, asked.job)
    return _completeness(desk, asked.lineage) if asked.lineage else _everything(desk)


def state(desk: Desk, id_: str) -> Result:
    """The state of a job and the next step."""
    job = desk.jobs.get(id_)
    row = shown(desk.jobs, job)
    theirs = [str(job.request.target)]
    if job.report:
        theirs += [f"title: {job.report.get('target', {}).get('title', '')}", *map(str, job.report.get("notes", ()))]
    if job.error:
        theirs += [f"{row['error']}", row.get("hint", "")]
    top = f"Job {job.id} is {job.state}{_counted(row)}. {_next(job)}"
    waits = "" if job.finished else job.id
    return Result({"job": row, "notice": NOTICE}, results.blocks(top, [("What was asked for and what became of it:", "\n".join(theirs))]), job=waits)


def shown(jobs: Jobs, job: Job) -> dict[str, Any]:
    """A job as structured content."""
    row: dict[str, Any] = {"job": job.id, "target": job.request.target, "lineage": job.lineage, "state": job.state}
    row["progress"] = progress(jobs, job.id)
    if job.error:
        row |= {"error": f"{job.error.get('type', '')}: {job.error.get('message', '')}", "hint": str(job.error.get("hint", ""))}
    if job.report:
        row["report"] = {name: job.report[name] for name in _KEPT if name in job.report}
    return row


def progress(jobs: Jobs, id_: str) -> dict[str, Any]:
    """The last stage that a job reported, without its current item, which may be a third party's title."""
    stages = [event.data for event in _tail(jobs, id_) if event.kind == "stage"]
    last: Mapping[str, Any] = stages[-1] if stages else {}
    return {"stage": str(last.get("name", "")), "done": int(last.get("done", 0)), "total": int(last.get("total", 0))}


def in_words(at: Mapping[str, Any]) -> str:
    """A stage and its count."""
    return f"{at['stage']} {at['done']} of {at['total']}" if at["total"] else str(at["stage"])


def _tail(jobs: Jobs, id_: str) -> tuple[JobEvent, ...]:
    """The last events of a job, read page by page."""
    kept: tuple[JobEvent, ...] = ()
    while job_events := jobs.events(id_, kept[-1].id if kept else 0):
        kept = (*kept, *job_events)[-_LAST:]
    return kept


def _counted(row: Mapping[str, Any]) -> str:
    words = in_words(row["progress"])
    return f" ({words})" if row["state"] == "running" and words else ""


def _next(job: Job) -> str:
    """The next step for a model, by job state."""
    if job.state == "done":
        return f"Ask with lineage_search, lineage_gaps or lineage_context, lineage={job.lineage!r}."
    if job.state == "failed":
        return "Do what the error says; the same lineage_build call resumes, and what was done is kept."
    if job.state == "cancelled":
        return "The same lineage_build call resumes it."
    return f"Builds take minutes; go on with other work and ask lineage_status(job={job.id!r}, wait=20)."


def _completeness(desk: Desk, lineage: str) -> Result:
    overview = hits.status_to_json(desk.service.status(lineage))
    losses = overview.pop("losses")
    completeness = overview | {"losses": losses[:_MOST], "losses_total": len(losses)}
    top = [f"Lineage {overview['lineage']}, generation {overview['generation']}."]
    top += [f"{kind}: " + ", ".join(f"{count} {word}" for word, count in counts.items()) for kind, counts in overview["sums"].items()]
    top.append(f"{len(losses)} losses" + (f", {_MOST} shown." if len(losses) > _MOST else "."))
    lines = "\n".join(f"{row['kind']} {row['status']}: {row['subject']} - {row['detail']}" for row in losses[:_MOST])
    parts = [(own, text) for own, text in (("Title:", overview["title"]), ("What failed or is incomplete:", lines)) if text]
    return Result({"completeness": completeness, "notice": NOTICE}, results.blocks("\n".join(top), parts))


def _everything(desk: Desk) -> Result:
    rows = [_row(stored) for stored in desk.service.lineages()[:_MOST]]
    jobs = [shown(desk.jobs, job) for job in desk.jobs.all()[:_JOBS]]
    lines = [_line(row) for row in rows] or ["There is no lineage yet. Build one: lineage_build(target='arxiv:...')."]
    lines += [f"job {row['job']}: {row['state']}{_counted(row)}, lineage {row['lineage'] or '(not yet known)'}" for row in jobs]
    titles = "\n".join(f"{row['lineage']}: {row['title']}" for row in rows if row["title"])
    return Result({"lineages": rows, "jobs": jobs, "notice": NOTICE}, results.blocks("\n".join(lines), [("Titles:", titles)] if titles else []))


def _row(stored: StoredLineage | Damaged) -> dict[str, Any]:
    if isinstance(stored, Damaged):
        empty = {"target": "", "title": "", "generation": "", "created": "", "works": 0, "chunks": 0}
        return {"lineage": stored.lineage, **empty, "problem": stored.problem}
    counts = {name: stored.counts.get(name, 0) for name in ("works", "chunks")}
    row = {"lineage": stored.lineage, "target": stored.target, "title": stored.title, "generation": stored.id, "created": stored.created}
    return {**row, **counts, "problem": ""}


def _line(row: Mapping[str, Any]) -> str:
    if row["problem"]:
        return f"{row['lineage']}: damaged; a person runs `lineage check`"
    return f"{row['lineage']}: target {row['target']}, {row['works']} works, {row['chunks']} chunks"
