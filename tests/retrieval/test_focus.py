"""The few lines that answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Focus
from lineage.text.tokens import stem
from retrieval.search.focus import MOST, described, focus, grown, naming, rarity, trimmed
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


@pytest.mark.parametrize(
    ("lines", "border"),
    [
        (["", " ", "a", "b", "\t", ""], (2, 3)),
        (["a"], (0, 0)),
        ([""], (0, 0)),
        (["", "", ""], (2, 2)),
        (["", "a"], (1, 1)),
        (["a", ""], (0, 0)),
        (["a", "", "b"], (0, 2)),
    ],
)
def test_borders_move_past_blank_lines_and_never_past_each_other(lines, border):
    assert trimmed(lines, 0, len(lines) - 1) == border


@pytest.mark.parametrize(
    ("values", "run"),
    [
        ([1.0], (0, 0)),
        ([0.9, 1.0, 0.96, 0.95, 0.94], (1, 3)),
        ([0.95, 1.0, 0.94], (0, 1)),
        ([1.0, 1.0, 1.0], (0, 2)),
        ([0.96, 1.0, 0.97, 0.5, 1.0], (0, 2)),
        ([0.0, 0.0], (0, 1)),
    ],
)
def test_a_run_grows_while_the_next_line_is_nearly_as_good(values, run):
    assert grown(values, 0.95) == run


def test_of_two_equal_neighbours_the_one_above_joins_first():
    values = [0.99] * 20
    values[10] = 1.0
    assert grown(values, 0.95) == (0, 14)
    values[9] = 0.98
    assert grown(values, 0.95) == (5, 19)


@given(st.lists(st.floats(0, 9, width=16), min_size=1, max_size=50), st.floats(0.5, 1))
@settings(max_examples=25, deadline=None)
def test_a_run_holds_the_best_line_and_none_that_is_much_worse(values, nearly):
    start, end = grown(values, nearly)
    assert 0 <= start <= end < len(values)
    assert end - start < MOST
    best = max(values)
    assert best in values[start : end + 1]
    assert all(value >= nearly * best for value in values[start : end + 1])


@given(
    st.lists(st.sampled_from(["entropy", "trunc bias", "", "    x = 1", '"""', "def f():", "a | b", "/*", "*/"]), max_size=30), st.integers(1, 500)
)
@settings(max_examples=25, deadline=None)
def test_a_focus_lies_inside_of_its_text_and_never_begins_or_ends_with_nothing(lines, first):
    found = focus("\n".join(lines), first, WORTH)
    assert (found is None) == (not any("entropy" in line or "trunc" in line for line in lines))
    if found:
        assert first <= found.start_line <= found.end_line < first + len(lines)
        assert lines[found.start_line - first].strip()
        assert lines[found.end_line - first].strip()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("    def f(self):\n        x = 1", [True, False]),
        ("@torch.no_grad()\nasync def f():\nclass A:\nfunction g()\ntemplate <T>", [True] * 5),
        ("a | b\nc | d\nx", [False, False, False]),
        ("a | b\nc | d\ne | f", [True, False, False]),
        ("a | b\nc | d\ne | f\nx\ny\nz", [True, False, False, True, True, True]),
        ("a | b\nc | d\ne | f\nx\ny\nz\nw", [False] * 7),
        ("a | b\n\nc | d\n\ne | f\n\nx\n\ny\n\nz", [True, True, False, True, False, True, True, True, True, True, True]),
    ],
)
def test_what_names_the_whole_is_told_from_what_fills_it(text, told):
    assert naming(text.split("\n")) == told


def test_rarity_falls_with_frequency_and_is_never_below_nothing():
    found = [rarity({"x": count}, 50)["x"] for count in range(51)]
    assert found == sorted(found, reverse=True)
    assert min(found) > 0
    assert rarity({}, 0) == {}
