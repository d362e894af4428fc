"""One contract over every reranker: a cross-encoder of random weights, and the fake of other tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from lineage import registry
from lineage.errors import SettingsError
from lineage.ports import Reranker
from lineage.settings import Settings
from lineage.testing import RerankerContract
from tests.fakes.reranker import WordsReranker
from tests.fakes.tiny_model import tiny_cross_encoder

QUESTION = "how are the weights initialised?"
TEXTS = ["def init_weights(module): trunc_normal_(module.weight)", "lr = 1e-4"]


class TestFake(RerankerContract):
    def make(self) -> Reranker:
        return WordsReranker()


class TestCrossEncoder(RerankerContract):
    @pytest.fixture(autouse=True)
    def _model(self, tmp_path) -> None:
        if not find_spec("sentence_transformers"):
            pytest.skip("a light installation: pip install 'paper-lineage[hub]'")
        self.folder = tiny_cross_encoder(tmp_path)

    def make(self) -> Reranker:
        return registry.load("rerankers", "cross-encoder")(str(self.folder), Settings())


def test_a_reranker_that_is_not_set_up_says_what_to_set():
    with pytest.raises(SettingsError, match="which model"):
        registry.load("rerankers", "cross-encoder")("", Settings())
    with pytest.raises(SettingsError, match="no reranker is called"):
        registry.load("rerankers", "nothing")


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    if not find_spec("sentence_transformers"):
        pytest.skip("a light installation")
    with pytest.raises(SettingsError, match="cannot be loaded as a cross-encoder"):
        registry.load("rerankers", "cross-encoder")(str(tmp_path), Settings(offline=True)).scores(QUESTION, TEXTS)
