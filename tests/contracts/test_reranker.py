"""One contract over every reranker: a cross-encoder of random weights, a scripted chat model, and the fake of other tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from indexer.chat import Chat
from lineage import registry
from lineage.errors import SettingsError, SourceError
from lineage.ports import Reranker
from lineage.settings import Settings
from lineage.testing import RerankerContract
from retrieval.rerankers.chat import ChatReranker
from tests.fakes.chat_server import ChatServer
from tests.fakes.reranker import WordsReranker
from tests.fakes.tiny_model import tiny_cross_encoder

QUESTION = "how are the weights initialised?"
TEXTS = ["def init_weights(module): trunc_normal_(module.weight)", "lr = 1e-4", "学習率\x00 and nothing else"]


def marks(messages: list[dict[str, str]]) -> str:
    numbers = re.findall(r"^\[(\d+)\]$", messages[1]["content"], re.MULTILINE)
    return json.dumps({"marks": [{"text": int(number), "mark": 10 - int(number)} for number in numbers]})


class TestFake(RerankerContract):
    def make(self) -> Reranker:
        return WordsReranker()


class TestChat(RerankerContract):
    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with ChatServer(marks) as self.server:
            yield

    def make(self) -> Reranker:
        return ChatReranker(Chat("judge", self.server.url, ""))


class TestCrossEncoder(RerankerContract):
    @pytest.fixture(autouse=True)
    def _model(self, tmp_path) -> None:
        if not find_spec("sentence_transformers"):
            pytest.skip("a light installation: pip install 'paper-lineage[hub]'")
        self.folder = tiny_cross_encoder(tmp_path)

    def make(self) -> Reranker:
        return registry.load("rerankers", "cross-encoder")(str(self.folder), Settings())


def test_a_text_without_a_mark_is_last_and_marks_are_bounded():
    with ChatServer(lambda _: json.dumps({"marks": [{"text": 2, "mark": 99}]})) as server:
        assert ChatReranker(Chat("judge", server.url, "")).scores(QUESTION, TEXTS) == [0.0, 10.0, 0.0]


@pytest.mark.parametrize("said", ["", "[]", '{"marks": 3}', '{"marks": [{"text": 1}]}', "[" * 10_000])
def test_marks_that_are_none_are_a_typed_error(said):
    with ChatServer(lambda _: said) as server, pytest.raises(SourceError, match="marks"):
        ChatReranker(Chat("judge", server.url, "")).scores(QUESTION, TEXTS)


def test_a_reranker_that_is_not_set_up_says_what_to_set():
    with pytest.raises(SettingsError, match="which model"):
        registry.load("rerankers", "cross-encoder")("", Settings())
    with pytest.raises(SettingsError, match="chat model"):
        registry.load("rerankers", "llm")("", Settings(), None)
    with pytest.raises(SettingsError, match="no reranker is called"):
        registry.load("rerankers", "nothing")


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    if not find_spec("sentence_transformers"):
        pytest.skip("a light installation")
    with pytest.raises(SettingsError, match="cannot be loaded as a cross-encoder"):
        registry.load("rerankers", "cross-encoder")(str(tmp_path), Settings(offline=True)).scores(QUESTION, TEXTS)
