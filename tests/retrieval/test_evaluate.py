"""Recall and reciprocal rank, by hand."""

from __future__ import annotations

import pytest

from retrieval.evaluate import first_rank, scores


def test_the_first_right_hit_counts():
    assert first_rank([False, True, True]) == 2
    assert first_rank([False]) is None
    assert first_rank([]) is None


def test_recall_and_reciprocal_rank_of_four_questions():
    found = scores([1, 4, 12, None])
    assert found.recall == {1: 0.25, 5: 0.5, 10: 0.5, 20: 0.75}
    assert found.mrr == pytest.approx((1 + 0.25) / 4)
    assert str(found) == "R@1 0.250  R@5 0.500  R@10 0.500  R@20 0.750  MRR@10 0.312"


def test_no_questions_score_nothing():
    assert scores([]).recall[20] == 0.0
