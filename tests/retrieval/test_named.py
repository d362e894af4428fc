"""Works that a question names."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Chunk, ReasonKind, Tier, Work, WorkId
from retrieval.search.entity_routing import asked_of, led, names_of
from retrieval.search.fusion import Scored
from retrieval.search.question_subject import coined
from retrieval.search.work_relations import WorkRelation

GEVAL, ERASER, TENT, MAE = (WorkId(f"repo:github.com/a/{name}") for name in ("geval", "eraserbenchmark", "tent", "mae"))
LONG = WorkId("arxiv:2303.16634")
KIN = {
    GEVAL: WorkRelation(Work(GEVAL, "code"), Work(LONG, "paper", "G-Eval: NLG evaluation")),
    ERASER: WorkRelation(Work(ERASER, "code")),
    TENT: WorkRelation(Work(TENT, "code")),
    MAE: WorkRelation(Work(MAE, "code")),
    LONG: WorkRelation(Work(LONG, "paper", "G-Eval: NLG evaluation")),
}
NAMES = names_of(KIN)


@pytest.mark.parametrize(
    ("question", "works", "rest"),
    [
        ("what does G-Eval sample?", {GEVAL, LONG}, "what does   sample?"),
        ("which patience does ERASER use: 1e-4?", {ERASER}, "which patience does   use: 1e-4?"),
        ("G-Eval: which prompt?", {GEVAL, LONG}, " : which prompt?"),
        ("how is a tent pitched?", set(), "how is a tent pitched?"),
        ("Tent or not?", set(), "Tent or not?"),
        ("is Tent reset?", {TENT}, "is   reset?"),
        ("is Circus Tent reset?", set(), "is Circus Tent reset?"),
        ("Is Tent, ERASER or none reset?", {TENT, ERASER}, "Is  ,   or none reset?"),
        ("how much does MAE mask?", {MAE}, "how much does   mask?"),
        ("how does Mae mask?", set(), "how does Mae mask?"),
        ("G-Eval", set(), "G-Eval"),
        ("", set(), ""),
    ],
)
def test_a_name_is_written_as_one_and_leaves_the_rest_to_be_asked(question, works, rest):
    assert asked_of(question, NAMES) == (works, rest)


@pytest.mark.parametrize(
    ("abstract", "names"),
    [
        ("To close this gap, we introduce PaperCoder, a framework of agents.", ["PaperCoder"]),
        ("We then propose a \\textsc{MWP-NAS} solver, called `ImagiT'.", ["MWP-NAS", "ImagiT"]),
        ("We present a Few-Shot Relation dataset and propose BERT-based models; the recently proposed BIG-bench stays hard.", []),
        ("Large models, called LLMs, are used. We propose Adam, and it works. UR_FUNNY was released by others.", []),
        ("", []),
        ("we " + "introduce " * 5_000 + "XX" + "a" * 10_000, []),
    ],
)
def test_an_abstract_names_what_it_introduces(abstract, names):
    assert list(coined(abstract)) == names


def test_what_an_abstract_introduces_names_the_paper_and_its_code():
    paper, repo = WorkId("arxiv:2504.17192"), WorkId("repo:github.com/going-doer/Paper2Code")
    work = Work(paper, "paper", "Paper2Code: Automating Code Generation", abstract="We introduce PaperCoder.")
    names = names_of({paper: WorkRelation(work), repo: WorkRelation(Work(repo, "code"), work)})
    assert names["papercoder"] == names["paper2code"] == {paper, repo}
    assert "paper2" not in names


@pytest.mark.parametrize(("name", "called"), [("electra2_official", "electra2"), ("TinyLlamaCode", "tinyllama"), ("Paper2Code", "paper2code")])
def test_an_ending_says_what_is_in_a_repository_and_is_no_part_of_the_name(name, called):
    repo = WorkId(f"repo:github.com/a/{name}")
    assert called in names_of({repo: WorkRelation(Work(repo, "code"))})


def test_an_address_for_a_title_names_nothing():
    paper = WorkId("arxiv:2504.17192")
    assert not names_of({paper: WorkRelation(Work(paper, "paper", "https://example.org/a"))})


def test_short_names_and_titles_without_a_colon_name_nothing():
    relation = {
        WorkId("repo:github.com/a/tf"): WorkRelation(Work(WorkId("repo:github.com/a/tf"), "code")),
        LONG: WorkRelation(Work(LONG, "paper", "Attention Is All You Need")),
    }
    assert names_of(relation) == {}


def scored(row, score, work=TENT, first=0):
    return Scored(row, score, Chunk(f"c_{row}", work, "a.py", "code", "function", "x", "", first or 100 * row, (first or 100 * row) + 50, row, row))


def rows(found):
    return [one.row for one in found]


def test_named_works_come_first_and_leave_a_quarter_to_others():
    shown = [scored(row, 9.0 - row) for row in range(1, 6)]
    inside = [scored(row, 1.0, GEVAL) for row in (11, 12, 13, 14)]
    found = led(shown, inside, {GEVAL}, 6)
    assert rows(found) == [11, 12, 13, 1, 14, 2]
    assert [any(reason.kind is ReasonKind.NAMED_WORK for reason in one.why) for one in found] == [one.chunk.work == GEVAL for one in found]


def test_scores_never_rise_down_the_list():
    found = led([scored(1, 2.0), scored(2, 1.5)], [scored(11, 9.0, GEVAL)], {GEVAL}, 3)
    assert [one.score for one in found] == [9.0, 2.0, 1.5]
    assert [one.score for one in led([scored(1, 2.0)], [scored(11, 1.0, GEVAL)], {GEVAL}, 2)] == [1.0, 1.0]


def test_named_works_stand_in_the_order_of_what_is_left_of_the_question():
    one, other = scored(11, 2.0, GEVAL), scored(12, 1.0, GEVAL)
    assert rows(led([one, scored(2, 1.5), other], [other, one], {GEVAL}, 4)) == [12, 11, 2]


def test_a_paper_names_no_repository_that_it_only_mentions():
    paper, repo = (
        Work(WorkId("arxiv:1911.02782"), "paper", "S2ORC: The Semantic Scholar Open Research Corpus"),
        Work(WorkId("repo:github.com/a/scibert"), "code"),
    )
    assert set(names_of({repo.id: WorkRelation(repo, paper, tier=Tier.MENTIONED)})) == {"scibert"}
    assert set(names_of({repo.id: WorkRelation(repo, paper, tier=Tier.OFFICIAL)})) == {"scibert", "s2orc"}


def test_without_anything_of_the_named_works_the_list_stays():
    shown = [scored(1, 2.0), scored(2, 1.0)]
    assert rows(led(shown, [], {GEVAL}, 5)) == [1, 2]


def test_a_name_of_three_letters_needs_two_capitals_and_one_of_four_needs_one():
    works = {name: WorkId(f"repo:github.com/a/{name}") for name in ("sam", "dino", "ab")}
    names = names_of({id_: WorkRelation(Work(id_, "code")) for id_ in works.values()})
    assert set(names) == {"sam", "dino"}
    for question, name in [
        ("does SAM mask?", "sam"),
        ("does SaM mask?", "sam"),
        ("does Sam mask?", ""),
        ("does Dino mask?", "dino"),
        ("does dino mask?", ""),
    ]:
        assert asked_of(question, names)[0] == ({works[name]} if name else set())


def test_the_longest_name_counts_and_its_parts_do_not():
    bert, sentence = WorkId("repo:github.com/a/bert"), WorkId("repo:github.com/a/sentence-bert")
    names = names_of({id_: WorkRelation(Work(id_, "code")) for id_ in (bert, sentence)})
    assert asked_of("how does Sentence-BERT pool?", names) == ({sentence}, "how does   pool?")
    assert asked_of("how do BERT and Sentence BERT pool?", names)[0] == {bert, sentence}
    assert asked_of("does it pool as BERT", names) == ({bert}, "does it pool as  ")
    assert asked_of("does it pool as Sentence-BERT", names)[0] == {sentence}


def test_a_repository_is_no_paper_though_its_title_has_a_colon():
    repo = WorkId("repo:github.com/a/thing")
    assert set(names_of({repo: WorkRelation(Work(repo, "code", "Grand: a library", abstract="We introduce GrandNet."))})) == {"thing"}


def test_what_is_shown_of_a_file_is_not_shown_again_by_the_other_list():
    inside = [scored(11, 3.0, GEVAL, 100), scored(12, 2.0, GEVAL, 105)]
    shown = [scored(1, 2.5, TENT, 100), scored(2, 2.4, TENT, 105), scored(3, 2.3, TENT, 300)]
    assert rows(led(shown, inside, {GEVAL}, 9)) == [11, 1, 3]


@given(st.lists(st.floats(-2, 5, width=16), max_size=12), st.lists(st.floats(-2, 5, width=16), max_size=12), st.integers(1, 10))
@settings(max_examples=25, deadline=None)
def test_however_long_the_lists_three_quarters_of_each_beginning_are_the_named_works(others, own, k):
    shown = [scored(row, score) for row, score in enumerate(others)]
    inside = [scored(100 + row, score, GEVAL) for row, score in enumerate(own)]
    made = led(shown, inside, {GEVAL}, k)
    assert len(made) == min(k, len(others) + len(own))
    for n in range(1, len(made) + 1):
        named = sum(one.chunk.work == GEVAL for one in made[:n])
        assert named == min(math.ceil(0.75 * n), len(own)) or n - named == len(others)
    assert [one.score for one in made] == sorted((one.score for one in made), reverse=True)


@given(st.lists(st.sampled_from(["G", "Eval", "-", " ", "Tent", "tent", "MAE", "?", "what", "_", "1"]), max_size=24).map("".join))
@settings(max_examples=25, deadline=None)
def test_what_is_left_of_a_question_names_nothing_more_and_nothing_is_left_empty(question):
    works, rest = asked_of(question, NAMES)
    assert rest == question if not works else any(c.isalnum() or c == "_" for c in rest)
    assert works <= {one for some in NAMES.values() for one in some}
