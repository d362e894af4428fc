"""What a budget buys: cover first, no word twice, never over."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Hit, Work
from retrieval.context.required_context import SAYS, TELLING, UnitValue, choose
from retrieval.context.units import PackUnit
from tests.fakes import small_lineage as small

HIT = Hit(1, 0.5, small.chunk(small.REPO, "a.py", "x"), Work(small.REPO, "code"))


def unit(name, cost, relevance, said=(), kind="stated"):
    return PackUnit(HIT, kind, name, relevance, frozenset(said), cost)


def names(taken):
    return [one.text for one in taken]


def value(*worth, rare=None):
    return UnitValue(worth or (1.0, 1.0), rare or {})


def test_the_second_question_is_answered_before_the_first_is_answered_again():
    units = [unit("a", 10, {0: 0.9}), unit("a again", 10, {0: 0.8}), unit("b", 10, {1: 0.5})]
    assert names(choose(units, value(), 20, {}, {})) == ["a", "b"]


def test_what_says_new_words_is_taken_before_what_repeats_them():
    units = [unit("first", 10, {0: 0.9}, ["adam"]), unit("same", 10, {0: 0.9}, ["adam"]), unit("other", 10, {0: 0.9}, ["warmup"])]
    assert names(choose(units, value(1.0, rare={"adam": 5.0, "warmup": 4.0}), 20, {}, {})) == ["first", "other"]


def test_the_budget_and_the_cap_of_a_kind_hold():
    units = [unit("long", 101, {0: 1.0}), *(unit(f"code {n}", 30, {0: 0.9}, kind="imitate") for n in range(3)), unit("said", 30, {0: 0.1})]
    taken = choose(units, value(1.0), 100, {"imitate": 40}, {})
    assert names(taken) == ["code 0", "said"]
    assert sum(one.cost for one in taken) <= 100


def test_a_kind_that_a_stage_favours_comes_first():
    units = [unit("said", 10, {0: 0.5}), unit("code", 10, {0: 0.3}, kind="imitate")]
    assert names(choose(units, value(1.0), 10, {}, {"imitate": 3.0})) == ["code"]


def test_what_is_good_for_nothing_is_not_taken_though_there_is_room():
    assert choose([unit("nothing", 10, {}), unit("no", 10, {0: 0.0})], value(1.0), 100, {}, {}) == []


UNITS = st.lists(
    st.tuples(
        st.integers(1, 60),
        st.dictionaries(st.integers(0, 1), st.floats(0, 1, width=16), max_size=2),
        st.sets(st.sampled_from(["adam", "loss", "the"])),
    ),
    max_size=10,
).map(lambda rows: [unit(str(n), *row, kind="imitate" if n % 2 else "stated") for n, row in enumerate(rows)])


@given(UNITS, st.integers(0, 150), st.integers(0, 80))
@settings(max_examples=25, deadline=None)
def test_whatever_there_is_to_choose_from_nothing_is_over_or_chosen_twice_or_left_though_it_fits(units, budget, cap):
    taken = choose(units, value(0.7, 0.3, rare={"adam": 3.0, "loss": 2.0}), budget, {"imitate": cap}, {})
    assert len({id(one) for one in taken}) == len(taken)
    assert sum(one.cost for one in taken) <= budget
    assert sum(one.cost for one in taken if one.kind == "imitate") <= cap
    rest, after = budget - sum(one.cost for one in taken), value(0.7, 0.3, rare={"adam": 3.0, "loss": 2.0})
    for one in taken:
        after.add(one)
    assert all(after.gain(one) <= 1e-9 for one in units if one not in taken and one.kind == "stated" and one.cost <= rest)


@given(UNITS)
@settings(max_examples=25, deadline=None)
def test_what_a_unit_adds_never_grows_by_what_was_taken_before(units):
    growing = value(0.7, 0.3, rare={"adam": 3.0, "loss": 2.0})
    for one in units:
        before = [growing.gain(other) for other in units]
        growing.add(one)
        assert all(growing.gain(other) <= was + 1e-9 for other, was in zip(units, before, strict=True))


def test_the_gain_is_the_chance_of_an_answer_and_the_rarest_words():
    assert value(3.0, 1.0).gain(unit("a", 1, {0: 0.5, 1: 1.0})) == 0.625
    assert value(1.0, rare={"adam": 5.0}).gain(unit("a", 1, {0: 0.5}, ["adam", "the"])) == 0.5 + SAYS * 2.5
    half = value(1.0, rare={"adam": 5.0})
    half.add(unit("a", 1, {0: 0.5}, ["adam"]))
    assert half.gain(unit("b", 1, {0: 0.8}, ["adam"])) == pytest.approx(0.4 + SAYS * 5.0 * 0.3)
    assert half.gain(unit("c", 1, {0: 0.2}, ["adam"])) == pytest.approx(0.1)


def test_of_many_words_only_the_rarest_forty_count():
    rare = {f"w{n:02}": float(n) for n in range(1, 60)}
    assert value(1.0, rare=rare).gain(unit("a", 1, {0: 1.0}, list(rare))) == pytest.approx(1.0 + SAYS * sum(range(60 - TELLING, 60)))


def test_a_short_answer_is_taken_before_a_long_one_that_is_little_better():
    units = [unit("long", 90, {0: 0.9}), unit("short", 10, {0: 0.8})]
    assert names(choose(units, value(1.0), 90, {}, {})) == ["short"]
    assert names(choose([unit("long", 90, {0: 0.9}), unit("scrap", 10, {0: 0.2})], value(1.0), 90, {}, {})) == ["long"]


def test_a_unit_that_fits_exactly_is_taken():
    assert names(choose([unit("a", 10, {0: 0.9})], value(1.0), 10, {"stated": 10}, {})) == ["a"]
    assert choose([unit("a", 11, {0: 0.9})], value(1.0), 10, {}, {}) == []
    assert choose([unit("a", 10, {0: 0.9})], value(1.0), 10, {"stated": 9}, {}) == []
