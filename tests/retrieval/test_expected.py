"""Which values of a paper are expected, and which agree."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.audit.expectations import agree, expectations, in_example, is_tried
from retrieval.audit.inputs import loosely

TARGET, MADE = WorkId("arxiv:2401.00001"), WorkId("local:0000")


def held(name, value, *, work=MADE, path="train.py", text="x", section=(), literal=True, scope="", kind="default"):
    of = "paper" if work == TARGET else "code"
    place = Chunk("c", work, path, of, "function", text, "", 0, 1, 1, 1, section=section)
    fact = Fact(name, value, "", work, "c", kind, 1, literal=literal, scope=scope, said=text)
    return FactOccurrence(fact, Hit(1, 1.0, place, Work(work, of), from_target=work == TARGET))


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
        (("precision", "mixed"), ("precision", "float16"), True),
        (("normalization", "rmsnorm"), ("norm_epsilon", "0.00001"), False),
    ],
)
def test_values_agree_under_one_name_and_ordered_ones_place_by_place(one, other, agreed):
    assert agree(held(*one), held(*other), loosely(ontology().same)) is agreed


@pytest.mark.parametrize(
    ("sentence", "tried"),
    [
        ("For batch size, we experiment with 64 and 256.", True),
        ("We sweep the batch size over 64 and 256.", True),
        ("The best batch size of a search was 64.", False),
        ("We use a batch size of 64.", False),
        ("We minimize the loss between both with a batch size of 64.", False),
    ],
)
def test_a_sentence_that_tells_what_was_tried(sentence, tried):
    value = "[64, 256]" if "and 256" in sentence else "64"
    assert is_tried(held("batch_size", value, work=TARGET, text=sentence, kind="prose")) is tried


def test_what_a_section_on_others_says_is_not_expected():
    some = [held("epochs", "9", work=TARGET, text="We train for 9 epochs.", section=(title,), kind="prose") for title in ("Training", "Related Work")]
    assert len(expectations(some, TARGET, takes_list=False)) == 1


def test_the_values_of_a_statement_are_expected_one_by_one_unless_the_detail_is_a_list():
    some = [held("batch_size", "[4096, 10000]", work=TARGET, text="Batch sizes are 4096 and 10000.", section=("Training",), kind="prose")]
    assert [one.value.fact.value for one in expectations(some, TARGET, takes_list=False)] == ["4096", "10000"]
    assert len(expectations(some, TARGET, takes_list=True)) == 1


def test_spaces_that_are_searched_are_examples():
    assert in_example(held("weight_decay", "0.3", path="external/tuning_search_space.json"))
    assert not in_example(held("weight_decay", "0.3", path="external/config.json"))
