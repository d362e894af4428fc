"""Every vector index answers like exact search over the rows as they stand."""

from __future__ import annotations

import numpy as np
import pytest

from lineage import registry
from lineage.errors import EmbedderMismatch

NAMES = ("flat", "faiss")


def unit(rows: int, dim: int = 16, seed: int = 3) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture(params=NAMES)
def create(request):
    return registry.load("vectors", request.param)


def test_the_nearest_rows_come_first_with_their_inner_products(create):
    vectors, queries = unit(300), unit(5, seed=4)
    rows, scores = create(vectors).search(queries, 10)
    wanted = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    assert rows.dtype == np.int64
    assert scores.dtype == np.float32
    assert np.array_equal(rows, wanted)
    assert np.allclose(scores, np.take_along_axis(queries @ vectors.T, wanted, axis=1), atol=1e-5)


def test_only_allowed_rows_are_found(create):
    vectors = unit(50)
    rows, scores = create(vectors).search(vectors[:1], 4, np.array([3, 7, 30], np.int64))
    assert set(rows[0][:3]) == {3, 7, 30}
    assert rows[0][3] == -1
    assert scores[0][3] == -np.inf


def test_places_without_a_row_hold_minus_one(create):
    rows, scores = create(unit(2)).search(unit(1), 5)
    assert list(rows[0][2:]) == [-1, -1, -1]
    assert np.isneginf(scores[0][2:]).all()


def test_an_empty_scope_and_an_empty_index_find_nothing(create):
    assert (create(unit(5)).search(unit(1), 3, np.array([], np.int64))[0] == -1).all()
    assert (create(np.zeros((0, 16), np.float32)).search(unit(1), 3)[0] == -1).all()


def test_no_questions_give_no_answers(create):
    assert create(unit(5)).search(np.zeros((0, 16), np.float32), 3)[0].shape == (0, 3)


def test_a_question_of_another_dimension_is_refused(create):
    with pytest.raises(EmbedderMismatch, match="dimension 16"):
        create(unit(5)).search(unit(1, dim=8), 3)


def test_numbers_that_are_none_are_refused(create):
    bad = unit(3)
    bad[1, 2] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        create(bad)
    with pytest.raises(ValueError, match="not finite"):
        create(unit(5)).search(bad, 3)


def test_other_types_are_refused(create):
    with pytest.raises(ValueError, match="float32"):
        create(np.zeros((3, 4)))


def test_mapped_vectors_work_like_those_in_memory(create, tmp_path):
    np.save(tmp_path / "v.npy", unit(20))
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert np.array_equal(create(mapped).search(unit(2), 5)[0], create(unit(20)).search(unit(2), 5)[0])
