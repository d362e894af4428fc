"""Passages of a paper that was found more than once are likelier to answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Chunk, Reason, ReasonKind, WorkId
from retrieval.search.fusion import Scored
from retrieval.search.priors import with_siblings


def scored(row, score, work, kind="paper"):
    return Scored(row, score, Chunk(f"c_{row}", WorkId(work), "paper", kind, "paragraph", f"text {row}", "", row, row + 1, row, row), str(row))


def rows(found):
    return [one.row for one in found]


FOUND = [scored(0, 2.0, "arxiv:1"), scored(1, 1.6, "arxiv:2"), scored(2, 1.0, "arxiv:2"), scored(3, 0.9, "repo:github.com/a/b", "code")]


def test_a_passage_rises_by_the_best_other_one_of_its_paper():
    found = with_siblings(FOUND, 0.8)
    assert rows(found) == [1, 2, 0, 3]
    assert found[0].why == (Reason(ReasonKind.SIBLINGS, pytest.approx(0.4)),)


def test_passages_take_each_others_places_and_code_keeps_its_own():
    found = with_siblings(FOUND, 0.8)
    assert [one.score for one in found] == [2.0, 1.6, 1.0, 0.9]
    assert found[3] == FOUND[3]


def test_where_one_paper_is_found_nothing_changes():
    """Its best passage once fell behind code by all that it was ahead of the second."""
    alone = [scored(0, 3.0, "arxiv:1"), scored(1, 2.0, "repo:github.com/a/b", "code"), scored(2, 0.5, "arxiv:1"), scored(3, 0.1, "arxiv:1")]
    assert with_siblings(alone, 0.8) == alone


def test_what_is_worse_than_the_mean_speaks_for_nothing():
    low = [scored(0, 1.0, "arxiv:1"), scored(1, 1.0, "arxiv:2"), scored(2, -2.0, "arxiv:1")]
    assert with_siblings(low, 0.9) == low


def test_where_no_paper_is_found_nothing_changes():
    code = [scored(0, 1.0, "repo:github.com/a/b", "code")]
    assert with_siblings(code, 0.9) == code
    assert with_siblings([], 0.9) == []


def lists(kinds=("paper", "code", "docs")):
    row = st.tuples(st.floats(-3, 6, width=16), st.sampled_from(["arxiv:1", "arxiv:2", "repo:github.com/a/b"]), st.sampled_from(kinds))
    return st.lists(row, max_size=12).map(lambda rows: sorted((scored(n, *one) for n, one in enumerate(rows)), key=lambda one: -one.score))


@given(lists(), st.floats(0, 0.99))
@settings(max_examples=25, deadline=None)
def test_whatever_moves_the_places_stay_and_only_passages_of_papers_change_theirs(found, weight):
    made = with_siblings(found, weight)
    assert [one.score for one in made] == sorted((one.score for one in found), reverse=True)
    assert sorted(rows(made)) == sorted(rows(found))
    assert [one for one in made if one.chunk.kind != "paper"] == [one for one in found if one.chunk.kind != "paper"] or weight == 0
    moved = {one.row: one.score for one in made}
    assert {one.row: moved[one.row] for one in found if one.chunk.kind != "paper"} == {
        one.row: one.score for one in found if one.chunk.kind != "paper"
    }


@given(lists(("paper",)), st.floats(0, 0.99))
@settings(max_examples=25, deadline=None)
def test_two_passages_of_one_paper_never_change_places_with_each_other(found, weight):
    def order(some, work):
        return [(one.row) for one in some if one.chunk.work == work]

    distinct = [one for n, one in enumerate(found) if one.score not in {other.score for other in found[:n]}]
    made = with_siblings(distinct, weight)
    assert all(order(made, work) == order(distinct, work) for work in {one.chunk.work for one in distinct})


def test_the_second_best_speaks_for_the_best_and_the_best_for_all_others():
    found = [scored(0, 3.0, "arxiv:1"), scored(1, 2.5, "arxiv:2"), scored(2, 2.4, "arxiv:3"), scored(3, 2.0, "arxiv:2"), scored(4, 0.5, "arxiv:2")]
    # worth at 0.5: 3.0, 2.5 + 1.0, 2.4, 2.0 + 1.25, 0.5 + 1.25
    assert rows(with_siblings(found, 0.5)) == [1, 3, 0, 2, 4]


def test_a_passage_that_keeps_its_place_is_given_no_reason():
    assert [one.why for one in with_siblings(FOUND, 0.0)] == [(), (), (), ()]
    assert with_siblings(FOUND, 0.8)[1].why == (Reason(ReasonKind.SIBLINGS, pytest.approx(0.6)),)
    assert with_siblings(FOUND, 0.8)[2].why == (Reason(ReasonKind.SIBLINGS, pytest.approx(-1.0)),)
