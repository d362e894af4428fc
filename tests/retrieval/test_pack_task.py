"""A task becomes several questions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.results import Detail
from lineage.text.tokens import terms
from retrieval.context.task import MOST_PARTS, NEEDS, components, relevant, subquestions


def test_the_task_comes_first_then_its_clauses():
    found = subquestions("Implement the entropy loss with gradient clipping, and the affine update of normalisation layers", "planning")
    assert [one.of for one in found[:2]] == ["task", "part"]
    assert "gradient clipping" in [one.text for one in found]
    assert "the affine update of normalisation layers" in [one.text for one in found]


def test_listed_files_are_asked_by_what_they_are_for():
    task = "Reproduce Tent\n- data.py: loads CIFAR-10-C\n- `model/tent.py`: entropy minimisation\n2. evaluation protocol"
    assert components(task) == (
        ("data.py", "loads CIFAR-10-C"),
        ("model/tent.py", "entropy minimisation"),
        ("evaluation protocol", "evaluation protocol"),
    )
    parts = [one for one in subquestions(task, "analysis") if one.of == "part" and not one.kinds]
    assert [(one.name, one.text) for one in parts][:2] == [("data.py", "data: loads CIFAR-10-C"), ("model/tent.py", "tent: entropy minimisation")]


def test_planning_asks_for_every_need_and_other_stages_for_what_the_task_speaks_of():
    assert {one.name for one in subquestions("Reproduce it", "planning") if one.of == "detail"} == {need.name for need in NEEDS}
    assert [one.name for one in subquestions("write the optimiser", "coding") if one.of == "detail"] == ["optimiser"]


def test_details_of_the_target_replace_the_general_needs():
    warmup = Detail("warmup", "warm-up", "schedule", "how many warm-up steps", weight=0.5)
    asked = [one for one in subquestions("Reproduce it", "planning", [warmup]) if one.of == "detail"]
    assert [(one.text, one.worth) for one in asked] == [("how many warm-up steps", 0.3)]
    assert relevant(warmup, "write the learning rate schedule")
    assert not relevant(warmup, "write the data loader")


def test_nothing_is_asked_twice():
    asked = [(one.text, one.kinds) for one in subquestions("batch size. Batch size. batch sizes", "coding")]
    assert asked == [("batch size. Batch size. batch sizes", frozenset()), ("batch size. Batch size. batch sizes", frozenset({"code"}))]


def test_code_is_asked_for_by_itself_and_counts_most_for_coding():
    assert [(one.worth, set(one.kinds)) for one in subquestions("write the entropy", "coding")] == [(0.6, set()), (1.0, {"code"})]
    assert [(one.worth, set(one.kinds)) for one in subquestions("write the entropy", "planning") if one.of == "task"] == [(1.0, set())]


def test_a_flood_is_asked_by_its_beginning():
    found = subquestions("word " * 20_000)
    assert len(found[0].text.encode()) <= 4096


def test_a_task_that_begins_with_blanks_is_asked_by_its_words():
    assert subquestions("\n" * 5_000 + "write the loop")[0].text == "write the loop"
    assert subquestions(r"\cite{tent}")[0].text == r"\cite{tent}"


@given(
    st.lists(
        st.sampled_from(["write the loop", "- a.py: loads", "1. loss of it", "and", ", ", ". ", "\n", "with", " ", "é", "`b.yaml`"]), max_size=30
    ).map("".join)
)
@settings(max_examples=25, deadline=None)
def test_every_question_of_a_task_can_be_asked_and_none_twice(task):
    for stage in (None, "analysis"):
        found = subquestions(task, stage)
        assert all(0 < len(one.text.encode()) <= 4096 and one.worth > 0 for one in found)
        assert len({(" ".join(terms(one.text)), one.kinds) for one in found}) == len(found)
        assert sum(one.of == "part" for one in found) <= 2 * MOST_PARTS


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("- src/data.py - loads it", ("src/data.py", "loads it")),
        ("(3) train.ipynb", ("train.ipynb", "train")),
        ("• my_model.cpp: builds", ("my_model.cpp", "builds")),
        ("run.py loads it", None),
        ("- Loss: the entropy", ("Loss", "Loss: the entropy")),
        ("12. evaluate", ("evaluate", "evaluate")),
        ("just words", None),
        ("-", None),
    ],
)
def test_files_and_items_are_told_line_by_line(line, named):
    assert components(line) == ((named,) if named else ())
