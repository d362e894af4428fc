"""What a budget buys: cover first, no word twice, never over."""

from __future__ import annotations

from lineage.model import Hit, Work
from retrieval.pack.choose import Value, choose
from retrieval.pack.units import Unit
from tests.fakes import small_lineage as small

HIT = Hit(1, 0.5, small.chunk(small.REPO, "a.py", "x"), Work(small.REPO, "code"))


def unit(name, cost, relevance, said=(), kind="stated"):
    return Unit(HIT, kind, name, relevance, frozenset(said), cost)


def names(taken):
    return [one.text for one in taken]


def value(*worth, rare=None):
    return Value(worth or (1.0, 1.0), rare or {})


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
