"""The guard in front of every route: who asks, how much, how often."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from api.rest.app import application
from api.server import security
from api.server.security import AccessPolicy, Buckets, Guard, is_loopback, policy_of, refusal
from lineage import settings
from lineage.errors import SettingsError

TOKEN = "correct horse"
OPEN = AccessPolicy()
CLOSED = AccessPolicy(token=TOKEN)
GOOD = {"host": "127.0.0.1:8765"}
BEARER = {"authorization": f"Bearer {TOKEN}"}


def status(policy, path="/api/v1/lineages", **headers):
    problem = refusal(policy, path, Headers({**GOOD, **{name.replace("_", "-"): value for name, value in headers.items()}}))
    return problem.status if problem else 200


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:8765", "LOCALHOST", "[::1]:8765"])
def test_names_of_this_machine_are_answered_to(host):
    assert status(OPEN, host=host) == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.nip.io", "127.0.0.1@evil.example", "", "127.0.0.1:x"),
        *("0.0.0.0", "10.0.0.7", "2130706433", "0x7f000001", "127.1", "localhost/x", "127.0.0.1:8765, evil.example"),
    ],
)
def test_any_other_name_is_a_wrong_host(host):
    assert status(OPEN, host=host) == 421


def test_names_of_ones_own_are_answered_to_when_they_are_set():
    policy = policy_of(settings.load(token=TOKEN, hosts="lineage.example, box"), "127.0.0.1")
    assert status(policy, host="lineage.example", **BEARER) == 200
    assert status(policy, host="other.example", **BEARER) == 421


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8765", "http://localhost:8765", "https://[::1]:8765"])
def test_the_servers_own_page_may_ask(origin):
    assert status(OPEN, origin=origin) == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "file://",
        "http://127.0.0.1",
        "http://127.0.0.1:9999",
        "http://localhost:8765.evil.example",
        "chrome://x:8765",
    ],
)
def test_pages_of_other_origins_may_not(origin):
    assert status(OPEN, origin=origin) == 403


@pytest.mark.parametrize(
    "said", ["", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN, f"Bearer {TOKEN[:-1]}", "Bearer \u00e9"]
)
def test_without_the_token_nothing_is_told_but_the_page(said):
    assert status(CLOSED, authorization=said) == 401
    assert status(CLOSED, "/mcp", authorization=said) == 401
    assert status(CLOSED, "/healthz", authorization=said) == 401
    assert status(CLOSED, "/webx", authorization=said) == 401
    assert status(CLOSED, "/", authorization=said) == 200
    assert status(CLOSED, "/web/page.js", authorization=said) == 200


def test_with_the_token_all_is_told():
    assert status(CLOSED, **BEARER) == 200
    assert status(CLOSED, authorization=f"bearer {TOKEN}") == 200
    assert status(CLOSED, host="evil.example", **BEARER) == 421


def test_beyond_loopback_a_token_is_needed():
    for host in ("0.0.0.0", "::", "192.168.1.5", "box.example"):
        with pytest.raises(SettingsError, match="no token is set"):
            policy_of(settings.load(), host)
        with pytest.raises(SettingsError, match="no token"):
            policy_of(settings.load(token=" "), host)
    policy = policy_of(settings.load(token=TOKEN), "0.0.0.0")
    assert status(policy, host="192.168.1.5:8765", **BEARER) == 200
    assert status(policy, host="rebound.example:8765", **BEARER) == 421
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost", "0.0.0.0", "127.1")] == [True] * 4 + [False] * 2


def test_a_client_has_a_burst_and_then_a_rate():
    now = [0.0]
    buckets = Buckets(rate=2.0, burst=3, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert buckets.take("b") == 0.0
    now[0] = 0.5
    assert [buckets.take("a"), buckets.take("a")] == [0.0, 0.5]
    now[0] = 1000.0
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_clients_that_were_not_seen_for_long_are_forgotten(monkeypatch):
    monkeypatch.setattr("api.server.security._CLIENTS", 2)
    buckets = Buckets(rate=1.0, burst=1, clock=lambda: 0.0)
    assert [buckets.take(name) for name in ("a", "b", "c", "a")] == [0.0] * 4


# -- in front of the application


ROUTES = [
    *(
        ("GET", path)
        for path in ("/healthz", "/metrics", "/docs", "/openapi.json", "/llms.txt", "/api/v1/lineages", "/api/v1/jobs", "/nowhere", "/mcp")
    ),
    *(("GET", f"/api/v1/lineages/x{rest}") for rest in ("", "/status", "/graph", "/events")),
    *(("POST", path) for path in ("/api/v1/search", "/api/v1/lineages", "/mcp")),
    ("DELETE", "/api/v1/jobs/j_000000000000000000000000"),
    ("OPTIONS", "/api/v1/search"),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    chosen = settings.load(home=tmp_path_factory.mktemp("empty"), token=TOKEN)
    with TestClient(application(chosen, policy_of(chosen, "127.0.0.1")), base_url="http://127.0.0.1:8765") as made:
        yield made


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_checks_host_origin_and_token(client, method, path):
    def asked(**headers):
        answer = client.request(method, path, headers=headers)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control") for name in answer.headers)
        return answer.status_code

    assert asked() == 401
    assert asked(authorization="Bearer wrong") == 401
    assert asked(host="evil.example", **BEARER) == 421
    assert asked(origin="http://evil.example", **BEARER) == 403


def test_a_refusal_names_the_scheme_and_not_the_token(client):
    answer = client.get("/api/v1/lineages", headers={"authorization": "Bearer wrong"})
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.text
    assert "wrong" not in answer.text


# -- the guard alone, with what no client library would send


class Echo:
    """Answers with what it was sent, when it is let go."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()
        self.under_way = 0
        self.starts_first = False

    async def __call__(self, scope, receive, send):
        body = (await receive()).get("body", b"")
        self.under_way += 1
        if not self.starts_first:
            await self.let_go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await self.let_go.wait()
        await send({"type": "http.response.body", "body": body})


async def ask(app, *pieces, headers=(), client="9.9.9.9", end=True, path="/x"):
    """The status and headers of the answer to a request whose body comes in pieces."""
    messages = [{"type": "http.request", "body": piece, "more_body": i + 1 < len(pieces) or not end} for i, piece in enumerate(pieces)]
    sent = []

    async def receive():
        return messages.pop(0) if messages else await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    named = [(b"host", b"127.0.0.1"), *headers]
    scope = {"type": "http", "method": "POST", "path": path, "headers": named, "client": (client, 1), "query_string": b"", "state": {}}
    await app(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"])


CHUNKED = ((b"transfer-encoding", b"chunked"),)


def guarded(**limits):
    echo = Echo()
    echo.let_go.set()
    return Guard(echo, replace(OPEN, **limits)), echo


def test_a_body_beyond_its_bound_is_refused_before_it_is_read_whole():
    async def attack():
        guard, echo = guarded(body=10)
        assert (await ask(guard, headers=((b"content-length", b"11"),)))[0] == 413
        assert (await ask(guard, b"x" * 6, b"x" * 6, headers=CHUNKED, end=False))[0] == 413
        assert (await ask(guard, headers=((b"content-length", b"9" * 400),)))[0] == 413
        assert echo.under_way == 0
        assert (await ask(guard, b"x" * 5, b"x" * 5, headers=CHUNKED))[0] == 200

    asyncio.run(attack())


def test_a_body_that_does_not_arrive_is_not_waited_for():
    async def attack():
        guard, _ = guarded(patience=0.01)
        assert (await ask(guard, b"{", headers=CHUNKED, end=False))[0] == 408

    asyncio.run(attack())


def test_who_asks_too_often_is_told_when_to_come_back_and_others_are_served():
    async def attack():
        guard, _ = guarded(rate=0.1, burst=2)
        answers = [await ask(guard, b"") for _ in range(3)]
        assert [status_ for status_, _ in answers] == [200, 200, 429]
        assert 1 <= int(answers[2][1][b"retry-after"]) <= 11
        assert (await ask(guard, b"", client="8.8.8.8"))[0] == 200

    asyncio.run(attack())


def test_beyond_what_may_be_at_work_requests_are_shed_and_one_counts_only_until_its_answer_begins():
    async def attack():
        guard, echo = guarded(concurrency=1)
        echo.let_go.clear()
        first = asyncio.create_task(ask(guard, b""))
        while not echo.under_way:
            await asyncio.sleep(0)
        shed, headers = await ask(guard, b"")
        assert (shed, headers[b"retry-after"]) == (503, b"1")
        echo.let_go.set()
        assert (await first)[0] == 200
        echo.let_go.clear()
        echo.starts_first = True
        stream = asyncio.create_task(ask(guard, b""))
        while echo.under_way < 2:
            await asyncio.sleep(0)
        other = asyncio.create_task(ask(guard, b""))
        while echo.under_way < 3:
            await asyncio.sleep(0)
        echo.let_go.set()
        assert (await other)[0] == 200
        assert (await stream)[0] == 200

    asyncio.run(attack())


@pytest.mark.parametrize(("path", "at_work"), [("/api/v1/search", 3), ("/mcp", 5)])
def test_requests_of_one_client_run_in_turns_and_others_pass_them(monkeypatch, path, at_work):
    async def attack():
        monkeypatch.setattr(security, "_TURNS", 2)
        guard, echo = guarded()
        echo.let_go.clear()
        asked = [asyncio.create_task(ask(guard, b"", path=path)) for _ in range(4)]
        asked.append(asyncio.create_task(ask(guard, b"", path=path, client="8.8.8.8")))
        while echo.under_way < at_work:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert echo.under_way == at_work
        asked[0].cancel()
        echo.let_go.set()
        assert [status for status, _ in await asyncio.gather(*asked[1:])] == [200] * 4
        assert echo.under_way == 5

    asyncio.run(attack())


def test_a_stream_that_its_application_leaves_open_is_ended():
    async def stream(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"data", "more_body": True})

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": [(b"host", b"127.0.0.1")], "query_string": b""}
    asyncio.run(Guard(stream, OPEN)(scope, None, send))
    assert [message.get("more_body", False) for message in sent] == [False, True, False]
