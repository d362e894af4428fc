"""Every vector index answers like exact search over the rows as they stand."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.vectors.faiss import Faiss
from lineage import registry
from lineage.testing import VectorIndexContract, unit_rows


class TestFlat(VectorIndexContract):
    def make(self, vectors):
        return registry.load("vectors", "flat")(vectors)


class TestFaiss(VectorIndexContract):
    def make(self, vectors):
        return registry.load("vectors", "faiss")(vectors)


@pytest.mark.parametrize("name", ["faiss", "flat"])
def test_mapped_vectors_work_like_those_in_memory(name, tmp_path):
    create = registry.load("vectors", name)
    np.save(tmp_path / "v.npy", unit_rows(20))
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert np.array_equal(create(mapped).search(unit_rows(2), 5)[0], create(unit_rows(20)).search(unit_rows(2), 5)[0])


def test_the_first_questions_are_answered_as_by_the_index_of_bytes():
    vectors = unit_rows(400, 32)
    vectors[7] = vectors[300]
    index, allowed = Faiss(vectors, 1.0, many=10), np.arange(1, 400, 3)
    answers = []
    for _ in range(2):
        answers.append([index.search(row[None], 5, only) for row in vectors[300:304] for only in (None, allowed)])
        assert index._index.ntotal == 400
    for (rows, scores), (again, scored) in zip(*answers, strict=True):
        assert np.array_equal(rows, again)
        assert np.array_equal(scores, scored)
    assert answers[0][0][0][0, :2].tolist() == [7, 300]
