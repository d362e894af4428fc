"""An error keeps its meaning on its way over HTTP: to a status and a document, and back to an error of ours."""

from __future__ import annotations

import inspect
import json

import httpx2
import pytest

from api.client import calls
from api.client.connection import Client, Refused, refusal
from api.rest import PREFIX
from api.rest.problems import MOST, Problem, kebab, problem_of
from lineage import errors
from lineage.errors import LineageError, UpstreamError
from lineage.records import Status

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, LineageError)]
OURS = {
    "DiskFull": 507,
    "UpstreamError": 502,
    "SourceError": 502,
    "AnswersMissing": 502,
    "NotFound": 404,
    "QueueFull": 503,
    "StoreBusy": 503,
    "StoreUnreachable": 503,
    "Cancelled": 409,
}
WRONG = {"UsageError": 422, "BadIdentifier": 422, "AmbiguousTarget": 422, "BadBundle": 422, "UnsupportedDecision": 422, "EmbedderMismatch": 409}


def made(kind):
    more = {errors.AmbiguousTarget: (["A", "B"],)}.get(kind, ())
    if kind in {errors.SourceError, errors.ParseError}:
        return kind(Status.TIMEOUT_FETCH, "what went wrong")
    return kind("what went wrong", *more)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_status_and_a_name(kind):
    error = made(kind)
    problem = problem_of(error)
    assert problem.status == (OURS | WRONG).get(kind.__name__, 500)
    assert problem.document()["type"] == f"urn:lineage:problem:{kebab(kind.__name__)}"
    assert problem.document()["detail"] == str(error)
    assert "what went wrong" in str(error)


@pytest.mark.parametrize(
    "kind",
    [errors.NotFound, errors.UsageError, errors.BadIdentifier, errors.QueueFull, errors.StoreDamaged, errors.StoreBusy, errors.EmbedderMismatch],
)
def test_what_the_server_refuses_is_the_same_error_at_the_client(kind):
    sent = problem_of(kind("what went wrong", hint="do this")).response("/x")
    back = refusal(httpx2.Response(sent.status_code, content=sent.body))
    assert type(back) is kind
    assert (str(back), back.hint) == ("what went wrong", "do this")


def test_an_error_that_is_the_servers_alone_keeps_its_document():
    back = refusal(httpx2.Response(507, content=problem_of(errors.DiskFull("full", hint="free some")).response().body))
    assert isinstance(back, Refused)
    assert (str(back), back.hint, back.status, back.problem["title"]) == ("full", "free some", 507, "Insufficient Storage")


@pytest.mark.parametrize("body", [b"", b"<html>", b"3", b'"x"', b"null", b"[1]", b'{"detail": null}', b"\xff"])
def test_what_is_no_problem_is_told_by_its_status(body):
    back = refusal(httpx2.Response(502, content=body))
    assert isinstance(back, Refused)
    assert (str(back), back.status) == ("the server answered 502", 502)


def test_a_document_says_no_more_than_there_is_and_nothing_without_end():
    assert Problem(404, "not-found", "x").document() == {"type": "urn:lineage:problem:not-found", "title": "Not Found", "status": 404, "detail": "x"}
    long = "y" * 9_000
    full = Problem(422, "invalid", long, long, [(long, long)]).document(long)
    assert {len(full[name]) for name in ("detail", "hint", "instance")} == {MOST}
    assert [{len(text) for text in one.values()} for one in full["errors"]] == [{MOST}]


def test_waiting_is_told_where_it_helps_and_no_text_breaks_the_body():
    assert Problem(503, "x", "y").response().headers["retry-after"] == "5"
    assert Problem(429, "x", "y").response().headers["retry-after"] == "1"
    assert "retry-after" not in Problem(500, "x", "y").response().headers
    assert json.loads(Problem(500, "x", "a\ud800é").response().body)["detail"] == "a?é"


@pytest.mark.parametrize(
    ("status", "after", "spent", "wait"),
    [
        (503, "5", 0, 5.0),
        (429, "0", 0, 0.1),
        (503, "5", 6, 0.0),
        (503, "5", 5, 5.0),
        (503, "", 0, 0.0),
        (503, "-1", 0, 0.0),
        (503, "1.5", 0, 0.0),
        (503, "²", 0, 0.0),
        (503, "9" * 400, 0, 0.0),
        (500, "5", 0, 0.0),
        (200, "5", 0, 0.0),
    ],
)
def test_a_client_waits_as_long_as_it_is_asked_to_and_is_patient(status, after, spent, wait):
    response = httpx2.Response(status, headers=[(b"retry-after", after.encode())] if after else [])
    assert Client(patience=10.0).wait_before(response, spent) == wait


def test_a_call_sends_what_is_said_and_leaves_the_rest_to_the_server():
    assert calls.call("gaps", topic="d", no_target_code=False).request() == {
        "method": "GET",
        "url": f"{PREFIX}/gaps",
        "params": {"topic": "d", "no_target_code": "false"},
    }
    assert calls.call("answer", "a").request() == {"method": "POST", "url": f"{PREFIX}/answer", "json": {"text": "a"}}
    assert calls.call("show", "../a b/ü?").request()["url"] == f"{PREFIX}/lineages/..%2Fa%20b%2F%C3%BC%3F"
    assert calls.call("resume", "j/1").request() == {"method": "POST", "url": f"{PREFIX}/jobs/j%2F1/resume", "params": {}}


def test_a_server_that_is_not_heard_is_an_upstream_that_cannot_be_reached():
    with pytest.raises(UpstreamError, match=r"http://127\.0\.0\.1:1 cannot be reached: gone"), Client("http://127.0.0.1:1").reaching():
        raise httpx2.ConnectError("gone")
    with pytest.raises(ValueError, match="mine"), Client().reaching():
        raise ValueError("mine")


def test_a_token_is_sent_only_where_there_is_one():
    assert Client(token="t").settings["headers"] == {"authorization": "Bearer t"}
    assert Client().settings["headers"] == {}
    assert (Client().settings["trust_env"], Client().settings["follow_redirects"]) == (False, False)
