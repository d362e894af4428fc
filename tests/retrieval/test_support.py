"""When to say that nothing supports an answer."""

from __future__ import annotations

from retrieval.support import support


def test_what_lies_far_from_the_question_is_called_a_miss():
    assert support("granite-30m-int8@1", [0.4, 0.512]) == (
        "nothing in this lineage supports an answer well: these are the nearest misses (similarity 0.51, floor 0.60)",
    )


def test_one_near_chunk_is_support():
    assert support("granite-30m-int8@1", [0.5, 0.6]) == ()


def test_nothing_is_said_of_a_model_whose_scale_is_unknown_or_without_vectors():
    assert support("other@1", [0.1]) == ()
    assert support("granite-30m-int8@1", []) == ()
