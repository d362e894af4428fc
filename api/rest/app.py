"""The server's application: routes, guard, health and metrics, errors, and the life of what they share."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections import Counter as Count
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from json import dumps, loads
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0, generate_latest
from prometheus_client.registry import Collector
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.operations import Service
from api.rest import builds, operations, pages
from api.rest.operations import as_json
from api.rest.problems import Problem, ProblemDocument, kebab, problem_of
from api.server.build_process import builder, here
from api.server.engines import KeptParts
from api.server.jobs import Jobs
from api.server.journal import STATES, Job
from api.server.security import HEADERS, AccessPolicy, Guard
from api.table import Desk
from lineage import generation as layout
from lineage.errors import LineageError
from lineage.settings import Settings

MEDIA_TYPE = CONTENT_TYPE_PLAIN_1_0_0
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The metrics of one server; nothing is global, so two servers in one process stay separate."""

    def __init__(self, jobs: Callable[[], Iterable[Job]], engines: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        Info("lineage", "The program.", registry=self._registry).info({"version": version("paper-lineage")})
        labels = ("method", "route", "status")
        self.requests = Counter("lineage_http_requests", "Requests answered.", labels, registry=self._registry)
        self.seconds = Histogram(
            "lineage_http_request_seconds", "Seconds to the whole answer.", ("route",), buckets=_SECONDS, registry=self._registry
        )
        self.busy = Gauge("lineage_http_requests_in_progress", "Requests at work, streams included.", registry=self._registry)
        Gauge("lineage_engines_open", "Lineages kept open.", registry=self._registry).set_function(engines)
        self._registry.register(_Jobs(jobs))

    def text(self) -> bytes:
        """All metrics in text form."""
        return generate_latest(self._registry)


class _Jobs(Collector):
    """Collector of jobs by state, read at scrape time."""

    def __init__(self, jobs: Callable[[], Iterable[Job]]) -> None:
        self._jobs = jobs

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """One gauge with a sample for each state."""
        counts = Count(job.state for job in self._jobs())
        gauge = GaugeMetricFamily("lineage_jobs", "Builds that are kept, by state.", labels=["state"])
        for state in STATES:
            gauge.add_metric([state], counts[state])
        yield gauge

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Registering reads nothing."""
        yield GaugeMetricFamily("lineage_jobs", "Builds that are kept, by state.", labels=["state"])


class MetricsMiddleware:
    """ASGI middleware that counts requests by route template, so that clients cannot create labels."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = 500, time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.busy.inc()
        try:
            await self._app(scope, receive, noted)
        finally:
            self._metrics.busy.dec()
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _COUNTED_METHODS else "other"
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - start)


_COUNTED_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(frozen=True)
class Check:
    """The result of one health check."""

    ok: bool
    detail: str


@dataclass(frozen=True)
class HealthReport:
    """Health of the server."""

    status: Literal["ok", "failing"]
    checks: dict[str, Check]


ROOM = 100 * 1024 * 1024
"""Bytes of the disk below which no build would end well."""


class Monitor:
    """The checks behind `/healthz`."""

    def __init__(self, settings: Settings, jobs: Jobs) -> None:
        self._home, self._lineages_at, self._jobs = settings.home, settings.lineages, jobs
        self._lock = threading.Lock()
        self._latest = (float("-inf"), HealthReport("failing", {}))

    def look(self) -> HealthReport:
        """The checks, at most a second old."""
        with self._lock:
            at, report = self._latest
            if time.monotonic() - at > 1:
                checks = {"store": Check(*self._store()), "lineages": Check(*self._lineages()), "queue": Check(*self._queue())}
                report = HealthReport("ok" if all(check.ok for check in checks.values()) else "failing", checks)
                self._latest = (time.monotonic(), report)
            return report

    def _store(self) -> tuple[bool, str]:
        try:
            free = shutil.disk_usage(self._home).free
            usable = os.access(self._home, os.R_OK | os.W_OK | os.X_OK)
        except OSError as error:
            return False, f"the store cannot be read: {error.strerror}"
        room = f"{free / 1e9:.1f} GB free"
        return usable and free >= ROOM, room if usable else "the store is not readable and writable"

    def _lineages(self) -> tuple[bool, str]:
        """Opens every lineage; it is well if one can be opened, or there is none."""
        damaged = []
        names = layout.names(self._lineages_at)
        for name in names:
            try:
                layout.open_generation(self._lineages_at, name).close()
            except LineageError:
                damaged.append(name)
        detail = f"{len(names) - len(damaged)} of {len(names)} can be opened"
        return not names or len(damaged) < len(names), f"{detail}; damaged: {', '.join(damaged[:5])}" if damaged else detail

    def _queue(self) -> tuple[bool, str]:
        alive = self._jobs.alive()
        return alive, f"worked at by {self._jobs.holder() or 'nobody yet'}" if alive else "nobody works at the queue"


DESCRIPTION = (
    "What a paper took for granted: the papers and code it inherits from, indexed and answered with proof. "
    "Errors are problem documents (RFC 9457). Texts of hits come from third parties."
)


def application(settings: Settings, policy: AccessPolicy, parts: KeptParts | None = None) -> FastAPI:
    """The application over the store that the settings name; it works at the queue of builds while it lives."""
    build = here(Service(parts)) if parts else builder(settings)  # what a caller made of its own cannot be handed to another process
    from api.mcp.server import asgi  # with all tools and what they search by

    parts = parts or KeptParts(settings)
    service = Service(parts)
    jobs = Jobs(settings.home, build, settings.queue)
    agents = asgi(service, jobs, guarded=True)
    metrics = Metrics(jobs.all, parts.open_engines)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(parts.close)
            stack.callback(jobs.close)
            await stack.enter_async_context(agents.lifespan())
            jobs.start()
            yield

    app = FastAPI(
        title="Lineage",
        version=version("paper-lineage"),
        description=DESCRIPTION,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(Guard, policy=policy)
    app.add_middleware(MetricsMiddleware, metrics=metrics)
    app.include_router(builds.router(jobs, settings.home, builds.Streams()))
    app.include_router(operations.router(Desk(service, jobs)))
    app.router.routes.append(Route("/mcp", agents))
    _own_routes(app, Monitor(settings, jobs), metrics)
    _errors(app, str(settings.home))
    return app


def _own_routes(app: FastAPI, monitor: Monitor, metrics: Metrics) -> None:
    """What the server says of itself."""

    @app.get("/healthz", operation_id="health", tags=["server"], response_model=HealthReport, responses={503: {"model": HealthReport}})
    def healthz() -> Response:
        """Whether the store can be read, a lineage opens and the queue is worked at; 503 if not."""
        report = monitor.look()
        return as_json(report, 200 if report.status == "ok" else 503)

    @app.get("/metrics", operation_id="metrics", tags=["server"], response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    def numbers() -> Response:
        """Requests, seconds, jobs, engines and memory, for Prometheus."""
        return Response(metrics.text(), headers={"content-type": MEDIA_TYPE})

    for path, answer in (
        ("/openapi.json", cache(lambda: as_json(document(app)))),
        ("/docs", cache(lambda: pages.reference(document(app)))),
        ("/llms.txt", cache(lambda: pages.llms(document(app)))),
        ("/", pages.front),
        ("/web/{path:path}", pages.web),
    ):
        app.add_api_route(path, answer, include_in_schema=False)


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: FastAPI's, with our form of errors in place of its own, plain names of results, and the token."""
    with _DESCRIBING:
        return app.openapi_schema or _described(app)


_DESCRIBING = threading.Lock()


def _described(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = made["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    problem = TypeAdapter(ProblemDocument).json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["ProblemDocument"] = problem
    made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": "Where LINEAGE_TOKEN is set."}}
    made["security"] = [{}, {"token": []}]
    app.openapi_schema = loads(re.sub(r'(#/components/schemas/\w+?|"\w+?)View"(?=[,}:])', r'\1"', dumps(made)))
    return app.openapi_schema


def _errors(app: FastAPI, home: str) -> None:
    """Every way to fail, as a problem document; where the store lies is no client's business."""

    @app.exception_handler(LineageError)
    def ours(request: Request, error: LineageError) -> Response:
        problem = problem_of(error)
        shown = replace(problem, detail=problem.detail.replace(home, "the store"), hint=problem.hint.replace(home, "the store"))
        return shown.response(request.url.path)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        return _invalid(error).response(request.url.path)

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        headers = {"allow": _allowed(app, request.scope)} if error.status_code == 405 else dict(error.headers or {})
        return Problem(error.status_code, _KINDS.get(error.status_code, "refused"), str(error.detail), headers=headers).response(request.url.path)

    @app.exception_handler(Exception)  # the server's edge: what nobody foresaw is logged by the server, and told without its trace
    def bug(request: Request, error: Exception) -> Response:
        answer = Problem(500, "bug", "a bug in lineage", "please report it with what the server printed").response(request.url.path)
        answer.headers.update(HEADERS)
        return answer


def _allowed(app: FastAPI, scope: Scope) -> str:
    """Every method that some route offers for the path of a request."""
    return ", ".join(method for method in _METHODS if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in app.routes))


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_KINDS = {400: "malformed", 404: "not-found", 405: "method-not-allowed", 415: "unsupported-media-type"}


def _invalid(error: RequestValidationError) -> Problem:
    """What does not fit the model: 400 for what is no JSON, 404 for a name in the path that can name nothing, else 422."""
    problems = [(problem["type"], problem["loc"], str(problem["msg"])) for problem in error.errors()]
    if any(kind == "json_invalid" for kind, _, _ in problems):
        return Problem(400, "malformed", f"the body is not JSON: {problems[0][2]}")
    if any(place[0] == "path" for _, place, _ in problems):
        return Problem(404, kebab("NotFound"), "the path names nothing that can be there")
    rows = [("/" + "/".join(map(str, place[1:])), words) for _, place, words in problems][:20]
    return Problem(422, "invalid", "; ".join(f"{pointer}: {words}" for pointer, words in rows[:3]), invalid=rows)
