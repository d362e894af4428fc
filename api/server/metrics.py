"""Prometheus metrics: requests by route and status, durations, jobs, engines, memory."""

from __future__ import annotations

import time
from collections import Counter as Count
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0, generate_latest
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.server.journal import STATES, Job

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
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - start)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
