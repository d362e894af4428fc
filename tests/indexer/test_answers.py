from __future__ import annotations

import json

import pytest

from indexer.store.blobs import Blobs
from indexer.transport.cache import Answers, CachedResponse, Request

URL = "https://api.github.com/repos/a/b"


@pytest.fixture
def kept(tmp_path):
    blobs = Blobs(tmp_path)
    answers = Answers(tmp_path, blobs)
    headers = {"etag": '"x"', "set-cookie": "secret"}
    answers.keep(Request("GET", URL), CachedResponse(200, headers, blobs.put(b'{"a": 1}', "application/json", URL), URL))
    return answers


def test_an_answer_is_found_again_with_its_body_and_the_headers_worth_keeping(kept):
    answer = kept.get(Request("GET", URL))
    assert (answer.status, answer.json, answer.headers, answer.url, answer.cached) == (200, {"a": 1}, {"etag": '"x"'}, URL, True)


@pytest.mark.parametrize("request_", [Request("POST", URL), Request("GET", URL + "?"), Request("GET", URL, b"x")])
def test_another_method_address_or_body_is_another_request(kept, request_):
    assert kept.get(request_) is None


def test_a_file_of_another_version_is_ignored(kept):
    path = next(kept.root.rglob("*.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 99}))
    assert kept.get(Request("GET", URL)) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 1}', b"\xff", b'{"version": 1, "sha256": "../../x"}'])
def test_a_damaged_file_is_asked_anew(kept, content):
    next(kept.root.rglob("*.json")).write_bytes(content)
    assert kept.get(Request("GET", URL)) is None


def test_an_answer_whose_body_is_gone_or_cut_short_is_asked_anew(kept):
    answer = kept.get(Request("GET", URL))
    kept.blobs.path(answer.blob.sha256).write_bytes(b"{")
    assert kept.get(Request("GET", URL)) is None
    assert not kept.blobs.has(answer.blob.sha256)
    assert kept.get(Request("GET", URL)) is None


def test_an_answer_can_be_forgotten(kept):
    kept.forget(Request("GET", URL))
    assert kept.get(Request("GET", URL)) is None
    kept.forget(Request("GET", URL))
