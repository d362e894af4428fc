"""Passages of a paper that was found more than once are likelier to answer."""

from __future__ import annotations

import pytest

from lineage.model import Chunk, WorkId
from retrieval.fuse import Fused, Scored, boosted
from retrieval.siblings import REASON, siblings_prior


def scored(row, score, work, kind="paper"):
    return Scored(Fused(row, score), Chunk(f"c_{row}", WorkId(work), "paper", kind, "paragraph", f"text {row}", "", row, row + 1, row, row), str(row))


FOUND = [scored(0, 2.0, "arxiv:1"), scored(1, 1.6, "arxiv:2"), scored(2, 1.0, "arxiv:2"), scored(3, 0.9, "repo:github.com/a/b", "code")]


def test_a_paper_that_is_found_twice_rises_over_one_that_is_found_once():
    found = boosted(FOUND, siblings_prior(FOUND, 1.0))
    assert [one.fused.row for one in found] == [1, 0, 2, 3]
    assert found[0].fused.why == (f"{REASON} (+0.20)",)


def test_papers_as_a_whole_do_not_rise():
    prior = siblings_prior(FOUND, 1.0)
    added = [value for one in FOUND for value, _ in prior(one.chunk)]
    assert len(added) == 3
    assert sum(added) == pytest.approx(0.0)


def test_only_the_best_passages_of_a_paper_count():
    many = [scored(row, 1.0, "arxiv:1") for row in range(9)] + [scored(9, 1.0, "arxiv:2")]
    values = {one.chunk.work: value for one in many for value, _ in siblings_prior(many, 1.0)(one.chunk)}
    assert values == {"arxiv:1": pytest.approx(0.3), "arxiv:2": pytest.approx(-2.7)}


def test_where_no_paper_is_found_nothing_changes():
    code = [scored(0, 1.0, "repo:github.com/a/b", "code")]
    assert boosted(code, siblings_prior(code, 1.0)) == code
    assert boosted([], siblings_prior([], 1.0)) == []
