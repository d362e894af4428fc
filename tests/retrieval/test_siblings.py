"""Passages of a paper that was found more than once are likelier to answer."""

from __future__ import annotations

from lineage.model import Chunk, WorkId
from retrieval.fuse import Fused, Scored
from retrieval.siblings import REASON, with_siblings


def scored(row, score, work, kind="paper"):
    return Scored(Fused(row, score), Chunk(f"c_{row}", WorkId(work), "paper", kind, "paragraph", f"text {row}", "", row, row + 1, row, row), str(row))


def rows(found):
    return [one.fused.row for one in found]


FOUND = [scored(0, 2.0, "arxiv:1"), scored(1, 1.6, "arxiv:2"), scored(2, 1.0, "arxiv:2"), scored(3, 0.9, "repo:github.com/a/b", "code")]


def test_a_passage_rises_by_the_best_other_one_of_its_paper():
    found = with_siblings(FOUND, 0.8)
    assert rows(found) == [1, 2, 0, 3]
    assert found[0].fused.why == (f"{REASON} (+0.40)",)


def test_passages_take_each_others_places_and_code_keeps_its_own():
    found = with_siblings(FOUND, 0.8)
    assert [one.fused.score for one in found] == [2.0, 1.6, 1.0, 0.9]
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
