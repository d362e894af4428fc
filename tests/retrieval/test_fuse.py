"""One list out of several, with reasons."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.catalog.reader import Outline
from lineage.records import Chunk, Reason, ReasonKind, Reference, Signal, Work, WorkId
from retrieval.search.fusion import Scored, apart, capped, covers, folded, fuse, likelihood, reordered, standard
from retrieval.search.priors import FusionWeights, KnownNames, fitted, with_priors
from retrieval.search.work_relations import WorkRelation


def chunk(row, work="repo:github.com/a/b", path="a.py", start=None, end=None, symbol=""):
    first = 100 * row if start is None else start
    return Chunk(f"c_{row}", WorkId(work), path, "code", "function", f"text {row}", "", first, end or first + 50, row, row + 9, symbol=symbol)


def scored(row, score, same="", **where):
    return Scored(row, score, chunk(row, **where), same or str(row))


def favored(found, known):
    """With what the priors add."""
    return with_priors({one.row: one.score for one in found}, {one.row: Outline(one.chunk, one.same) for one in found}, known)


def rows(found):
    return [one.row for one in found]


def test_scores_are_put_in_deviations_of_their_own_list():
    assert standard(np.array([3.0, 2.0, 1.0]), 200) == pytest.approx([1.2247, 0.0, -1.2247], abs=1e-4)
    assert standard(np.array([5.0, 5.0]), 200).tolist() == [0.0, 0.0]
    assert standard(np.array([]), 200).tolist() == []


def told(fusion):
    return fusion.explained(Scored(row, score, chunk(row)) for row, score in fusion.first().items())


def test_a_row_that_both_retrievers_like_wins():
    found = told(fuse([(1, 9.0), (2, 8.0), (3, 1.0)], [(2, 0.9), (4, 0.8), (3, 0.1)], 0.5))
    assert rows(found)[0] == 2
    assert found[0].signals == (Signal("lexical", 2, 8.0), Signal("dense", 1, 0.9))


def test_one_list_alone_keeps_its_order():
    lexical = [(5, 3.0), (6, 2.0), (7, 1.0)]
    assert list(fuse(lexical, None, 0.5).first()) == [5, 6, 7]
    assert list(fuse([], lexical, 0.5).first()) == [5, 6, 7]
    assert fuse([], None, 0.5).first() == {}


def test_fusion_does_not_depend_on_the_unit_of_a_retriever():
    dense = [(2, 0.9), (4, 0.8), (3, 0.1), (1, 0.05)]
    one = fuse([(1, 9.0), (2, 8.0), (3, 1.0)], dense, 0.5).first()
    other = fuse([(1, 900.0), (2, 800.0), (3, 100.0)], dense, 0.5).first()
    assert list(one) == list(other)


def test_equal_scores_stand_in_the_order_of_rows():
    assert list(fuse([(9, 1.0), (2, 1.0), (5, 1.0)], None, 0.5).first()) == [2, 5, 9]


def test_weights_of_an_unknown_model_are_those_of_the_packaged_one():
    assert fitted("somebody/else@1") == fitted()
    assert 0 < fitted().dense < 1


def known(weights=None, **given):
    return KnownNames(weights or FusionWeights(code=0.0), **given)


def carried(score, work="arxiv:1"):
    return {WorkId(work): WorkRelation(Work(WorkId(work)), reference=Reference(WorkId("t"), WorkId(work), score=score))}


def test_works_that_carry_the_lineage_are_favored_a_little():
    found = favored([scored(1, 1.0), scored(2, 0.9, work="arxiv:1"), scored(3, 0.5, work="arxiv:1")], known(relations=carried(1.0)))
    assert rows(found) == [2, 1, 3]
    assert found[0].why == (Reason(ReasonKind.LINEAGE, 0.3, ("reference", "", "1.00")),)


def test_statements_outside_of_every_function_stand_back_a_little():
    glue = scored(1, 1.0)
    glue = replace(glue, chunk=replace(glue.chunk, role="module"))
    found = favored([glue, scored(2, 0.9)], known(FusionWeights(toplevel=-0.3, code=0.0)))
    assert rows(found) == [2, 1]
    assert found[1].why == (Reason(ReasonKind.ROLE, -0.3, ("module",)),)


def test_chunks_that_state_what_is_asked_for_are_favored_by_their_share_of_it():
    stated = {"c_1": {"epochs"}, "c_2": {"epochs", "seed"}}
    found = favored([scored(row, 1.0) for row in (3, 1, 2)], known(asked=("epochs", "seed"), stated=stated))
    assert [(one.score, one.why) for one in found] == [
        (3.0, (Reason(ReasonKind.STATED, 2.0, ("epochs", "seed")),)),
        (2.0, (Reason(ReasonKind.STATED, 1.0, ("epochs",)),)),
        (1.0, ()),
    ]


def test_an_abstract_stands_behind_passages_that_fit_nearly_as_well():
    abstract, passage = scored(1, 2.0), scored(2, 1.5)
    abstract = replace(abstract, chunk=replace(abstract.chunk, kind="paper", role="abstract"))
    found = favored([abstract, passage], known(FusionWeights(abstract=-0.75)))
    assert rows(found) == [2, 1]
    assert found[1].why == (Reason(ReasonKind.ROLE, -0.75, ("abstract",)),)


def test_a_passage_that_is_quoted_comes_first():
    found = favored([scored(1, 3.0), scored(2, 1.0)], known(verbatim={2: 0.5}))
    assert rows(found) == [2, 1]
    assert found[0].why == (Reason(ReasonKind.VERBATIM, 3.0),)


def test_every_score_is_the_sum_of_its_parts():
    fusion = fuse([(1, 9.0), (2, 8.0)], [(2, 0.9), (4, 0.8)], 0.5)
    for one in fusion.explained(with_priors(fusion.first(), {row: Outline(chunk(row), "") for row in fusion.first()}, known())):
        assert one.score == pytest.approx(sum(reason.value for reason in one.why))


def test_equal_texts_become_one_with_its_copies():
    found = folded([scored(1, 3.0, same="x"), scored(2, 2.0), scored(3, 1.0, same="x")])
    assert rows(found) == [1, 2]
    assert [one.id for one in found[0].copies] == ["c_3"]


def test_lines_that_are_shown_already_are_not_shown_again():
    inside = scored(2, 2.0, start=110, end=150)
    elsewhere = scored(3, 1.5, start=110, end=150, path="b.py")
    assert rows(apart([scored(1, 3.0, start=100, end=160), inside, elsewhere])) == [1, 3]


def test_what_a_better_hit_has_grown_over_is_not_shown_again():
    found = apart(
        [scored(1, 3.0, start=100, end=160), scored(2, 2.0, start=170, end=190)], lambda one, _: replace(one, chunk=replace(one.chunk, end=200))
    )
    assert [(one.row, one.chunk.end) for one in found] == [(1, 200)]


def test_one_work_cannot_fill_the_list():
    many = [scored(row, 10.0 - row) for row in range(9)]
    other = [scored(row, 0.5, work="arxiv:1") for row in range(20, 24)]
    assert rows(capped([*many, *other], 5, 0.6)) == [0, 1, 2, 20, 21]


def test_one_work_may_fill_the_list_where_nothing_else_is_found():
    assert rows(capped([scored(row, -row) for row in range(9)], 5, 0.6)) == [0, 1, 2, 3, 4]


def test_the_likelihood_is_monotone_and_stays_inside_its_bounds():
    assert likelihood(2.0) == 0.5
    assert 0 < likelihood(-1e9) < likelihood(0) < likelihood(5) < likelihood(1e9) <= 1


SCORES = st.lists(st.tuples(st.integers(0, 30), st.floats(-50, 50, width=16)), max_size=12, unique_by=lambda pair: pair[0])


@given(SCORES, SCORES)
@settings(max_examples=25, deadline=None)
def test_every_row_of_both_lists_comes_once_best_first_with_who_said_it(lexical, dense):
    found = told(fuse(lexical, dense, 0.5))
    assert sorted(one.row for one in found) == sorted({row for row, _ in (*lexical, *dense)})
    assert [(-one.score, one.row) for one in found] == sorted((-one.score, one.row) for one in found)
    for one in found:
        assert {signal.retriever: signal.score for signal in one.signals} == {
            name: dict(ranked)[one.row] for name, ranked in (("lexical", lexical), ("dense", dense)) if one.row in dict(ranked)
        }


@given(SCORES, SCORES)
@settings(max_examples=25, deadline=None)
def test_the_order_in_which_a_list_is_handed_over_does_not_matter_while_it_fits_into_the_pool(lexical, dense):
    one, other = fuse(lexical, dense, 0.5).first(), fuse(lexical[::-1], dense[::-1], 0.5).first()
    assert one == pytest.approx(other)


def test_the_dense_share_decides_where_the_lists_disagree_and_a_row_that_is_missing_has_the_lowest_score():
    lexical, dense = [(1, 2.0), (2, 0.0)], [(2, 0.9), (3, 0.1)]
    assert [(row, round(score, 6)) for row, score in fuse(lexical, dense, 0.75).first().items()] == [(2, 0.5), (1, -0.5), (3, -1.0)]
    assert [(row, round(score, 6)) for row, score in fuse(lexical, dense, 0.25).first().items()] == [(1, 0.5), (2, -0.5), (3, -1.0)]


def test_the_second_list_goes_by_the_name_it_is_given():
    (one,) = told(fuse([], [(4, 0.5)], 0.5, name=ReasonKind.STATIC))
    assert one.signals == (Signal("static", 1, 0.5),)


def test_what_lies_beyond_the_pool_does_not_move_the_mean():
    assert standard(np.array([3.0, 1.0, -400.0]), 2).tolist() == [1.0, -1.0, -402.0]


@pytest.mark.parametrize(
    ("shown", "other", "hidden"),
    [
        ((0, 100), (0, 100), True),
        ((0, 100), (100, 200), False),
        ((0, 100), (19, 119), True),
        ((0, 100), (20, 120), False),
        ((0, 100), (81, 181), False),
        ((50, 60), (0, 100), False),
        ((0, 100), (40, 41), True),
        ((0, 100), (40, 40), False),
        ((10, 90), (0, 99), True),
        ((10, 90), (0, 100), False),
    ],
)
def test_four_fifths_of_a_piece_must_be_shown_for_it_to_be_left_out(shown, other, hidden):
    one, two = (replace(chunk(1), start=start, end=end) for start, end in (shown, other))
    assert covers(one, two) is hidden


def test_each_file_of_each_work_has_its_own_places():
    here = scored(1, 3.0, start=100, end=160)
    assert rows(apart([here, scored(2, 2.0, start=100, end=160, work="repo:github.com/c/d"), scored(3, 1.0, start=100, end=160)])) == [1, 2]


def test_a_chunk_that_grows_is_told_what_better_ones_show_of_its_file():
    told = []
    list(apart([scored(n, -n, start=100 * n, end=100 * n + 50) for n in (1, 2, 3)], lambda one, shown: told.append(len(shown)) or one))
    assert told == [0, 1, 2]


@given(st.lists(st.sampled_from("abc"), max_size=14), st.integers(1, 8), st.floats(0.1, 1.0))
@settings(max_examples=25, deadline=None)
def test_a_capped_list_is_as_long_as_it_can_be_and_spares_each_work_its_share(works, k, share):
    found = [scored(row, -row, work=f"repo:github.com/x/{work}") for row, work in enumerate(works)]
    made = capped(found, k, share)
    assert len(made) == min(k, len(found))
    assert len({one.row for one in made}) == len(made)
    most = max(3, math.ceil(share * k))
    within = [one for n, one in enumerate(found) if works[:n].count(works[n]) < most]
    assert made[: len(within)] == within[:k]


def test_a_reranker_moves_hits_between_places_and_its_ties_keep_their_order():
    found = reordered([scored(1, 3.0), scored(2, 2.0), scored(3, 1.0)], [0.1, 0.7, 0.7], "marks@1")
    assert [(one.row, one.score, one.signals) for one in found] == [
        (2, 3.0, (Signal("marks@1", 1, 0.7),)),
        (3, 2.0, (Signal("marks@1", 2, 0.7),)),
        (1, 1.0, (Signal("marks@1", 3, 0.1),)),
    ]


def test_a_prior_of_nothing_is_no_reason():
    assert favored([scored(1, 1.0)], known(relations=carried(0.0, "repo:github.com/a/b"))) == [scored(1, 1.0)]
