"""A short run of the long one: every kind of file flipped, hostile inputs read."""

from __future__ import annotations

import random

from benchmarks.torture import KINDS, flips, inputs, truncations
from tests.demo import Demo


def test_a_flip_in_any_file_is_found(tmp_path, upstream):
    Demo(tmp_path, upstream.url).build(papers=0, repos=0)
    sums = flips(tmp_path, random.Random(3), 2 * len(KINDS))
    assert sums == {kind: {"flipped": 2, "found": 2} for kind in KINDS}


def test_hostile_archives_end_with_a_status_each():
    sums = inputs(random.Random(3), 60)
    assert (sums["inputs"], sums["exceptions"], sums["without a row"]) == (60, 0, 0)


def test_an_eprint_that_is_cut_short_is_never_plainly_ok():
    assert truncations(random.Random(3), 40) == {"cut": 40, "plainly ok": 0, "exceptions": 0}
