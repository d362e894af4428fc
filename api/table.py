"""The table of operations: the request and the result of each, how it runs, and at which doors it is offered.

The routes of REST, the JSON of the command line, both clients and the client in process take what they need from here.
To add an operation, write its function (`api.operations`), its result (`api.wire`) and one entry; a door that does not offer
it says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from json import loads
from typing import TYPE_CHECKING, Any

from api import requests as asked
from api.requests import Closed, Nothing
from api.wire import hits, insight, stored
from api.wire.encode import maker
from api.wire.report import ReportView
from lineage.decisions import Decision, Decisions
from lineage.generation import Damaged
from lineage.results import CodeArchive, Crop, ModelUsage, Tallies

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from api.operations import Service
    from api.server.jobs import Jobs


@dataclass(frozen=True)
class Desk:
    """What operations need: the service, its build jobs, and whether a build may read local files (`local`).

    A paper may have told the model what to request, so files are read only if whoever started the server allowed it, and
    never over HTTP.
    """

    service: Service
    jobs: Jobs
    local: bool = False


@dataclass(frozen=True)
class Missing:
    """Why a door does not offer an operation."""

    reason: str


@dataclass(frozen=True)
class Route:
    """A route of REST. `wrap` names the only member of the body where the result is a list; `upload` the field that is the body."""

    method: str
    path: str
    tag: str = "asking"
    status: int = 200
    wrap: str = ""
    upload: str = ""


@dataclass(frozen=True)
class Operation:
    """One operation: `run` makes its record out of a request; readers outside see it as a `result`.

    Without `run` it is the method of `Service` called `name`. `cli`, `mcp` and `client` name the command, tool and method.
    """

    name: str
    result: Any
    request: type[Closed] | None
    cli: str | Missing
    rest: Route | Missing
    mcp: str | Missing
    client: str | Missing
    run: Callable[[Desk, Any], Any] | None = None

    def present(self, made: Any) -> Any:
        """A record as outside readers see it; a result is returned unchanged."""
        return made if type(made) is self.result else maker(self.result)(made)

    def ask(self, desk: Desk, request: Closed) -> Any:
        """The result for a request."""
        return self.present(self._made(desk, request))

    def text(self, desk: Desk, request: Any) -> str:
        """The result in the requested format, if that is not JSON."""
        made = self._made(desk, request)
        return made if isinstance(made, str) else self.present(made).text(request.form)

    def _made(self, desk: Desk, request: Closed) -> Any:
        return self.run(desk, request) if self.run else getattr(desk.service, self.name)(**{name: value for name, value in request if name != "form"})

    @cached_property
    def reader(self) -> TypeAdapter[Any]:
        """Reads the result's JSON."""
        from pydantic import TypeAdapter

        return TypeAdapter(self.result)

    def read(self, content: bytes) -> Any:
        """Parse a result from a response body."""
        if isinstance(self.rest, Route) and self.rest.wrap:
            return self.reader.validate_python(loads(content)[self.rest.wrap])
        return self.reader.validate_json(content)


def _job(name: str) -> Callable[[Desk, asked.OneJob], Any]:
    return lambda desk, request: getattr(desk.jobs, name)(request.job)


def _of(path: str) -> Route:
    return Route("GET", f"/lineages/{{lineage}}{path}", _NAMED)


def _submit(desk: Desk, request: asked.Build) -> Any:
    return desk.jobs.submit(request.request(desk.service.settings.papers, desk.service.settings.repos))


def _graph(desk: Desk, request: asked.Drawing) -> str:
    return desk.service.graph(request.lineage, request.form)


def _audit(desk: Desk, request: asked.AuditUpload) -> Any:
    return desk.service.audit(CodeArchive(request.archive, request.name), lineage=request.lineage, no_target_code=request.no_target_code)


_FILES = Missing("it reads or writes local files; a person runs the command")
_FOLLOWS = Missing("the command waits for its build and can be interrupted")
_TAKES_LONG = Missing("a build takes minutes: `build` gives a job at once")
_COST = Missing("a person weighs the cost of a build")
_TOOLS = Missing("at most six tools: an agent that needs it runs the command")
_PERSON = Missing("for the administrator of the store")
_WRITES = Missing("an agent writes the answer itself, from what lineage_search gives")
_PICTURE = Missing("a picture is for people; lineage_search names the relation of each hit")
_PERSONS = Missing("reports are for people; agents use lineage_gaps")
_INSIDE = Missing("part of the result of `show`")
_SEEN = Missing("a terminal shows no pictures; `read` prints the lines")
_LINES = Missing("a picture is for people; lineage_read gives the lines")
_CITED = Missing("a citation of a hit names file and lines for a person to open")
_CODE = Missing("at most six tools; an agent runs `lineage audit` where the code is")
_TAKEN_BACK = Missing("a person withdraws decisions; an agent records a new one")
_ONE_BY_ONE = Missing("a program asks one question a call")
_SHELF = (("push", "push"), ("pull", "pull"), ("shelf", "pull"))
_JOBS, _NAMED, _JOB = "building", "lineages", "/jobs/{job}"
_LIST, _QUEUE = Route("GET", "/lineages", _NAMED, wrap="lineages"), Route("GET", "/jobs", _JOBS, wrap="jobs")
_BUILD, _RESUME = Route("POST", "/lineages", _JOBS, 202), Route("POST", f"{_JOB}/resume", _JOBS, 202)
_UPLOAD = Route("POST", "/audit", upload="archive")
_Lineages, _JobViews = tuple[stored.StoredLineage | Damaged, ...], tuple[stored.JobView, ...]

OPERATIONS = (
    Operation("lineages", _Lineages, Nothing, "list", _LIST, "lineage_status", "lineages"),
    Operation("status", stored.Completeness, asked.OneLineage, "status", _of("/status"), "lineage_status", "status"),
    Operation("graph", stored.GraphView, asked.Drawing, "graph", _of("/graph"), _PICTURE, "graph", _graph),
    Operation("report", ReportView, asked.Reporting, "report", Route("GET", "/report"), _PERSONS, "report"),
    Operation("references", stored.RankedReferences, asked.Cited, "references", _of("/references"), _TOOLS, "references"),
    Operation("show", stored.Overview, asked.OneLineage, "show", _of(""), "lineage_status", "show"),
    Operation("query", hits.AnswerView, asked.Search, "query", Route("POST", "/search"), "lineage_search", "search"),
    Operation("evidence", hits.EvidenceView, asked.Around, _CITED, Route("GET", "/evidence/{chunk}"), "lineage_read", "evidence"),
    Operation("crop", Crop, asked.OneChunk, _SEEN, Route("GET", "/crops/{chunk}"), _LINES, "crop"),
    Operation("grep", hits.LinesView, asked.Exact, "grep", Route("POST", "/grep"), "lineage_search", "grep"),
    Operation("read", hits.PassageView, asked.Citation, "read", Route("POST", "/read"), "lineage_read", "read"),
    Operation("context", insight.PackView, asked.Task, "context", Route("POST", "/context"), "lineage_context", "context"),
    Operation("answer", insight.WrittenAnswerView, asked.Question, "answer", Route("POST", "/answer"), _WRITES, "answer"),
    Operation("gaps", insight.GapsView, asked.GapFilter, "gaps", Route("GET", "/gaps"), "lineage_gaps", "gaps"),
    Operation("facts", insight.ConsensusView, asked.DetailName, "facts", Route("GET", "/facts"), "lineage_gaps", "facts"),
    Operation("decide", Decision, asked.Deciding, "decide", Route("POST", "/decisions"), "lineage_gaps", "decide"),
    Operation("decisions", Decisions, asked.LogOf, "decide", Route("GET", "/decisions"), "lineage_gaps", "decisions"),
    Operation("withdraw", Decision, asked.Withdrawal, "decide", Route("DELETE", "/decisions"), _TAKEN_BACK, "withdraw"),
    Operation("facts_table", Tallies, asked.OfLineage, "facts", Route("GET", "/details"), _TOOLS, "details"),
    Operation("audit", insight.AuditView, asked.AuditUpload, "audit", _UPLOAD, _CODE, "audit", _audit),
    Operation("build", stored.JobView, asked.Build, _FOLLOWS, _BUILD, "lineage_build", "build", _submit),
    Operation("cancel", stored.JobView, asked.OneJob, _FOLLOWS, Route("DELETE", _JOB, _JOBS), _TOOLS, "cancel", _job("cancel")),
    Operation("resume", stored.JobView, asked.OneJob, _FOLLOWS, _RESUME, "lineage_build", "resume", _job("resume")),
    Operation("jobs", _JobViews, Nothing, _FOLLOWS, _QUEUE, "lineage_status", "jobs", lambda desk, _: desk.jobs.all()),
    Operation("job", stored.JobView, asked.OneJob, _FOLLOWS, Route("GET", _JOB, _JOBS), "lineage_status", "job", _job("get")),
    Operation("build_now", stored.BuildReportView, None, "build", _TAKES_LONG, _TAKES_LONG, _TAKES_LONG),
    Operation("build_locked", stored.BuildReportView, None, "build", _FILES, _FILES, _FILES),
    Operation("update", Any, None, "update", _TAKES_LONG, _TAKES_LONG, _TAKES_LONG),
    Operation("add", stored.BuildReportView, None, "add", _FILES, _FILES, _FILES),
    Operation("references_of", stored.RankedReferences, None, "references", _FILES, _FILES, _FILES),
    Operation("suggestions", tuple[str, ...], None, "build", _INSIDE, _INSIDE, _INSIDE),
    Operation("query_batch", hits.AnswerView, None, "query", _ONE_BY_ONE, _ONE_BY_ONE, _ONE_BY_ONE),
    *(
        Operation(name, Any, None, command, _FILES, _FILES, _FILES)
        for name, command in (
            ("export", "export"),
            ("lock", "export"),
            ("import_", "import"),
            ("migrate", "migrate"),
            ("prune", "prune"),
            ("evaluate", "eval"),
            *_SHELF,
        )
    ),
    Operation("model_usage", ModelUsage, None, "gaps", _COST, _COST, _COST),
    Operation("plan", Any, None, "build", _COST, _COST, _COST),
    *(
        Operation(name, Any, None, command, _PERSON, _PERSON, _PERSON)
        for name, command in (("check", "check"), ("repair", "check"), ("against_source", "check"), ("doctor", "doctor"))
    ),
)
"""Every operation; routes that go on after a lineage stand before the one that does not."""
BY_NAME: Mapping[str, Operation] = {operation.name: operation for operation in OPERATIONS}
BY_CLIENT: Mapping[str, Operation] = {operation.client: operation for operation in OPERATIONS if isinstance(operation.client, str)}
