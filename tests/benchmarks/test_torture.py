"""A short run of the long one: every kind of file flipped, hostile inputs read."""

from __future__ import annotations

import random

from benchmarks.torture import KINDS, flips, inputs
from tests.demo import Demo


def test_a_flip_in_any_file_that_is_sealed_or_hashed_is_found(tmp_path, upstream):
    Demo(tmp_path, upstream.url).build(papers=0, repos=0)
    sums = flips(tmp_path, random.Random(3), 2 * len(KINDS))
    hashed = [kind for kind in KINDS if kind not in {"derived.db", "vectors.db"}]  # of a table that changes, unused space has no hash
    assert [(kind, sums[kind]) for kind in hashed] == [(kind, {"flipped": 2, "found": 2}) for kind in hashed]


def test_hostile_archives_end_with_a_status_each():
    sums = inputs(random.Random(3), 60)
    assert (sums["inputs"], sums["exceptions"], sums["without a row"]) == (60, 0, 0)
