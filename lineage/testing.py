"""Contract tests for plugins, for other packages to import: subclass one in a test module, and pytest collects it.

    class TestMine(EmbedderContract):
        def make(self) -> Embedder:
            return MyEmbedder()

Each class says what Lineage relies on. Nothing here needs pytest; a broken promise is an `AssertionError`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lineage.errors import EmbedderMismatch, ParseError, SourceError
from lineage.ports import Embedder, ReferenceSource, Reranker, VectorIndex, Vectors
from lineage.records import Document, ReferenceList, Work, WorkId

TEXTS = (
    "how are the weights of the encoder initialized?",
    "def init_weights(module):\n    nn.init.trunc_normal_(module.weight, std=0.02)",
    "lr = 1e-4",
    "Le taux d'apprentissage est réduit d'un facteur 10. 学習率",
    "def save_json(path, value):\n    with open(path, 'w') as file:\n        json.dump(value, file)",
)
HOSTILE_TEXTS = ("", " ", "\n\n\t", "\x00\x01\x1b[31m\x7f\u202e", "\ud800 lone surrogate", "🧪" * 50, "word " * 20_000, "x" * 100_000, " " * 100_000)
UNEXPECTED_ANSWERS = (b"", b"{}", b"[]", b"null", b"<html>login</html>", b'{"data": null}', b"[" * 50_000, b"\xff\xfe")
HOSTILE_BYTES = (b"", b"\x00" * 100, bytes(range(256)) * 8, b"(" * 20_000, b"\xff\xfe" + b"a\x00" * 50, "\u2028\x85é".encode() * 300)


class EmbedderContract(ABC):
    """Unit rows, one a text, in order, the same every time."""

    @abstractmethod
    def make(self) -> Embedder:
        """The embedder; called once for each test."""

    def test_the_id_names_a_model_and_its_revision(self) -> None:
        """Vectors of different ids are never mixed, so an id without a revision would mix them."""
        name = self.make().id
        assert "@" in name
        assert name == name.strip()

    def test_vectors_are_unit_rows_of_float32_one_per_text(self) -> None:
        """Both for passages and for queries; no texts give no rows of the right width."""
        embedder = self.make()
        for embed in (embedder.passages, embedder.queries):
            _assert_unit(embed(TEXTS), len(TEXTS), embedder.dim)
            assert embed([]).shape == (0, embedder.dim)

    def test_a_batch_gives_what_its_texts_give_one_by_one(self) -> None:
        """In any order and company; the same texts give the very same vectors."""
        embedder = self.make()
        together = embedder.passages(TEXTS)
        np.testing.assert_allclose(together, np.concatenate([embedder.passages([text]) for text in TEXTS]), atol=5e-3)
        np.testing.assert_allclose(embedder.passages(TEXTS[::-1])[::-1], together, atol=5e-3)
        np.testing.assert_array_equal(embedder.passages(TEXTS), together)

    def test_any_text_gives_a_unit_vector(self) -> None:
        """Empty, hostile and very long ones too."""
        embedder = self.make()
        for text in HOSTILE_TEXTS:
            _assert_unit(embedder.passages([text, "lr = 1e-4"]), 2, embedder.dim)
            _assert_unit(embedder.queries([text]), 1, embedder.dim)


class VectorIndexContract(ABC):
    """The answers of exact search over the rows as they stand."""

    @abstractmethod
    def make(self, vectors: Vectors) -> VectorIndex:
        """The index over unit rows."""

    def test_the_nearest_rows_come_first_with_their_inner_products(self) -> None:
        """As numpy computes them."""
        vectors, queries = unit_rows(300), unit_rows(5, seed=4)
        rows, scores = self.make(vectors).search(queries, 10)
        exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
        assert rows.dtype == np.int64
        assert scores.dtype == np.float32
        assert np.array_equal(rows, exact)
        assert np.allclose(scores, np.take_along_axis(queries @ vectors.T, exact, axis=1), atol=1e-5)

    def test_only_allowed_rows_are_returned(self) -> None:
        """Places without a row hold -1 and minus infinity."""
        vectors = unit_rows(50)
        rows, scores = self.make(vectors).search(vectors[:1], 4, np.array([3, 7, 30], np.int64))
        assert set(rows[0][:3]) == {3, 7, 30}
        assert rows[0][3] == -1
        assert scores[0][3] == -np.inf
        assert list(self.make(unit_rows(2)).search(unit_rows(1), 5)[0][0][2:]) == [-1, -1, -1]

    def test_empty_scopes_indexes_and_questions_have_no_answers(self) -> None:
        """And raise nothing."""
        assert (self.make(unit_rows(5)).search(unit_rows(1), 3, np.array([], np.int64))[0] == -1).all()
        assert (self.make(np.zeros((0, 16), np.float32)).search(unit_rows(1), 3)[0] == -1).all()
        assert self.make(unit_rows(5)).search(np.zeros((0, 16), np.float32), 3)[0].shape == (0, 3)

    def test_vectors_of_another_kind_are_refused(self) -> None:
        """Another dimension, another type, and numbers that are not finite, stored or asked."""
        _assert_raises(EmbedderMismatch, lambda: self.make(unit_rows(5)).search(unit_rows(1, dim=8), 3))
        broken = unit_rows(3)
        broken[1, 2] = np.nan
        _assert_raises(ValueError, lambda: self.make(broken))
        _assert_raises(ValueError, lambda: self.make(unit_rows(5)).search(broken, 3))
        _assert_raises(ValueError, lambda: self.make(np.zeros((3, 4))))  # type: ignore[arg-type]


class RerankerContract(ABC):
    """One finite score a text, the same every time."""

    @abstractmethod
    def make(self) -> Reranker:
        """The reranker."""

    def test_every_text_has_one_finite_score(self) -> None:
        """The same question gets the same scores; no texts have none."""
        reranker = self.make()
        scores = list(reranker.scores(TEXTS[0], TEXTS[1:]))
        assert len(scores) == len(TEXTS) - 1
        assert all(map(math.isfinite, scores))
        np.testing.assert_allclose(list(reranker.scores(TEXTS[0], TEXTS[1:])), scores)
        assert not list(reranker.scores(TEXTS[0], []))

    def test_the_id_names_the_model(self) -> None:
        """Hits show it among their signals."""
        assert self.make().id.strip()


class ParserContract(ABC):
    """Bytes to a `Document`: spans inside the text, in order; garbage gives `ParseError`, never another error."""

    @abstractmethod
    def module(self) -> Any:
        """The parser's module: `parse`, `SUFFIXES` and `VERSION`."""

    @abstractmethod
    def samples(self) -> Mapping[str, bytes]:
        """Files that it reads, by path; the first has at least two spans."""

    def parse(self, path: str, data: bytes) -> Document:
        """One file through the parser."""
        document: Document = self.module().parse(path, data, WorkId("repo:github.com/owner/name"), "0" * 64)
        return document

    def test_the_module_says_what_it_reads(self) -> None:
        """`SUFFIXES` begin with a dot, and `VERSION` is what its documents carry."""
        module = self.module()
        assert module.SUFFIXES
        assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in module.SUFFIXES)
        assert all(self.parse(path, data).parser == module.VERSION for path, data in self.samples().items())

    def test_spans_lie_in_the_text_in_order(self) -> None:
        """Ordered by (start, -end); the same bytes give the same document."""
        for path, data in self.samples().items():
            document = self.parse(path, data)
            assert document.spans
            assert_spans(document)
            assert self.parse(path, data) == document

    def test_garbage_is_a_parse_error_or_a_document(self) -> None:
        """Whatever the bytes, and every sample cut in half."""
        for path, sample in self.samples().items():
            for data in (*HOSTILE_BYTES, sample[: len(sample) // 2], sample[len(sample) // 2 :]):
                try:
                    assert_spans(self.parse(path, data))
                except ParseError:
                    continue


class SourceContract(ABC):
    """A service that lists references; only `SourceError` escapes."""

    @abstractmethod
    def make(self, answer: bytes) -> ReferenceSource:
        """The source over a transport that answers every request with these bytes."""

    @abstractmethod
    def recordings(self) -> Mapping[str, tuple[Work, bytes, int]]:
        """Answers as the service gave them: (the work asked for, the bytes, how many references they hold), by name."""

    def test_every_listed_reference_is_returned(self) -> None:
        """With the source's name, and one key each."""
        for name, (work, answer, expected) in self.recordings().items():
            source = self.make(answer)
            listed = source.references(work)
            assert (listed.source, len(listed.entries)) == (source.name, expected), name
            keys = [reference.entry.key for reference in listed.entries]
            assert len(set(keys)) == len(keys)

    def test_only_source_errors_escape(self) -> None:
        """Whatever the service sends instead of its answer."""
        for work, answer, _ in self.recordings().values():
            for data in (*UNEXPECTED_ANSWERS, answer[: len(answer) // 2]):
                try:
                    assert isinstance(self.make(data).references(work), ReferenceList)
                except SourceError:
                    continue


def assert_spans(document: Document) -> None:
    """Raise `AssertionError` unless spans lie inside the text, ordered by (start, -end)."""
    places = [(span.start, -span.end) for span in document.spans]
    assert places == sorted(places)
    assert all(0 <= span.start <= span.end <= len(document.text) for span in document.spans)


def unit_rows(rows: int, dim: int = 16, seed: int = 3) -> Vectors:
    """Random unit vectors (rows, dim), float32."""
    drawn = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


def _assert_unit(vectors: Vectors, rows: int, dim: int) -> None:
    assert vectors.shape == (rows, dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def _assert_raises(error: type[Exception], call: Callable[[], object]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"{error.__name__} was expected")
