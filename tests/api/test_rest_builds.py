"""Builds over REST against a live server: asked for, followed, left, cancelled, resumed, and there after a restart."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time

import httpx2
import pytest

from api.requests import Build
from api.rest import builds
from api.server.engines import KeptParts
from api.server.journal import Job, JobEvent
from api.table import BY_NAME
from indexer.plan import BuildRequest
from lineage import settings
from tests.fakes.embedder import HashingEmbedder
from tests.serving import Serving

TARGET = "arxiv:9908.00105"
SMALL = {"target": TARGET, "papers": 0, "repos": 0}
LONG = 60.0


def serving(home, upstream, **flags):
    chosen = {"mirror": upstream.url, "deadline": 5.0, "patience": 5.0, **flags}
    parts = KeptParts(settings.load(home=home, **chosen))
    parts.__dict__["embedder"] = HashingEmbedder()
    return Serving(home, {"rate": 1e6, "burst": 10**6}, parts, **chosen)


@pytest.fixture
def server(tmp_path, upstream):
    with serving(tmp_path / "store", upstream) as running:
        yield running


@pytest.fixture
def client(server):
    with httpx2.Client(base_url=server.url, timeout=LONG, trust_env=False) as made:
        yield made


@pytest.fixture
def held(monkeypatch):
    """Builds wait until they are let go, and can be cancelled meanwhile."""
    go_on = threading.Event()
    real = builds.Jobs._run

    def run(self, job):
        if not go_on.is_set():
            self._build = _waiting(self._build, go_on)
        real(self, job)

    monkeypatch.setattr(builds.Jobs, "_run", run)
    yield go_on
    go_on.set()


def _waiting(build, go_on):
    from lineage.progress import Stage

    def waiting(request, watch):
        while not go_on.wait(0.01):
            watch(Stage("held", 0, 1))
        return build(request, watch)

    return waiting


def ended(client, job):
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        value = client.get(job["links"]["self"]).json()
        if value["state"] in {"done", "failed", "cancelled"}:
            return value
        time.sleep(0.05)
    raise AssertionError(value)


def followed(client, path, headers=None):
    """Every event of a stream until it ends: (kind, number, data)."""
    events, event = [], {}
    with client.stream("GET", path, headers=headers or {}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if line:
                event[name] = value
            elif "event" in event:
                events.append((event["event"], event.get("id"), json.loads(event["data"])))
                event = {}
    return events


class Late:
    """A job whose end was written, and the event of it a moment later."""

    def __init__(self, said):
        self.said = said

    def get(self, id_):
        return Job(id_, BuildRequest(TARGET), state="done")

    def events(self, id_, after):
        return self.said.pop(0) if self.said else ()


@pytest.mark.parametrize(("said", "states"), [([(), (JobEvent(7, "", "state", {"state": "done"}),)], 1), ([], 0)])
def test_a_stream_ends_after_the_event_of_the_end(monkeypatch, said, states):
    async def heard():
        return [event async for event in builds.events(Late(said), "j", 0)]

    monkeypatch.setattr(builds, "LOOK", 0.0)
    events = [event.decode() for event in asyncio.run(heard())]
    assert [("event: state" in event, "event: end" in event) for event in events[1:]] == [(True, False)] * states + [(False, True)]


def test_a_build_is_accepted_followed_and_there(client):
    answer = client.post("/api/v1/lineages", json=SMALL)
    assert answer.status_code == 202
    job = BY_NAME["build"].read(answer.content)
    assert answer.headers["location"] == job.links["self"] == f"/api/v1/jobs/{job.id}"
    events = followed(client, job.links["events"])
    assert [data["state"] for kind, _, data in events if kind == "state"] == ["queued", "running", "done"]
    assert any(kind == "stage" and data["name"] == "target" for kind, _, data in events)
    kind, number, last = events[-1]
    assert (kind, number, last["state"]) == ("end", None, "done")
    assert last["report"]["lineage"] == "arxiv-9908.00105"
    assert client.get(last["links"]["lineage"]).json()["report"]["generation"] == last["report"]["generation"]
    assert [one["id"] for one in client.get("/api/v1/jobs").json()["jobs"]] == [job.id]
    hits = client.post("/api/v1/search", json={"text": "encoder", "k": 1}).json()["hits"]
    assert len(hits) == 1


def test_a_stream_goes_on_after_the_event_that_was_seen_last(client):
    job = client.post("/api/v1/lineages", json=SMALL).json()
    events = followed(client, job["links"]["events"])
    rest = followed(client, job["links"]["events"], {"last-event-id": events[1][1]})
    assert rest[: len(events) - 3] == events[2:-1]
    assert followed(client, "/api/v1/lineages/arxiv-9908.00105/events", {"last-event-id": "nonsense"}) == events


def test_the_same_request_joins_and_another_waits_its_turn(client, held):
    first = client.post("/api/v1/lineages", json=SMALL).json()
    assert client.post("/api/v1/lineages", json={**SMALL, "target": "https://arxiv.org/abs/9908.00105"}).json()["id"] == first["id"]
    other = client.post("/api/v1/lineages", json={**SMALL, "name": "other"}).json()
    assert other["id"] != first["id"]
    held.set()
    assert [ended(client, job)["state"] for job in (first, other)] == ["done", "done"]


def test_past_the_bound_a_client_is_told_to_come_back(tmp_path, upstream, held):
    with serving(tmp_path / "store", upstream, queue=1) as server, httpx2.Client(base_url=server.url, trust_env=False) as client:
        first = client.post("/api/v1/lineages", json=SMALL).json()
        while client.get(first["links"]["self"]).json()["state"] == "queued":
            time.sleep(0.01)
        assert client.post("/api/v1/lineages", json={**SMALL, "name": "two"}).status_code == 202
        full = client.post("/api/v1/lineages", json={**SMALL, "name": "three"})
        assert (full.status_code, full.headers["retry-after"]) == (503, "5")
        assert full.json()["type"] == "urn:lineage:problem:queue-full"


def test_a_build_is_cancelled_and_resumed(client, held):
    job = client.post("/api/v1/lineages", json=SMALL).json()
    while client.get(job["links"]["self"]).json()["state"] == "queued":
        time.sleep(0.01)
    assert client.delete(job["links"]["self"]).json()["cancelling"] in {True, False}
    assert ended(client, job)["state"] == "cancelled"
    held.set()
    answer = client.post(job["links"]["self"] + "/resume")
    assert (answer.status_code, answer.headers["location"]) == (202, job["links"]["self"])
    assert ended(client, job)["attempts"] == 2


def test_a_build_outlives_the_server(tmp_path, upstream, held):
    with serving(tmp_path / "store", upstream) as server, httpx2.Client(base_url=server.url, trust_env=False) as client:
        job = client.post("/api/v1/lineages", json=SMALL).json()
        while client.get(job["links"]["self"]).json()["state"] == "queued":
            time.sleep(0.01)
    held.set()
    with serving(tmp_path / "store", upstream) as server, httpx2.Client(base_url=server.url, trust_env=False) as client:
        assert ended(client, job)["state"] == "done"


def test_why_a_build_failed_is_told_with_what_to_do(tmp_path, upstream):
    with serving(tmp_path / "store", upstream, offline=True) as server, httpx2.Client(base_url=server.url, trust_env=False) as client:
        job = ended(client, client.post("/api/v1/lineages", json=SMALL).json())
        assert job["state"] == "failed"
        assert job["error"]["type"] == "UpstreamError"
        assert job["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        *({"target": path} for path in ("/etc/passwd", "./paper.pdf", "~/x.tex", "../x", "pyproject.toml", "..")),
        {"target": TARGET, "add": ["/home"]},
        {"target": TARGET, "add": ["file:///etc/passwd"]},
        {"target": "adam"},
        {"target": "http://127.0.0.1/x"},
        {"target": TARGET, "name": "../x"},
        {"target": TARGET, "depth": 9},
        {"target": TARGET, "secret": 1},
        {"target": TARGET, "add": ["x"] * 51},
    ],
)
def test_files_of_the_server_and_what_names_nothing_are_refused(client, body):
    answer = client.post("/api/v1/lineages", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert client.get("/api/v1/jobs").json() == {"jobs": []}


def test_a_client_that_vanishes_in_mid_stream_leaves_nothing_behind(client, server, held):
    job = client.post("/api/v1/lineages", json=SMALL).json()
    request = f"GET {job['links']['events']} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.port), LONG) as raw:
            raw.sendall(request)
            assert raw.recv(64).startswith(b"HTTP/1.1 200")
    until = time.monotonic() + LONG
    while "lineage_http_requests_in_progress 1.0" not in client.get("/metrics").text and time.monotonic() < until:
        time.sleep(0.05)
    assert "lineage_http_requests_in_progress 1.0" in client.get("/metrics").text


def test_streams_are_bounded(tmp_path):
    jobs = builds.Jobs(tmp_path, lambda request, watch: None)
    streams = builds.Streams(most=1)
    job = jobs.submit(Build(**SMALL).request(0, 0))
    streams.open = 1
    assert streams.answer(jobs, job, 0).status_code == 503


def test_a_stream_that_has_nothing_to_tell_says_that_it_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(builds, "HEARTBEAT", 0.0)
    monkeypatch.setattr(builds, "LOOK", 0.0)
    jobs = builds.Jobs(tmp_path, lambda request, watch: None)
    job = jobs.submit(Build(**SMALL).request(0, 0))

    async def listen():
        stream = builds.events(jobs, job.id, 0)
        return [(await anext(stream)).decode().splitlines()[0] for _ in range(4)]

    assert asyncio.run(listen()) == [f": events of {job.id}", "event: state", ": still here", ": still here"]
