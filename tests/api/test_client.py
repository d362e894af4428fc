"""The Python client against a live server: typed answers, our own errors, builds followed to their end."""

from __future__ import annotations

import asyncio
import inspect
import json

import pytest

from api.client import AsyncLineage, Event, Lineage, Refused
from api.client.connection import EventReader
from api.server.engines import KeptParts
from api.wire.hits import AnswerView
from api.wire.insight import FactOccurrenceView, WrittenAnswerView
from lineage import settings
from lineage.errors import BadIdentifier, NotFound, UpstreamError, UsageError
from tests.demo import NAME
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.http import Scripted, reply_json
from tests.serving import Serving

QUESTION = "how is the encoder initialized?"
SMALL = {"target": "arxiv:9908.00105", "papers": 0, "repos": 0}


@pytest.fixture(scope="module")
def server(built):
    with Serving(built.home) as running:
        yield running


@pytest.fixture
def lineage(server):
    with Lineage(server.url) as client:
        yield client


def test_every_answer_is_typed(lineage):
    answer = lineage.search(QUESTION, k=3, kind="code")
    assert isinstance(answer, AnswerView)
    assert [hit.rank for hit in answer.hits] == [1, 2, 3]
    around = lineage.evidence(answer.hits[0].chunk, before=1, after=1)
    assert around.hit.source.path == answer.hits[0].source.path
    assert [one.lineage for one in lineage.lineages()] == [NAME]
    assert lineage.show(NAME).report.lineage == NAME
    assert lineage.status(NAME).sums["reference"]["in"] > 0
    assert lineage.graph(NAME).target == "arxiv:9912.00001"
    assert isinstance(lineage.facts("learning rate").values[0].held[0], FactOccurrenceView)
    assert lineage.details().rows
    assert lineage.gaps(state="unspecified").gaps[0].state == "UNSPECIFIED"
    assert lineage.context("write the training loop", tokens=2000).used <= 2000
    assert isinstance(lineage.answer("which learning rate is used?"), WrittenAnswerView)
    assert list(lineage.jobs()) == []


def test_what_the_server_refuses_is_the_error_that_it_was(lineage):
    with pytest.raises(NotFound, match="no lineage 'nope'") as found:
        lineage.show("nope")
    assert found.value.hint == f"known: {NAME}"
    with pytest.raises(UsageError, match="/k: "):
        lineage.search("x", k=0)
    with pytest.raises(BadIdentifier, match="is a path of this machine"):
        lineage.build("/etc/passwd")
    for name in ("x?y=1", "../jobs", "a/b", "%2e%2e"):
        with pytest.raises(NotFound):
            lineage.show(name)


def test_a_server_that_is_not_there_is_said_so():
    with Lineage("http://127.0.0.1:9", timeout=2.0) as lineage, pytest.raises(UpstreamError, match="cannot be reached") as found:
        lineage.lineages()
    assert found.value.hint == "is `lineage serve` running there?"


def test_a_token_is_sent(built):
    with Serving(built.home, {"token": "secret"}) as server:
        with Lineage(server.url, token="secret") as lineage:
            assert len(lineage.lineages()) == 1
        with Lineage(server.url) as lineage, pytest.raises(Refused, match="a token is needed"):
            lineage.lineages()


def test_a_client_that_is_asked_to_wait_waits_and_asks_again():
    busy = reply_json({"detail": "full"}, 503, Retry_After="0")
    with Scripted({"": [busy, busy, reply_json({"lineages": []})]}) as server, Lineage(server.url) as lineage:
        assert list(lineage.lineages()) == []
        assert len(server.seen) == 3


def test_a_client_that_would_wait_too_long_gives_up():
    with Scripted({"": reply_json({"detail": "full"}, 503, Retry_After="60")}) as server, Lineage(server.url, patience=1.0) as lineage:
        with pytest.raises(Refused, match="full"):
            lineage.lineages()
        assert len(server.seen) == 1


@pytest.fixture
def writing(tmp_path, upstream):
    chosen = {"mirror": upstream.url, "deadline": 5.0, "patience": 5.0}
    parts = KeptParts(settings.load(home=tmp_path / "store", **chosen))
    parts.__dict__["embedder"] = HashingEmbedder()
    with Serving(tmp_path / "store", None, parts, **chosen) as running:
        yield running


def test_a_build_is_waited_for_and_heard_of(writing):
    heard: list[Event] = []
    with Lineage(writing.url) as lineage:
        job = lineage.wait(lineage.build(**SMALL), heard.append)
        assert (job.state, job.lineage) == ("done", "arxiv-9908.00105")
        assert heard[-1].kind == "end"
        assert list(lineage.events(job.id, after=heard[-2].id)) == [heard[-1]]
        assert lineage.cancel(job.id).state == lineage.resume(job.id).state == "done"


def test_the_async_client_does_the_same(writing):
    async def ask():
        async with AsyncLineage(writing.url) as lineage:
            job = await lineage.wait(await lineage.build(**SMALL))
            found = await asyncio.gather(*(lineage.search("encoder", k=1, lineage=job.lineage) for _ in range(4)))
            with pytest.raises(NotFound):
                await lineage.show("nope")
            return job.state, {len(answer.hits) for answer in found}, [one.lineage for one in await lineage.lineages()]

    assert asyncio.run(ask()) == ("done", {1}, ["arxiv-9908.00105"])


def test_a_build_that_fails_is_raised_with_its_reason(tmp_path):
    with Serving(tmp_path, offline=True) as server, Lineage(server.url) as lineage, pytest.raises(UpstreamError, match="the build failed: "):
        lineage.wait(lineage.build(**SMALL))


def test_both_clients_have_the_same_methods_with_the_same_parameters():
    def methods(kind):
        return {name: list(inspect.signature(one).parameters) for name, one in inspect.getmembers(kind, callable) if not name.startswith("_")}

    assert methods(Lineage) == methods(AsyncLineage)


def test_events_are_read_out_of_lines_whatever_stands_between():
    reader = EventReader(0)
    lines = [": hello", "retry: 2000", "", "event: note", 'data: {"a": 1}', "id: 7", "", "data: {}", "id: x", ""]
    assert [event for line in lines for event in reader.heard(line)] == [Event(7, "note", {"a": 1}), Event(0, "message", {})]
    assert reader.headers() == {"last-event-id": "7"}
    assert json.dumps(EventReader(0).headers()) == "{}"
