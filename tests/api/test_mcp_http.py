"""The endpoint over HTTP: a stock client in both revisions, and everything that is not one."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from api.mcp.server import MOST_BODY, asgi
from api.rest.app import application
from api.server.security import policy_of
from lineage import settings
from tests.api.mcp_desk import MODES, Store, talk
from tests.fakes import small_lineage

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@contextmanager
def served(app):
    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    running.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("http"))
    door = asgi(store.service, store.jobs)
    with served(Starlette(routes=[Route("/mcp", door)], lifespan=lambda _: door.lifespan())) as running:
        yield running


def post(url: str, body: object, **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(url, content=content, headers={**ACCEPT, **{name.replace("_", "-"): value for name, value in headers.items()}}, timeout=20)


def request(method: str, params: object = None) -> dict:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


@pytest.mark.parametrize("mode", MODES)
def test_a_stock_client_lists_and_asks(url, mode):
    async def use(client):
        return await client.list_tools(), await client.call_tool("lineage_search", {"query": "entropy", "limit": 2})

    listed, found = talk(url, use, mode)
    assert listed.tools[0].name == "lineage_search"
    assert len(found.structured_content["hits"]) == 2


@pytest.mark.parametrize("mode", MODES)
def test_lineage_serve_answers_agents_beside_everything_else(tmp_path, mode):
    small_lineage.build(tmp_path)
    chosen = settings.load(home=tmp_path)
    with served(application(chosen, policy_of(chosen, "127.0.0.1"))) as running:
        found = talk(running, lambda client: client.call_tool("lineage_search", {"query": "entropy"}), mode)
        assert post(running, request("initialize", HELLO), host="evil.example").status_code == 421
    assert found.structured_content["lineage"] == "small"


def test_the_newer_revision_needs_no_session(url):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    asked = request("tools/call", {"_meta": meta, "name": "lineage_search", "arguments": {"query": "entropy", "limit": 1}})
    told = post(url, asked, mcp_protocol_version="2026-07-28", mcp_method="tools/call", mcp_name="lineage_search")
    assert told.status_code == 200
    assert "mcp-session-id" not in told.headers
    assert told.json()["result"]["structuredContent"]["hits"][0]["rank"] == 1


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "[::1].evil:1"])
def test_a_foreign_host_is_refused(url, name):
    assert post(url, request("initialize", HELLO), host=name).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example"])
def test_a_page_of_another_origin_is_refused(url, origin):
    assert post(url, request("initialize", HELLO), origin=origin).status_code == 403


MALFORMED = [
    b"",
    b"not json",
    b"{",
    b"[]",
    b"[1]",
    b"null",
    b"7",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b"\xff\xfe",
    b"[" * 50_000,
]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "1999-01-01"])
@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_messages_are_refused_and_the_server_lives(url, body, version):
    assert 400 <= post(url, body, mcp_protocol_version=version).status_code < 500
    assert post(url, request("initialize", HELLO)).status_code == 200


def test_a_body_that_is_too_large_is_refused_before_it_is_read(url):
    assert post(url, b" " * (MOST_BODY + 1)).status_code == 413


def test_another_content_type_is_refused(url):
    assert post(url, request("initialize", HELLO), content_type="text/plain").status_code in {400, 415}


def test_a_session_that_is_not_there_is_not_found(url):
    assert post(url, request("tools/list"), mcp_session_id="0" * 32).status_code == 404


def test_a_client_that_vanishes_in_the_middle_of_a_stream_harms_nobody(url):
    host, port = url.split("/")[2].split(":")
    body = json.dumps(request("initialize", HELLO)).encode()
    for cut in (len(body) // 2, len(body)):
        with socket.create_connection((host, int(port))) as connection:
            headers = {"host": f"{host}:{port}", **ACCEPT, "content-length": len(body)}
            head = "POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
            connection.sendall(head.encode() + body[:cut])
    assert post(url, request("initialize", HELLO)).status_code == 200


def test_two_hundred_idle_sessions_lock_nobody_out(url):
    with httpx2.Client() as client:
        sent = {"json": request("initialize", HELLO), "headers": ACCEPT, "timeout": 20}
        assert {client.post(url, **sent).status_code for _ in range(201)} == {200}
    assert talk(url, lambda client: client.call_tool("lineage_search", {"query": "entropy"}), "legacy").structured_content["hits"]
