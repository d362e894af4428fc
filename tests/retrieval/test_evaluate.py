"""Recall, reciprocal rank, nDCG and focus, by hand; what a gold row may say."""

from __future__ import annotations

import pytest

from lineage.model import Chunk, Focus, Hit, Work, WorkId
from retrieval.evaluate import Case, Gold, case_of, evaluation, finds, first_rank, judged, scores

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
        ({"query": "?", "gold": {"path": "a.py", "start": 9, "end": 3}}, "lines 9 to 3 are none"),
        ({"query": "?", "gold": {"repo": "a/b"}}, "gold is lines"),
    ],
)
def test_a_row_that_cannot_be_judged_says_what_is_missing(row, said):
    with pytest.raises(ValueError, match=said):
        case_of(row)
