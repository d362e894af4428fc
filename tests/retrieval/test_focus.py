"""The few lines that answer."""

from __future__ import annotations

import pytest

from lineage.model import Focus
from lineage.tokens import stem
from retrieval.focus import MOST, focus, rarity
from tests.fakes.small_lineage import ADAPT, INIT

WORTH = {"trunc": 4.0, "normal": 3.0, "bia": 2.0, "bias": 2.0, "weight": 1.0, "zero": 2.0, "entropy": 4.0, stem("softmax"): 3.0}


def test_the_line_with_the_rarest_words_of_the_question_is_it():
    assert focus("truncated normal: trunc_normal_?", INIT, 9, WORTH) == Focus(11, 11)
    assert focus("entropy of the softmax", ADAPT, 40, WORTH) == Focus(41, 41)


def test_neighbouring_lines_join_when_both_answer():
    assert focus("trunc_normal of the weight, zero bias", INIT, 9, WORTH) == Focus(11, 12)


def test_there_is_no_focus_without_a_word_of_the_question():
    assert focus("dropout rate", INIT, 9, WORTH) is None
    assert focus("dropout rate", INIT, 9, {"dropout": 3.0}) is None
    assert focus("", INIT, 9, {}) is None


def test_a_focus_has_at_most_fifteen_lines():
    words = [f"rare{chr(97 + n)}" for n in range(26)]
    found = focus(" ".join(words), "\n".join(words), 1, dict.fromkeys(words, 5.0))
    assert found.end_line - found.start_line + 1 == MOST


def test_blank_lines_at_the_borders_stay_out():
    assert focus("entropy", "\n\nentropy\n\n", 5, WORTH) == Focus(7, 7)


def test_rare_terms_weigh_more_and_none_weighs_less_than_nothing():
    found = rarity({"entropy": 1, "self": 90, "all": 100}, 100)
    assert found["entropy"] > found["self"] > found["all"] > 0
    assert found["entropy"] == pytest.approx(4.2097, abs=1e-3)
