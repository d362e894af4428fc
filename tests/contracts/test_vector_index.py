"""Every vector index answers like exact search over the rows as they stand."""

from __future__ import annotations

import numpy as np
import pytest

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
