"""Passages of a paper that was found more than once are likelier to answer."""

from __future__ import annotations

import pytest

from lineage.model import Chunk, WorkId
from retrieval.fuse import Fused, Scored, boosted
from retrieval.siblings import REASON, siblings_prior


def scored(row, score, work, kind="paper"):
    return Scored(Fused(row, score), Chunk(f"c_{row}", WorkId(work), "paper", kind, "paragraph", f"text {row}", "", row, row + 1, row, row), str(row))


FOUND = [scored(0, 2.0, "arxiv:1"), scored(1, 1.6, "arxiv:2"), scored(2, 1.0, "arxiv:2"), scored(3, 0.9, "repo:github.com/a/b", "code")]


def test_a_passage_rises_by_the_best_other_one_of_its_paper():
    found = boosted(FOUND, siblings_prior(FOUND, 0.8))
    assert [one.fused.row for one in found] == [1, 2, 0, 3]
    assert found[0].fused.why == (f"{REASON} (+0.11)",)


def test_papers_as_a_whole_do_not_rise():
    prior = siblings_prior(FOUND, 0.6)
    added = [value for one in FOUND for value, _ in prior(one.chunk)]
    assert len(added) == 3
    assert sum(added) == pytest.approx(0.0)


def test_the_best_two_passages_of_a_paper_keep_their_order():
    paper = [scored(row, score, "arxiv:1") for row, score in enumerate((3.0, 1.0, 0.5))]
    assert [one.fused.row for one in boosted(paper, siblings_prior(paper, 0.9))] == [0, 1, 2]


def test_what_is_worse_than_the_mean_speaks_for_nothing():
    low = [scored(0, 1.0, "arxiv:1"), scored(1, -2.0, "arxiv:1"), scored(2, 1.0, "arxiv:2")]
    values = {one.chunk.id: value for one in low for value, _ in siblings_prior(low, 1.0)(one.chunk)}
    assert values["c_0"] == values["c_2"]


def test_where_no_paper_is_found_nothing_changes():
    code = [scored(0, 1.0, "repo:github.com/a/b", "code")]
    assert boosted(code, siblings_prior(code, 1.0)) == code
    assert boosted([], siblings_prior([], 1.0)) == []
