"""The build tools: a build is a job with a handle, and clients poll its state.

No call lasts as long as a build. What a job tells a reader is ours (stages, counts), except for titles, which stand
behind the fence like every text of others.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from api.mcp import results
from api.mcp.arguments import BuildArguments, StatusArguments
from api.mcp.results import NOTICE, Result, Row, Texts, picked
from api.server.jobs import Jobs
from api.server.journal import Job, JobEvent, State
from api.table import Desk
from api.wire.stored import StoredLineage
from indexer.plan import BuildRequest
from lineage.errors import UsageError
from lineage.generation import Damaged
from lineage.records import UNKNOWN, Provenance

_KEPT = ("generation", "tier", "unchanged", "lineage_papers", "repositories", "chunks", "facts", "ledger", "content_hash", "notes")
_MOST, _JOBS, _LAST = 50, 10, 50


@dataclass(frozen=True)
class Progress:
    """A stage of a build and its count."""

    stage: str = ""
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.stage} {self.done} of {self.total}" if self.total else self.stage


@dataclass(frozen=True)
class BriefJob:
    """A build: where it stands, what came of it or why it failed."""

    job: str
    target: str
    lineage: str
    state: State
    progress: Progress
    error: str | None = None
    hint: str | None = None
    report: dict[str, Any] | None = None

    @property
    def absent(self) -> Texts:
        """What a job has only when it failed, or is done."""
        return tuple(name for name in ("error", "hint", "report") if getattr(self, name) is None)


@dataclass(frozen=True)
class BriefLineage:
    """A lineage of the store; `problem` says why it cannot be opened."""

    lineage: str
    target: str = ""
    title: str = ""
    generation: str = ""
    created: str = ""
    works: int = 0
    chunks: int = 0
    problem: str = ""
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class JobResult:
    """The state of a build."""

    job: BriefJob
    notice: str = NOTICE


@dataclass(frozen=True)
class StatusResult:
    """A job, or the completeness of a lineage, or all lineages and jobs."""

    job: BriefJob | None = None
    completeness: Row | None = None
    lineages: tuple[BriefLineage, ...] | None = None
    jobs: tuple[BriefJob, ...] | None = None
    notice: str = NOTICE

    @property
    def absent(self) -> Texts:
        """What was not asked for."""
        return tuple(name for name in ("job", "completeness", "lineages", "jobs") if getattr(self, name) is None)


def build(desk: Desk, asked: BuildArguments) -> Result:
    """Queue a build, or return the unfinished job for the same request."""
    from indexer.sources.local import is_path  # brings the whole write side along

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
        theirs += [row.error or "", row.hint or ""]
    top = f"Job {job.id} is {job.state}{_counted(row)}. {_next(job)}"
    waits = "" if job.finished else job.id
    return Result(JobResult(row), results.blocks(top, [("What was asked for and what became of it:", "\n".join(theirs))]), job=waits)


def shown(jobs: Jobs, job: Job) -> BriefJob:
    """A job as structured content."""
    error = f"{job.error.get('type', '')}: {job.error.get('message', '')}" if job.error else None
    hint = str(job.error.get("hint", "")) if job.error else None
    report = {name: job.report[name] for name in _KEPT if name in job.report} if job.report else None
    return BriefJob(job.id, job.request.target, job.lineage, job.state, progress(jobs, job.id), error, hint, report)


def progress(jobs: Jobs, id_: str) -> Progress:
    """The last stage that a job reported, without its current item, which may be a third party's title."""
    stages = [event.data for event in _tail(jobs, id_) if event.kind == "stage"]
    return Progress(str(stages[-1].get("name", "")), int(stages[-1].get("done", 0)), int(stages[-1].get("total", 0))) if stages else Progress()


def _tail(jobs: Jobs, id_: str) -> tuple[JobEvent, ...]:
    """The last events of a job, read page by page."""
    kept: tuple[JobEvent, ...] = ()
    while job_events := jobs.events(id_, kept[-1].id if kept else 0):
        kept = (*kept, *job_events)[-_LAST:]
    return kept


def _counted(job: BriefJob) -> str:
    words = str(job.progress)
    return f" ({words})" if job.state == "running" and words else ""


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
    whole = desk.service.status(lineage)
    losses, count = whole.losses[:_MOST], len(whole.losses)
    row = picked(whole, "lineage", "generation", "sums", "title") | {"losses": losses, "losses_total": count, "provenance": whole.provenance}
    top = [f"Lineage {whole.lineage}, generation {whole.generation}."]
    top += [f"{kind}: " + ", ".join(f"{count} {word}" for word, count in counts.items()) for kind, counts in whole.sums.items()]
    top.append(f"{count} losses" + (f", {_MOST} shown." if count > _MOST else "."))
    lines = "\n".join(f"{row.kind} {row.status}: {row.subject} - {row.detail}" for row in losses)
    gist = desk.service.show(lineage).brief("Next: lineage_search with several `queries`; lineage_gaps for what the paper leaves open.")
    parts = [(own, text) for own, text in (("Lineage:", gist), ("What failed or is incomplete:", lines)) if text]
    return Result(StatusResult(completeness=row), results.blocks("\n".join(top), parts))


def _everything(desk: Desk) -> Result:
    rows = tuple(map(_row, desk.service.lineages()[:_MOST]))
    jobs = tuple(shown(desk.jobs, job) for job in desk.jobs.all()[:_JOBS])
    lines = list(map(_line, rows)) or ["There is no lineage yet. Build one: lineage_build(target='arxiv:...')."]
    lines += [f"job {job.job}: {job.state}{_counted(job)}, lineage {job.lineage or '(not yet known)'}" for job in jobs]
    titles = "\n".join(f"{row.lineage}: {row.title}" for row in rows if row.title)
    return Result(StatusResult(lineages=rows, jobs=jobs), results.blocks("\n".join(lines), [("Titles:", titles)] if titles else []))


def _row(stored: StoredLineage | Damaged) -> BriefLineage:
    if isinstance(stored, Damaged):
        return BriefLineage(stored.lineage, problem=stored.problem)
    works, chunks = (stored.counts.get(name, 0) for name in ("works", "chunks"))
    return BriefLineage(stored.lineage, stored.target, stored.title, stored.id, stored.created, works, chunks, provenance=stored.provenance)


def _line(row: BriefLineage) -> str:
    if row.problem:
        return f"{row.lineage}: damaged; a person runs `lineage check`"
    came = f"; {row.provenance.words}" if row.provenance.words else ""
    return f"{row.lineage}: target {row.target}, {row.works} works, {row.chunks} chunks{came}"
