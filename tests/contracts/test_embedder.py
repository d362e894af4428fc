"""Every embedder keeps its contract: the packaged one, its alternatives, and the fake that other tests use."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from indexer.embedders.openai import OpenAIEmbedder
from indexer.embedders.packaged import Packaged
from indexer.embedders.static import Static
from lineage.ports import Embedder
from lineage.testing import EmbedderContract
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.embeddings_server import EmbeddingsServer
from tests.fakes.tiny_model import tiny_model

_PACKAGED = Packaged(threads=1)


class TestFake(EmbedderContract):
    def make(self) -> Embedder:
        return HashingEmbedder()


class TestPackaged(EmbedderContract):
    def make(self) -> Embedder:
        return _PACKAGED


class TestStatic(EmbedderContract):
    def make(self) -> Embedder:
        return Static()


class TestOpenAI(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with EmbeddingsServer() as self.server:
            yield

    def make(self) -> Embedder:
        return OpenAIEmbedder(self.server.url, "any-model")


class TestSentenceTransformers(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _model(self, tmp_path) -> None:
        from indexer.embedders.sentence_transformers import NEEDED

        if not all(map(find_spec, NEEDED)):
            pytest.skip("a light installation: pip install 'paper-lineage[hub]'")
        self.folder = tiny_model(tmp_path)

    def make(self) -> Embedder:
        from indexer.embedders.sentence_transformers import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(str(self.folder), threads=1)
