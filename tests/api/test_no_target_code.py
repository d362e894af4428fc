"""`no_target_code` at every door: the same question gives nothing of the target's code and still what the baselines hold."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from api.cli import app as cli
from api.client import Lineage
from api.mcp.server import server
from api.rest.app import application
from api.server.jobs import Jobs
from api.server.security import policy_of
from api.wire.encode import dumps
from lineage import settings
from lineage.errors import NotFound
from tests import honest_world as small
from tests.api.mcp_desk import called
from tests.serving import Serving

DETAIL, QUESTION = "learning rate", "which learning rate does the encoder use?"
OWN = ("0.0003", "0.0004", "0.0005")


@pytest.fixture(scope="module")
def rest(honest):
    chosen = settings.load(home=honest.home)
    app = application(chosen, replace(policy_of(chosen, "127.0.0.1"), rate=1e6, burst=10**6))
    with TestClient(app, base_url="http://127.0.0.1:8765") as made:
        yield made


@pytest.fixture(scope="module")
def agents(honest):
    return server(honest.service, Jobs(honest.home, lambda request, watch: None), local=False)


@pytest.fixture
def command(honest, monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["lineage", *words, "--lineage", "with", "--home", str(honest.home), "--json"])
        capsys.readouterr()
        with pytest.raises(SystemExit):
            cli.main()
        return capsys.readouterr().out

    return run


def shown(text, *, without, gaps=False):
    """Whether what a door said has the values of the target's code and its copies just where it should, and without them a baseline's; `gaps`
    offer none, for the target states its own."""
    ours = [rate for rate in OWN if rate in text]
    assert ((gaps or "0.001" in text) and not ours) if without else ours
    return True


POSTED = {"search": {"text": "optimizer lr config", "k": 50}, "context": {"task": "set the learning rate of the optimizer", "tokens": 4000}}


@pytest.mark.parametrize("without", [False, True])
@pytest.mark.parametrize("what", ["facts", "gaps", "search", "context"])
def test_rest(rest, what, without):
    flag = {"lineage": "with", "no_target_code": without}
    if what in POSTED:
        answer = rest.post(f"/api/v1/{what}", json=POSTED[what] | flag)
    else:
        asked = {"lineage": "with", "no_target_code": str(without).lower()} | ({"name": DETAIL} if what == "facts" else {})
        answer = rest.get(f"/api/v1/{what}", params=asked)
    assert answer.status_code == 200, answer.text
    assert shown(answer.text, without=without, gaps=what == "gaps")


def test_rest_details_and_answers(rest):
    tallies = [rest.get("/api/v1/details", params={"lineage": "with", "no_target_code": flag}).json() for flag in ("true", "false")]
    assert [next(row["facts"] for row in one["rows"] if row["name"] == "learning_rate") for one in tallies] == [1, 2]
    answer = rest.post("/api/v1/answer", json={"text": QUESTION, "lineage": "with", "no_target_code": True})
    assert not [rate for rate in OWN if rate in answer.text]


@pytest.mark.parametrize("without", [False, True])
@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("lineage_gaps", {"name": DETAIL}),
        ("lineage_gaps", {"limit": 20}),
        ("lineage_search", {"query": "optimizer lr config", "limit": 20}),
        ("lineage_context", {"task": POSTED["context"]["task"]}),
    ],
)
def test_agents(agents, tool, asked, without):
    assert shown(
        called(agents, tool, lineage="with", no_target_code=without, **asked).model_dump_json(),
        without=without,
        gaps="limit" in asked and tool == "lineage_gaps",
    )


@pytest.mark.parametrize("without", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ("facts", DETAIL),
        ("gaps",),
        ("query", "optimizer lr config", "-k", "50"),
        ("context", POSTED["context"]["task"]),
    ],
)
def test_the_command_line(command, words, without):
    assert shown(command(*words, *(["--no-target-code"] if without else [])), without=without, gaps=words == ("gaps",))


def test_the_command_line_lists_details_answers_and_audits_without_it(command, tmp_path):
    listed = json.loads(command("facts", "--no-target-code"))["data"]["rows"]
    assert next(row["facts"] for row in listed if row["name"] == "learning_rate") == 1
    made = tmp_path / "made"
    made.mkdir()
    (made / "config.yaml").write_text("optimizer:\n  lr: 0.001\n")
    (made / "train.py").write_text(small.code("train", "made"))
    for words in (("answer", QUESTION), ("audit", str(made))):
        said = command(*words, "--no-target-code")
        assert not [rate for rate in OWN if rate in said], words


def test_the_client(honest):
    with Serving(honest.home) as running, Lineage(running.url) as client:
        for without in (False, True):
            flags = {"lineage": "with", "no_target_code": without}
            assert shown(dumps(client.facts(DETAIL, **flags)), without=without)
            assert shown(dumps(client.gaps(**flags)), without=without, gaps=True)
            assert shown(dumps(client.search("optimizer lr config", k=50, **flags)), without=without)
        tallies = [client.details(lineage="with", no_target_code=flag).rows[0].works for flag in (True, False)]
        assert tallies == [1, 2]


@pytest.mark.parametrize("without", [False, True])
def test_reading_at_every_door(honest, rest, agents, command, without):
    own = next(match for match in honest.service.grep("lr", lineage="with", limit=200).matches if match.hit.from_target)
    flags, chunk = {"lineage": "with", "no_target_code": without}, own.hit.chunk.id
    with Serving(honest.home) as running, Lineage(running.url) as client:
        for asked in (lambda: client.read(own.citation, **flags), lambda: client.evidence(chunk, **flags)):
            with pytest.raises(NotFound) if without else nullcontext():
                assert own.text.strip() in dumps(asked())
    said = [
        rest.post("/api/v1/read", json={"citation": own.citation} | flags).text,
        rest.get(f"/api/v1/evidence/{chunk}", params={"lineage": "with", "no_target_code": str(without).lower()}).text,
        called(agents, "lineage_read", citations=[own.citation], **flags).model_dump_json(),
        called(agents, "lineage_read", chunk=chunk, **flags).model_dump_json(),
        command("read", own.citation, *(["--no-target-code"] if without else [])),
    ]
    assert [own.text.strip() in text for text in said] == [not without] * len(said)
