"""When to say that nothing supports an answer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from retrieval.search.concepts import Concepts, Signs, likelihood, signs, supported

SEEN = Concepts(covered=1.0, common=2.0, spoken=1.0, named=0.9)
FLAT = [(row, 5.0 - 0.01 * row) for row in range(40)]
PEAK = [(0, 25.0), *FLAT[1:]]
NEAR = [(0, 0.9), *((row, 0.6 - 0.001 * row) for row in range(1, 40))]
FAR = [(row, 0.6 - 0.001 * row) for row in range(39, -1, -1)]


def test_signs_are_read_off_the_first_ten_of_both_lists():
    found = signs(3, PEAK, NEAR)
    assert found.gap == pytest.approx(25.0 - 4.91)
    assert found.terms == pytest.approx(math.log(4))
    assert (found.agreed, found.vectors) == (1.0, True)
    assert found.lift > 5


def test_lists_that_disagree_and_fewer_than_ten_hits():
    assert signs(3, FLAT, FAR).agreed == 0.0
    assert signs(3, [(1, 4.0)], None) == Signs(4.0, math.log(4))
    assert signs(1, [], None) == Signs(0.0, math.log(2))


def test_what_stands_out_in_both_lists_supports_an_answer_and_what_stands_out_in_none_does_not():
    assert supported(signs(6, PEAK, NEAR, SEEN))
    assert not supported(signs(12, FLAT, FAR))


def test_words_that_no_one_passage_holds_or_an_area_that_the_lineage_lacks_support_none():
    assert not supported(signs(6, PEAK, NEAR, replace(SEEN, covered=0.1, absent=0.6, named=0.0)))
    assert not supported(signs(6, PEAK, NEAR, replace(SEEN, outside=1.6)), "somebody/else@1")
    near = [(row, 0.4 if row else 0.45) for row in range(40)]
    assert not supported(signs(6, PEAK, near, replace(SEEN, outside=1.6)), "granite-30m-lineage-int8@1")


def test_without_vectors_words_alone_decide():
    assert supported(signs(6, PEAK, None, SEEN))
    assert not supported(signs(6, [], None))


def test_the_likelihood_is_the_logistic_curve_over_the_signs():
    assert likelihood(Signs(2.0, 0.0), {"bias": -1.0, "gap": 0.5}) == 0.5
    assert likelihood(Signs(1e9, 0.0), {"bias": 0.0, "gap": 1.0}) == pytest.approx(1.0)


def test_a_nearest_chunk_below_the_floor_of_a_known_model_is_a_miss():
    near = signs(6, PEAK, [(row, score - 0.7) for row, score in NEAR], SEEN)
    assert not supported(near, "granite-30m-lineage-int8@1")
    assert supported(near, "somebody/else@1")


def test_similarity_counts_only_for_models_whose_scale_is_known(monkeypatch: pytest.MonkeyPatch):
    even = {"weights": {"bias": 0.0}, "threshold": 0.5}
    known = {"weights": {"bias": -7.0, "near": 10.0}, "threshold": 0.5}
    monkeypatch.setattr("retrieval.search.concepts.packaged", lambda *_: {"vectors": even, "words": even, "models": {"known": known}, "floors": {}})
    found = Signs(5.0, 1.0, lift=3.0, agreed=0.5, vectors=True, near=0.6)
    assert not supported(found, "known@1")
    assert supported(replace(found, near=0.8), "known@1")
    assert supported(found, "other@1")
