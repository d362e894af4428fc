"""The client in process gives what the client of a server gives, for the same calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.client import Lineage as RemoteLineage
from api.local import Lineage
from api.server.engines import KeptParts
from lineage import settings
from lineage.errors import NotFound, UsageError
from tests.demo import NAME
from tests.fakes.embedder import HashingEmbedder
from tests.serving import Serving

CALLS = {
    "search": lambda one: one.search("how is the encoder initialized?", k=3, kind="code"),
    "evidence": lambda one: one.evidence(one.search("encoder", k=1).hits[0].chunk, before=1, after=1),
    "context": lambda one: one.context("write the training loop", tokens=2000),
    "answer": lambda one: one.answer("which learning rate is used?"),
    "gaps": lambda one: one.gaps(state="unspecified"),
    "facts": lambda one: one.facts("learning rate"),
    "details": lambda one: one.details(),
    "audit": lambda one: one.audit("examples/demo", lineage=NAME),
    "lineages": lambda one: one.lineages(),
    "show": lambda one: replace(one.show(NAME), report=replace(one.show(NAME).report, peak_memory=0)),
    "references": lambda one: one.references("arxiv:9912.00001", top=3),
    "status": lambda one: one.status(NAME),
    "graph": lambda one: one.graph(NAME),
    "jobs": lambda one: one.jobs(),
}


@pytest.fixture(scope="module")
def both(built):
    with Serving(built.home) as server, RemoteLineage(server.url) as remote, Lineage(built.home) as local:
        yield remote, local


@pytest.mark.parametrize("name", CALLS)
def test_the_same_call_gives_the_same_result(both, name, tmp_path):
    (tmp_path / "train.py").write_text("lr = 0.1\n")
    call = (lambda one: one.audit(tmp_path)) if name == "audit" else CALLS[name]
    remote, local = map(call, both)
    assert type(remote) is type(local)
    assert remote == local


def test_what_is_wrong_is_the_same_error(both):
    for one in both:
        with pytest.raises(NotFound, match="no lineage 'nope'"):
            one.show("nope")
        with pytest.raises(UsageError, match="/k: "):
            one.search("x", k=0)
        with pytest.raises(UsageError, match="no archive"):
            one.audit("README.md")


def test_a_build_is_done_here_and_waited_for(tmp_path, upstream):
    parts = KeptParts(settings.load(home=tmp_path / "store", mirror=upstream.url, deadline=5.0, patience=5.0))
    parts.__dict__["embedder"] = HashingEmbedder()
    heard = []
    with Lineage(parts=parts) as lineage:
        job = lineage.wait(lineage.build("arxiv:9908.00105", papers=0, repos=0), heard.append)
        assert (job.state, job.lineage) == ("done", "arxiv-9908.00105")
        assert [event.kind for event in heard if event.kind in {"state", "end"}] == ["state", "state", "state", "end"]
