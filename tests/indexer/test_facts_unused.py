"""What a sentence says is not used, and what only looks like it."""

import time

import pytest

from indexer.extraction import prose
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology


def found(text, around="", kind="prose"):
    sink = Sink(ontology(), "prose")
    prose.read(text, sink, around=around, kind=kind)
    return {(one.name, one.value, one.scope) for one in sink.found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No weight decay is applied.", {("weight_decay", "0", "")}),
        ("Weight decay is not used.", {("weight_decay", "0", "")}),
        ("Label smoothing is turned off.", {("label_smoothing", "0", "")}),
        ("Gradient clipping is disabled.", {("gradient_clip", "0", "")}),
        ("We do not use dropout [14], following the practice in [16].", {("dropout", "0", "")}),
        ("We don't apply any stochastic depth.", {("drop_path", "0", "")}),
        ("The network is trained with SGD without momentum.", {("optimizer", "sgd", ""), ("momentum", "0", "")}),
        ("We use SGD without Nesterov momentum.", {("optimizer", "sgd", ""), ("nesterov", "false", "")}),
        ("All models are trained for 100 epochs without warm-up.", {("epochs", "100", ""), ("warmup_steps", "0", "")}),
        ("We use no learning rate schedule.", {("lr_schedule", '{"kind": "constant"}', "")}),
        ("We use no positional encoding.", {("positional_encoding", "none", "")}),
        ("We train with RMSProp with no weight decay for all iterations.", {("optimizer", "rmsprop", ""), ("weight_decay", "0", "")}),
        ("We use 4 GPUs, and no gradient accumulation.", {("gpus", "4", ""), ("gradient_accumulation", "1", "")}),
    ],
)
def test_a_technique_that_is_plainly_left_out_has_its_value_for_none(text, expected):
    assert found(text) == expected


def test_names_that_or_joins_are_all_left_out():
    assert found("No dropout or label smoothing is used.") == {("dropout", "0", ""), ("label_smoothing", "0", "")}
    assert found("We use neither dropout nor weight decay.") == {("dropout", "0", ""), ("weight_decay", "0", "")}
    assert found("We train without mixup or CutMix.") == {("mixup_alpha", "0", ""), ("cutmix_alpha", "0", "")}


def test_a_name_with_a_number_of_its_own_is_used():
    assert found("We train without CutMix and a dropout of 0.1.") == {("cutmix_alpha", "0", ""), ("dropout", "0.1", "")}


def test_the_stage_of_which_it_is_said_is_the_scope():
    assert found("No dropout is used during fine-tuning.") == {("dropout", "0", "fine-tuning")}


@pytest.mark.parametrize(
    "text",
    [
        "No weight decay is applied to biases and normalization layers.",
        "Weight decay is not applied to any group by default.",
        "No dropout is used in the decoder.",
        "We train it without dropout in the last block.",
        "No dropout is needed.",
        "Without warm-up the model fails.",
        "When we train without dropout the accuracy is lower.",
        "Models trained without mixup perform worse.",
        "The system trained with mixup reaches 0.431, outperforming that trained without mixup.",
        "The remaining runs, including all the ablation studies, are trained without mixup.",
        "After this change, the model will be trained without Mixup.",
        "GPT-3 was trained without dropout.",
        "During inference no dropout is used.",
        "We do not use dropout layers here.",
        "We use a network which works without warm-up.",
        "It can be trained without warm-up.",
        "We accumulate gradients, as opposed to training without gradient accumulation.",
    ],
)
def test_parts_of_a_model_comparisons_and_other_people_s_models_state_nothing(text):
    assert found(text) == set()


def test_what_an_ablation_or_a_table_leaves_out_is_no_setting():
    assert found("No weight decay is applied.", around="4.3 Ablation study") == set()
    assert found("No weight decay is applied.", kind="table") == set()


@pytest.mark.parametrize(
    "piece", ["no ", "without using ", "we train ", "no dropout or ", "we do not use any ", "all a b c ", "dropout is not ", "weight decay, no "]
)
def test_endless_denials_end_quickly(piece):
    started = time.thread_time()
    found(piece * (20_000 // len(piece)) + "dropout.")
    assert time.thread_time() - started < 2
