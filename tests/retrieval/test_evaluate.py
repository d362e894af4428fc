"""Recall, reciprocal rank, nDCG and focus, by hand; what a gold row may say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Chunk, Focus, Hit, Work, WorkId
from retrieval.evaluation import Case, Gold, case_of, evaluation, finds, first_rank, judged, scores

REPO = WorkId("repo:github.com/Northlake/Patchmask")
PAPER = WorkId("arxiv:2006.10726")


def hit(first: int, last: int, path: str = "a.py", work: WorkId = REPO, text: str = "", focus: Focus | None = None) -> Hit:
    chunk = Chunk(f"c_{first}", work, path, "code", "function", text, "", 0, 1, first, last)
    return Hit(1, 0.5, chunk, Work(work, aliases=(WorkId("doi:10.1/x"),)), focus=focus)


def test_the_first_right_hit_counts():
    assert first_rank([False, True, True]) == 2
    assert first_rank([False]) is None
    assert first_rank([]) is None


def test_recall_and_reciprocal_rank_of_four_questions():
    found = scores([1, 4, 12, None])
    assert found.recall == {1: 0.25, 5: 0.5, 10: 0.5, 20: 0.75}
    assert found.mrr == pytest.approx((1 + 0.25) / 4)
    assert str(found) == "R@1 0.250  R@5 0.500  R@10 0.500  R@20 0.750  MRR@10 0.312"


def test_no_questions_score_nothing():
    assert scores([]).recall[20] == 0.0


@pytest.mark.parametrize(
    ("lines", "found"),
    [((1, 20), True), ((16, 40), True), ((17, 40), False), ((1, 60), True), ((1, 61), False)],
)
def test_half_of_the_lines_must_be_shown_and_a_whole_file_finds_nothing(lines, found):
    assert finds(hit(*lines), Gold("a.py", 11, 20, repo="northlake/patchmask")) is found


def test_of_a_long_answer_twenty_lines_are_enough():
    assert finds(hit(1, 20), Gold("a.py", 1, 200))
    assert not finds(hit(1, 19), Gold("a.py", 1, 200))


def test_a_hit_too_long_to_be_shown_counts_by_its_focus():
    assert finds(hit(1, 400, focus=Focus(30, 34)), Gold("a.py", 30, 35))


def test_another_repository_or_path_is_not_the_answer():
    assert not finds(hit(1, 20), Gold("a.py", 1, 20, repo="someone/else"))
    assert not finds(hit(1, 20), Gold("b.py", 1, 20))


def test_words_of_a_paper_are_found_whatever_the_spacing_and_the_name_it_goes_by():
    passage = hit(1, 3, work=PAPER, text="We use a batch\nsize of 512.")
    assert finds(passage, Gold(work="doi:10.1/X", quote="batch size of 512"))
    assert not finds(passage, Gold(work="arxiv:1", quote="batch size of 512"))


def test_gain_is_what_a_hit_is_the_first_to_show():
    case = Case("q", "?", ((Gold("a.py", 1, 10),), (Gold("b.py", 1, 10), Gold("copy.py", 1, 10))))
    assert judged(case, [hit(1, 10), hit(1, 10, "copy.py")]).ndcg == 1.0
    assert judged(case, [hit(1, 10), hit(1, 10)]).ndcg == pytest.approx(1 / (1 + 0.6309), abs=1e-4)
    assert judged(case, []).ndcg == 0.0


def test_focus_is_the_share_of_its_lines_that_are_gold():
    row = judged(Case("q", "?", ((Gold("a.py", 5, 8),),)), [hit(1, 10, focus=Focus(7, 10))])
    assert (row.rank, row.focus) == (1, 0.5)


def test_rows_are_summed_up_by_kind_with_their_latency():
    cases = [Case("a", "?", ((Gold("a.py", 1, 10),),), "easy"), Case("b", "?", ((Gold("z.py", 1, 10),),), "hard")]
    rows = [judged(case, [hit(1, 10)], seconds) for case, seconds in zip(cases, (0.01, 0.03), strict=True)]
    found = evaluation("demo", "000001-0", "", rows)
    assert (found.kinds["easy"].recall[1], found.kinds["hard"].recall[20], found.all.recall[1]) == (1.0, 0.0, 0.5)
    assert (found.p50, found.p95) == (30.0, 30.0)


def test_a_row_of_score_py_is_read_with_its_copies():
    row = {"id": "x", "query": "sft loss", "gold": {"path": "a.py", "start": 1, "end": 2}, "also": [{"path": "b.py", "start": 3, "end": 4}]}
    assert case_of(row) == Case("x", "sft loss", ((Gold("a.py", 1, 2), Gold("b.py", 3, 4)),))


def test_identifiers_of_chunks_are_gold_too():
    assert case_of({"id": 1, "text": "?", "gold": ["c_1", "m3-2"]}).gold == ((Gold(chunk="c_1"),), (Gold(chunk="m3-2"),))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"gold": ["c"]}, "there is no query"),
        ({"query": "?"}, "gold is lines"),
        ({"query": "?", "gold": []}, "there is no gold"),
        ({"query": "?", "gold": {"path": "a.py", "start": 9, "end": 3}}, "lines 9 to 3 are not a valid range"),
        ({"query": "?", "gold": {"repo": "a/b"}}, "gold is lines"),
    ],
)
def test_a_row_that_cannot_be_judged_says_what_is_missing(row, said):
    with pytest.raises(ValueError, match=said):
        case_of(row)


@pytest.mark.parametrize(
    ("gold", "found"),
    [
        (Gold("A.PY", 1, 10), True),
        (Gold("a.py"), True),
        (Gold(repo="https://github.com/northlake/PATCHMASK"), True),
        (Gold(repo="northlake/patch"), False),
        (Gold(work="DOI:10.1/X"), True),
        (Gold(work="repo:github.com/northlake/patchmask"), True),
        (Gold("a.py", 1, 10, work="doi:10.1/y"), False),
        (Gold(quote="SEVEN  lines"), True),
        (Gold("b.py", quote="seven lines"), False),
        (Gold(quote="seven lines more"), False),
        (Gold(chunk="c_1"), True),
        (Gold(chunk="a.py"), True),
        (Gold(chunk="c_2", path="a.py"), False),
    ],
)
def test_what_a_gold_names_must_hold_and_what_it_leaves_empty_is_not_asked(gold, found):
    assert finds(hit(1, 10, text="of Seven\nlines"), gold) is found


@pytest.mark.parametrize(
    ("span", "found"),
    [(None, False), (Focus(30, 34), True), (Focus(32, 90), True), (Focus(30, 90), False), (Focus(36, 40), False), (Focus(34, 60), False)],
)
def test_of_a_hit_that_is_too_long_the_focus_is_what_is_shown(span, found):
    assert finds(hit(1, 400, focus=span), Gold("a.py", 30, 35)) is found


def test_of_a_hit_of_sixty_lines_all_is_shown_whatever_its_focus():
    assert finds(hit(1, 60, focus=Focus(50, 55)), Gold("a.py", 1, 8))
    assert not finds(hit(1, 61, focus=Focus(50, 55)), Gold("a.py", 1, 8))


def test_gain_counts_each_answer_once_and_what_was_not_found_too():
    three = Case("q", "?", tuple((Gold("a.py", 10 * n, 10 * n + 9),) for n in (1, 2, 3)))
    both, last = hit(10, 29), hit(30, 39)
    assert judged(three, [both, last]).ndcg == 1.0
    assert judged(three, [last, both]).ndcg == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))
    assert judged(three, [both]).ndcg == pytest.approx(2 / (2 + 1 / math.log2(3)))
    assert judged(three, [hit(1, 2)] * 10 + [both, last]).ndcg == 0.0


def test_the_focus_of_a_right_hit_further_down_than_five_is_not_counted():
    wrong, right = hit(90, 99), hit(1, 10, focus=Focus(1, 4))
    case = Case("q", "?", ((Gold("a.py", 1, 2),), (Gold("a.py", 3, 3),)))
    assert judged(case, [*[wrong] * 4, right]).focus == 0.5
    assert judged(case, [*[wrong] * 5, right]).focus is None
    assert judged(case, [hit(1, 10)]).focus is None
    assert judged(Case("q", "?", ((Gold("a.py"),),)), [right]).focus is None


def test_a_row_tells_what_came_first_even_if_it_was_wrong():
    row = judged(Case("q", "?", ((Gold("z.py", 1, 2),),), "hard"), [hit(3, 7)], 0.5)
    assert (row.id, row.kind, row.rank, row.focus, row.seconds, row.first) == ("q", "hard", None, None, 0.5, "a.py#L3-L7")
    assert judged(Case("q", "?", ((Gold("z.py", 1, 2),),)), []).first == ""


def test_reciprocal_rank_looks_ten_places_far_and_cuts_are_inclusive():
    assert (scores([10]).mrr, scores([11]).mrr) == (0.1, 0.0)
    assert scores([5, 6, 20, 21]).recall == {1: 0.0, 5: 0.25, 10: 0.5, 20: 0.75}
    assert scores([1], ndcg=[0.25]).ndcg == 0.25
    assert scores([2, 3], cuts=(2,)).recall == {2: 0.5}


@given(st.lists(st.one_of(st.none(), st.integers(1, 40)), max_size=20))
@settings(max_examples=25, deadline=None)
def test_recall_never_falls_with_the_cut_and_all_scores_are_shares(ranks):
    found = scores(ranks)
    values = list(found.recall.values())
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in (*values, found.mrr))
    turned = scores(ranks[::-1])
    assert (turned.recall, round(turned.mrr, 9)) == (found.recall, round(found.mrr, 9))
    assert found.recall[1] <= found.mrr + 1e-9
    assert found.count == len(ranks)


def test_latencies_are_told_by_the_middle_and_by_the_slow_end():
    rows = [judged(Case(str(n), "?", ((Gold("a.py"),),)), [hit(1, 2)], n / 1000) for n in range(100, 0, -1)]
    found = evaluation("demo", "1", "", rows)
    assert (found.p50, found.p95) == (pytest.approx(51.0), pytest.approx(96.0))
    nothing = evaluation("demo", "1", "", [])
    assert (nothing.p50, nothing.p95, nothing.focus, nothing.kinds, nothing.all.count) == (0.0, 0.0, None, {}, 0)


@pytest.mark.parametrize(
    ("gold", "places"),
    [
        ("c_1", (Gold(chunk="c_1"),)),
        ({"path": "a.py"}, (Gold("a.py"),)),
        ({"path": "a.py", "start": 1, "end": 1, "repo": "a/b", "work": "arxiv:1", "more": 3}, (Gold("a.py", 1, 1, "a/b", "arxiv:1"),)),
        ({"work": "arxiv:1", "quote": "x"}, (Gold(work="arxiv:1", quote="x"),)),
        ([{"path": "a.py", "work": None}], (Gold("a.py"),)),
    ],
)
def test_the_forms_of_gold(gold, places):
    assert case_of({"query": "?", "gold": gold}).gold == (places,)


@pytest.mark.parametrize("also", ["c_2", ["c_2"], {"chunk": "c_2"}, [{"chunk": "c_2"}]])
def test_another_place_of_the_first_answer_may_stand_alone_or_in_a_list(also):
    assert case_of({"query": "?", "gold": ["c_1", "c_3"], "also": also}).gold == ((Gold(chunk="c_1"), Gold(chunk="c_2")), (Gold(chunk="c_3"),))


@pytest.mark.parametrize(
    "row",
    [
        {"query": " ", "gold": "c"},
        {"query": 3, "gold": "c"},
        {"query": "?", "gold": ""},
        {"query": "?", "gold": {"quote": "  "}},
        {"query": "?", "gold": {"path": "a.py", "start": 0, "end": 3}},
        {"query": "?", "gold": {"path": "a.py", "start": 1}},
        {"query": "?", "gold": {"path": "a.py", "start": "1", "end": "3"}},
        {"query": "?", "gold": "c", "also": 3},
        {"query": "?", "gold": {"start": 1, "end": 2}},
    ],
)
def test_gold_that_any_hit_or_none_would_meet_is_refused(row):
    with pytest.raises(ValueError, match=r"gold is|not a valid range|no query"):
        case_of(row)


def test_a_question_may_be_called_text_and_its_kind_may_be_missing():
    assert case_of({"text": "?", "query": "", "gold": "c", "kind": None, "id": 7}) == Case("7", "?", ((Gold(chunk="c"),),), "all")
