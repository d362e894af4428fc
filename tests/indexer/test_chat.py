"""A chat endpoint that answers too much, for ever, or in another form costs a typed error and nothing else."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from indexer.chat import Chat, MeteredChat
from indexer.transport import client as transport
from indexer.transport.client import client_for_packages
from lineage.catalog.keyed import Keyed
from lineage.errors import SourceError
from lineage.settings import Settings

SCHEMA = {"name": "x", "schema": {}}


@contextmanager
def endpoint(write: Callable[[Callable[[bytes], None]], None], status: int = 200) -> Iterator[str]:
    """A server whose every answer is what `write` writes."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            with suppress(OSError):
                write(lambda data: self.wfile.write(data) and None)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def chat(url: str, tmp_path, deadline: float = 60.0) -> MeteredChat:
    settings = Settings(home=tmp_path, llm_model="m", llm_base_url=url, deadline=deadline)
    made = Chat.of(settings, client_for_packages(settings))
    assert made
    return MeteredChat(made, tmp_path, len)


def drip(write: Callable[[bytes], None]) -> None:
    while True:
        write(b" ")
        time.sleep(0.05)


def flood(write: Callable[[bytes], None]) -> None:
    while True:
        write(b" " * 65_536)


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(("body", "deadline"), [(drip, 0.5), (flood, 60.0)])
def test_an_answer_without_end_is_given_up(tmp_path, monkeypatch, body, deadline, status):
    monkeypatch.setattr(transport, "MOST_ANSWER", 1 << 20)
    with endpoint(body, status) as url, pytest.raises(SourceError, match="the model's endpoint"):
        chat(url, tmp_path, deadline).complete([{"role": "user", "content": "x"}], SCHEMA, 100)


@pytest.mark.parametrize("body", [b"[" * 100_000, b"{}", b"[]", b"null", b"<html>", b'{"choices": [{"message": {"content": 3}}]}', b"\xff"])
def test_an_answer_in_another_form_is_a_typed_error_or_text(tmp_path, body):
    with endpoint(lambda write: write(body)) as url, suppress(SourceError):
        assert chat(url, tmp_path).complete([{"role": "user", "content": "x"}], SCHEMA, 100) in {"", "3"}


def test_what_no_encoding_holds_is_kept_and_given_as_text(tmp_path):
    content = json.dumps({"choices": [{"message": {"content": '{"a": "\ud800"}'}}]}).encode()
    with endpoint(lambda write: write(content)) as url:
        door = chat(url, tmp_path)
        first = door.complete([{"role": "user", "content": "x"}], SCHEMA, 100)
        assert (first, door.usage.calls) == (door.complete([{"role": "user", "content": "x"}], SCHEMA, 100), 1)


def test_doors_that_keep_the_same_answers_at_once_lose_and_damage_none(tmp_path):
    """Each with connections of its own, as processes have them."""
    content = json.dumps({"choices": [{"message": {"content": '{"a": 1}'}}]}).encode()
    asked = [[{"role": "user", "content": str(n)}] for n in range(5)]
    with endpoint(lambda write: write(content)) as url, ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: [chat(url, tmp_path).complete(messages, SCHEMA, 100) for messages in asked], range(4)))
    assert {answer for answers in said for answer in answers} == {'{"a": 1}'}
    door = chat(url, tmp_path)  # that nobody listens at any more
    assert [door.complete(messages, SCHEMA, 100) for messages in asked] == ['{"a": 1}'] * 5
    assert list(Keyed(tmp_path / "cache" / "derived.db").damage()) == []
