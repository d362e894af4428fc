"""The few lines that answer."""

from __future__ import annotations

import pytest

from lineage.model import Focus
from lineage.tokens import stem
from retrieval.focus import MOST, described, focus, rarity
from tests.fakes.small_lineage import ADAPT, INIT

WORTH = {"trunc": 4.0, "normal": 3.0, "bias": 2.0, "weight": 1.0, "zero": 2.0, "entropy": 4.0, stem("softmax"): 3.0}


def test_the_line_with_the_rarest_words_of_the_question_is_it():
    assert focus(INIT, 9, WORTH) == Focus(11, 11)
    assert focus(ADAPT, 40, WORTH) == Focus(41, 41)


def test_neighbours_speak_for_a_line():
    assert focus("lone = trunc\n\n\n\n\n\nbias = 0\nzero = trunc\nbias = 1", 1, WORTH) == Focus(8, 8)


def test_equally_good_neighbours_join():
    assert focus("a = 1\nzero = bias\nbias = zero\nb = 2", 1, WORTH) == Focus(2, 3)


def test_a_signature_counts_only_where_nothing_else_does():
    assert focus("def entropy(x):\n    y = x\n    return zero", 1, WORTH) == Focus(3, 3)
    assert focus("def entropy(x):\n    return x", 1, WORTH) == Focus(1, 1)


def test_a_docstring_counts_only_where_nothing_else_does():
    assert focus('def f(x):\n    """The entropy, trunc.\n\n    Normal.\n    """\n    return zero', 1, WORTH) == Focus(6, 6)
    assert focus("/** entropy\n * trunc */\nreturn zero", 1, WORTH) == Focus(3, 3)
    assert focus('def f(x):\n    """The entropy."""\n    return x', 1, WORTH) == Focus(2, 2)


def test_what_looks_like_the_beginning_of_a_docstring_may_be_its_end():
    assert described(["of the rest.", '"""', "x = 1"]) == [False, False, False]
    assert described(['r"""One."""', "x = 1", "'''", "two", "'''", "y"]) == [True, False, True, True, True, False]
    assert described([]) == []


def test_the_heads_and_the_caption_of_a_table_count_only_where_no_row_does():
    table = "Fold | Entropy | Bias\nTrain | 1 | 2\nZero | 3 | 4\n\nTable 2: Entropy, trunc, normal."
    assert focus(table, 70, WORTH) == Focus(72, 72)
    assert focus(table, 70, {"fold": 1.0}) == Focus(70, 70)
    assert focus("a: int | str = zero\nentropy()\nb = 1", 1, WORTH) == Focus(2, 2)


def test_there_is_no_focus_without_a_word_of_the_question():
    assert focus(INIT, 9, {"dropout": 3.0}) is None
    assert focus("", 9, WORTH) is None


def test_a_focus_has_at_most_fifteen_lines():
    found = focus("\n".join(["entropy"] * 60), 1, WORTH)
    assert found.end_line - found.start_line + 1 == MOST


def test_blank_lines_at_the_borders_stay_out():
    assert focus("\n\nentropy\n\n", 5, WORTH) == Focus(7, 7)


def test_rare_terms_weigh_more_and_none_weighs_less_than_nothing():
    found = rarity({"entropy": 1, "self": 90, "all": 100}, 100)
    assert found["entropy"] > found["self"] > found["all"] > 0
    assert found["entropy"] == pytest.approx(4.2097, abs=1e-3)
