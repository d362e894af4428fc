"""One contract over every embedder: the packaged one, its alternatives, and the fake that other tests use."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from indexer.embedders.openai import OpenAIEmbedder
from indexer.embedders.packaged import Packaged
from indexer.embedders.static import Static
from lineage.ports import Embedder
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.embeddings_server import EmbeddingsServer
from tests.fakes.tiny_model import tiny_model

TEXTS = [
    "how are the weights of the encoder initialised?",
    "def init_weights(module):\n    nn.init.trunc_normal_(module.weight, std=0.02)",
    "lr = 1e-4",
    "Le taux d'apprentissage est réduit d'un facteur 10. 学習率",
    "def save_json(path, value):\n    with open(path, 'w') as file:\n        json.dump(value, file)",
]


@pytest.fixture(scope="module", params=["fake", "packaged", "static", "openai", "sentence_transformers"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    if request.param == "fake":
        yield HashingEmbedder()
    elif request.param == "packaged":
        yield Packaged(threads=1)
    elif request.param == "static":
        yield Static()
    elif request.param == "openai":
        with EmbeddingsServer() as server:
            yield OpenAIEmbedder(server.url, "any-model")
    else:
        from indexer.embedders.sentence_transformers import NEEDED, SentenceTransformerEmbedder

        if not all(map(find_spec, NEEDED)):
            pytest.skip("a light installation: pip install 'paper-lineage[hub]'")
        yield SentenceTransformerEmbedder(str(tiny_model(Path(tmp_path_factory.mktemp("model")))), threads=1)


def test_the_id_names_a_model_and_its_revision(embedder: Embedder):
    assert "@" in embedder.id
    assert embedder.id == embedder.id.strip()


@pytest.mark.parametrize("method", ["passages", "queries"])
def test_vectors_are_float32_unit_rows_one_per_text(embedder: Embedder, method: str):
    vectors = getattr(embedder, method)(TEXTS)
    assert vectors.shape == (5, embedder.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


@pytest.mark.parametrize("method", ["passages", "queries"])
def test_no_texts_give_no_rows_of_the_right_width(embedder: Embedder, method: str):
    assert getattr(embedder, method)([]).shape == (0, embedder.dim)


def test_a_batch_gives_what_its_texts_give_one_by_one(embedder: Embedder):
    together = embedder.passages(TEXTS)
    alone = np.concatenate([embedder.passages([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=5e-3)


def test_the_order_of_texts_is_the_order_of_rows(embedder: Embedder):
    np.testing.assert_allclose(embedder.passages(TEXTS[::-1])[::-1], embedder.passages(TEXTS), atol=5e-3)


def test_the_same_texts_give_the_same_vectors(embedder: Embedder):
    np.testing.assert_array_equal(embedder.passages(TEXTS), embedder.passages(TEXTS))


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n\t", "\x00\x01\x1b[31m\x7f\u202e", "\ud800 lone surrogate", "🧪" * 50, "word " * 20_000, "x" * 100_000, " " * 100_000],
    ids=["empty", "blank", "newlines", "control", "surrogate", "emoji", "100kB-words", "100kB-one-word", "100kB-blanks"],
)
def test_any_text_gives_a_unit_vector(embedder: Embedder, text: str):
    vectors = embedder.passages([text, "lr = 1e-4"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(embedder.queries([text])[0] @ embedder.queries([text])[0], 1, atol=1e-3)
