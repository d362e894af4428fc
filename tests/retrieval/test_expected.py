"""Which values agree, and what may be expected of a repository."""

from __future__ import annotations

import pytest

from lineage.insight import Held
from lineage.model import Chunk, Fact, Hit, Work, WorkId
from lineage.ontology import same
from retrieval.conflicts import loosely
from retrieval.expected import Repository, absent_counts, agree, is_aside
from retrieval.experiments import Experiments

TARGET, MADE = WorkId("arxiv:2401.00001"), WorkId("local:0000")


def held(name, value, *, work=MADE, path="train.py", text="x", section=(), literal=True, scope="", kind="default"):
    of = "paper" if work == TARGET else "code"
    place = Chunk("c", work, path, of, "function", text, "", 0, 1, 1, 1, section=section)
    fact = Fact(name, value, "", work, "c", kind, 1, literal=literal, scope=scope)
    return Held(fact, Hit(1, 1.0, place, Work(work, of), from_target=work == TARGET))


@pytest.mark.parametrize(
    ("one", "other", "agreed"),
    [
        (("adam_betas", "[0.9, 0.95]"), ("adam_betas", "[0.95, 0.98]"), False),
        (("adam_betas", "[0.9, 0.95]"), ("adam_betas", "[0.90, 0.950]"), True),
        (("adam_betas", "[0.9, 0.95]"), ("adam_beta2", "0.95"), True),
        (("adam_betas", "[0.9, 0.95]"), ("adam_beta1", "0.95"), False),
        (("adam_beta1", "0.9"), ("adam_beta2", "0.9"), False),
        (("normalize_mean", "[0.5, 0.4, 0.3]"), ("normalize_mean", "[0.3, 0.4, 0.5]"), False),
        (("batch_size", "[64, 256]"), ("batch_size", "256"), True),
        (("epochs", "100"), ("steps", "100"), True),
        (("precision", "mixed"), ("precision", "float16"), True),
        (("normalization", "rmsnorm"), ("norm_epsilon", "0.00001"), False),
    ],
)
def test_values_agree_under_one_name_and_ordered_ones_place_by_place(one, other, agreed):
    assert agree(held(*one), held(*other), loosely(same)) is agreed


def test_a_listed_experiment_is_expected_of_a_repository_that_speaks_of_it():
    stated = [held("epochs", "9", work=TARGET, path="main.tex", section=("Setup", title)) for title in ("CIFAR-10", "ImageNet", "NanoGPT")]
    listed = Experiments.of({"epochs": stated}, TARGET)
    repository = Repository.of({"epochs": [held("epochs", "3", path="net/cifar/train.py")]}, listed)
    assert [repository.has(one) for one in stated] == [True, False, False]


def test_what_sentences_say_of_one_of_several_parts_and_of_machines_is_not_missed():
    assert not absent_counts([held("activation", "gelu", kind="prose"), held("gpus", "8", kind="table")])
    assert absent_counts([held("learning_rate", "0.1", kind="prose")])


def test_the_default_of_a_class_is_aside_where_its_caller_computes_the_value():
    default = held("hidden_size", "4096", text="class ModelArgs:\n    dim: int = 4096", scope="ModelArgs")
    assert is_aside(default, [default, held("hidden_size", "widths[level]", literal=False)])
    assert not is_aside(default, [default])
