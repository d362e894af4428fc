"""Trainings whose length a paper gives in tokens, against the steps of its code."""

from __future__ import annotations

import time

import pytest

from lineage.insight import Conflict, Held
from lineage.model import Chunk, Fact, Hit, Work, WorkId
from lineage.ontology import ontology
from retrieval.conflicts import Terms, conflicts, loosely

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
TERMS = Terms(lambda name: name, lambda name: 0.3, loosely(ontology().same))
TEXT = "We train all our Llama models on the Pile. The batch size is set to 4M tokens and each model is trained on a total of 200B tokens."


def batch(text: str = TEXT, value: str = "4000000", unit: str = "tokens") -> Held:
    chunk = Chunk("c_p", TARGET.id, "main.tex", "paper", "paragraph", text, "", 0, len(text), 7, 7, section=("Settings",))
    return Held(Fact("batch_size", value, unit, TARGET.id, chunk.id, "prose", 7, "batch size", text), Hit(1, 1.0, chunk, TARGET, from_target=True))


def steps(value: str, path: str = "train.py", work: Work = OWN) -> Held:
    chunk = Chunk(f"c_{path}", work.id, path, "code", "class", "", "", 0, 0, 1, 20)
    kind = "default" if work is OWN else "prose"
    return Held(Fact("steps", value, "", work.id, chunk.id, kind, 5, "num_steps", value), Hit(1, 1.0, chunk, work, from_target=True))  # type: ignore[arg-type]


def found(one: Held, *some: Held) -> list[Conflict]:
    return list(conflicts({"batch_size": [one], "steps": some}, TARGET.id, (), TERMS))


def test_steps_far_from_what_the_tokens_make_are_told_with_the_count() -> None:
    (one,) = found(batch(), steps("1000000"))
    assert ([side.fact.value for side in one.sides], one.severity) == (["50000", "1000000"], 0.3)
    assert one.why == "the tokens of the paper make 50000 steps, and no setting of the own code is near"


@pytest.mark.parametrize("value", ["50000", "47684", "60000"])
def test_a_setting_that_is_near_is_peace_for_all(value: str) -> None:
    assert found(batch(), steps("1000000"), steps(value, "other.py")) == []


def test_the_files_that_the_paragraph_names_come_before_others() -> None:
    (one,) = found(batch(), steps("1000000", "tasks/Llama/train.py"), steps("250000", "tasks/speech/train.py"))
    assert [side.fact.value for side in one.sides] == ["50000", "1000000"]


@pytest.mark.parametrize(
    "one",
    [
        batch(unit="images"),
        batch("The batch size is set to 4M tokens."),
        batch("The batch size is set to 4M tokens. Small models are trained on 100B tokens, large ones are trained for 300B tokens."),
    ],
)
def test_without_tokens_or_with_several_totals_nothing_is_counted(one: Held) -> None:
    assert found(one, steps("1000000")) == []


def test_a_paper_that_gives_steps_itself_is_compared_by_these() -> None:
    assert found(batch(), steps("1000000"), steps("1000000", work=TARGET)) == []


def test_a_hostile_paragraph_ends_quickly() -> None:
    began = time.perf_counter()
    found(batch("trained " * 30_000 + "total 9 " * 30_000), steps("1000000"))
    assert time.perf_counter() - began < 2
