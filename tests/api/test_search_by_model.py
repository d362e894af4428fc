"""Searches of a chat model: what it chooses of the places shown comes first with its lines; what was not shown is dropped."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from api.bootstrap import Parts
from api.cli.app import app
from api.operations import Service
from lineage import settings
from lineage.reasons import UNSUPPORTED
from lineage.records import ReasonKind
from tests.fakes import small_lineage as small
from tests.fakes.chat_server import ChatServer

QUESTION = "how strongly are inputs clipped?"
CLIP = "def preprocess(inputs):\n    # clipping of inputs\n    return clip(inputs, low=0.02)"
SQUASH = "def squash(x):\n    bound = 3\n    return tanh(x / bound)"


def choosing(path, *, line=0, terms=("squash", "tanh"), place=0, question=1):
    """A model that chooses a line of the place of a path, or a place that was not shown."""

    def reply(messages):
        text = messages[1]["content"]
        if "terms" in messages[0]["content"]:
            return json.dumps({"questions": [{"question": 1, "terms": terms}, {"question": 99, "terms": ["x"]}]})
        shown = re.findall(r"^Place (\d+): (.*)\n(\d+):", text, re.MULTILINE)
        number, first = next(((int(n), int(at)) for n, where, at in shown if path in where), (0, 1))
        return json.dumps({"choices": [{"question": question, "place": place or number, "first": line or first + 1, "last": 9_999}]})

    return reply


@pytest.fixture
def home(tmp_path):
    pieces = [
        *small.chunks(),
        small.chunk(small.REPO, "data.py", CLIP, first=11, symbol="preprocess"),
        small.chunk(small.REPO, "layers.py", SQUASH, first=31, symbol="squash"),
    ]
    small.build(tmp_path, pieces=pieces, documents=["main.tex"])
    return tmp_path


def hits(home, server, k=5):
    service = Service(Parts(settings.load(home=home, llm_model="m-1", llm_base_url=server.url)))
    [answer] = service.query_batch([QUESTION], k=k, model=True)
    return answer.hits, answer.notes


def test_what_words_of_the_model_find_is_chosen_and_stands_first_with_its_lines(home):
    plain = Service(Parts(settings.load(home=home))).query(QUESTION, k=5).hits
    assert plain[0].chunk.path != "layers.py"
    with ChatServer(choosing("layers.py")) as server:
        found, _ = hits(home, server)
    assert (found[0].chunk.path, found[0].focus.start_line, found[0].focus.end_line) == ("layers.py", 32, 33)
    assert found[0].why[-1].kind is ReasonKind.RERANKED
    assert found[0].why[-1].of == ("m-1",)
    assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    kept = [hit.chunk.id for hit in plain if hit.chunk.path != "layers.py"]
    assert [hit.chunk.id for hit in found[1:]] == kept[: len(found) - 1]


def test_an_answer_that_words_do_not_support_is_supported_once_lines_are_chosen(home):
    question = "how many giraffes graze in Antarctica?"
    asked = Service(Parts(settings.load(home=home))).query(question, k=5)
    assert not asked.supported
    assert all(hit.flags for hit in asked.hits)
    with ChatServer(choosing("layers.py")) as server:
        [answer] = Service(Parts(settings.load(home=home, llm_model="m-1", llm_base_url=server.url))).query_batch([question], k=5, model=True)
    assert answer.supported
    assert not any(note.startswith(UNSUPPORTED) for note in answer.notes)
    assert not any(hit.flags for hit in answer.hits)


@pytest.mark.parametrize("lie", [{"place": 99}, {"place": -1}, {"line": 7_000}, {"question": 2}])
def test_what_was_not_shown_is_dropped_and_the_hits_stay(home, lie):
    plain = Service(Parts(settings.load(home=home))).query(QUESTION, k=5).hits
    with ChatServer(choosing("layers.py", **lie)) as server:
        assert hits(home, server)[0] == plain


@pytest.mark.parametrize("said", ["I cannot.", "[]", '{"choices": 3}', "{" * 5000])
def test_a_malformed_answer_changes_nothing_and_is_told(home, said):
    plain = Service(Parts(settings.load(home=home))).query(QUESTION, k=5).hits
    with ChatServer(lambda _: said) as server:
        found, notes = hits(home, server)
    assert found == plain
    assert "malformed" in notes[-1]


def test_the_command_counts_without_sending_and_prints_what_was_chosen(home, monkeypatch):
    def run(server, *more):
        for name, value in (("MODEL", "m-1"), ("BASE_URL", server.url)):
            monkeypatch.setenv(f"LINEAGE_LLM_{name}", value)
        return CliRunner().invoke(app, ["query", QUESTION, "--model", "--home", str(home), *more])

    with ChatServer(choosing("layers.py")) as server:
        assert "2 calls" in run(server, "--dry-run").stdout
        assert server.requests == []
        printed = run(server).stdout.splitlines()
        first = next(at for at, line in enumerate(printed) if re.search(r"\.py\b", line))
        assert "layers.py" in printed[first]
        assert {"31", "32", "33"} <= {line.partition(":")[0] for line in printed[first + 1 : first + 6]}


def test_questions_share_calls_and_each_keeps_its_own_choice(home):
    def reply(messages):
        if "terms" in messages[0]["content"]:
            return json.dumps({"questions": []})
        parts = re.split(r"^Question (\d+): ", messages[1]["content"], flags=re.MULTILINE)[1:]
        choices = []
        for number, part in zip(parts[::2], parts[1::2], strict=True):
            path = "layers.py" if "bound" in part.splitlines()[0] else "data.py"
            place, first = next((int(n), int(at)) for n, where, at in re.findall(r"^Place (\d+): (.*)\n(\d+):", part, re.MULTILINE) if path in where)
            choices.append({"question": int(number), "place": place, "first": first, "last": first})
        return json.dumps({"choices": choices})

    with ChatServer(reply) as server:
        service = Service(Parts(settings.load(home=home, llm_model="m-1", llm_base_url=server.url)))
        answers = service.query_batch(["which bound has squash?", QUESTION], k=3, model=True)
        assert len(server.requests) == 2
    assert [answer.hits[0].chunk.path for answer in answers] == ["layers.py", "data.py"]
