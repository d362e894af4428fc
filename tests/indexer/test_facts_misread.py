"""Names and numbers that TeX and phrases bring close to each other without one being the other's."""

import time

import pytest

from indexer.extraction import prose, tables
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology


def said(text, around=""):
    sink = Sink(ontology(), "prose")
    prose.read(text, sink, around=around)
    return {(one.name, one.value) for one in sink.found}


@pytest.mark.parametrize(
    "names",
    [r"$\beta_1$ and $\beta_2$", r"$\beta_{1}$ and $\beta_{2}$", r"${\beta}_1$ and ${\beta}_2$", r"$\beta_1, \beta_2$", r"$\beta_1$, $\beta_2$"],
)
def test_names_in_tex_have_their_values_in_order(names):
    assert said(f"The {names} of AdamW are set to 0.9 and 0.95.") >= {("adam_beta1", "0.9"), ("adam_beta2", "0.95")}


def test_a_name_in_tex_has_the_number_after_it():
    assert said("We report results for temperature$=0.2$ and top-$p$ = 0.9.") == {("temperature", "0.2"), ("top_p", "0.9")}


def test_a_name_does_not_go_on_in_a_number_after_a_bracket_or_with_decimals():
    assert said(r"A learning rate of $\frac{2000}{\beta}2.048 \cdot 10^{-8}$ is used.") == set()
    assert said("with a beta 2.5 times as high for AdamW") == set()


def test_the_momentum_of_an_average_of_weights_is_its_decay():
    assert said("The weights are kept as an exponential moving average (EMA) with a momentum of 0.999.") == {("ema_decay", "0.999")}
    assert ("momentum", "0.9") in said("We use EMA and train with a momentum of 0.9.")


def test_accumulated_steps_are_none_of_training():
    assert said("a local batch size of 1 pair and gradient accumulation of 128 steps") == {("batch_size", "1"), ("gradient_accumulation", "128")}
    assert said("We accumulate gradients over 8 steps and train for 1000 steps.") == {("gradient_accumulation", "8"), ("steps", "1000")}


def test_a_word_before_a_name_may_make_it_another_one():
    assert said("with a class dropout probability of 0.1") == set()
    assert ("batch_size", "[4096, 10000]") in said("The training and sampling batch sizes are set to 4,096 and 10,000.")
    assert said("Test batch sizes (16, 32, 64) for training speed.") == {("batch_size", "[16, 32, 64]")}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We derive it as a multi-step RL approach.", ""),
        ("In multi-step reasoning, the learning rate is high.", ""),
        ("The learning rate follows a multi-step schedule.", "step"),
        ("increasing the learning rate for a while, and decreasing it with the inverse square root of the step.", "inverse_sqrt"),
    ],
)
def test_the_bare_name_of_a_schedule_is_one_where_its_clause_speaks_of_the_learning_rate(text, kind):
    expected = {("lr_schedule", f'{{"kind": "{kind}"}}')} if kind else set()
    assert said(text, around="Reinforcement Learning") == expected


def test_a_choice_that_is_denied_is_none():
    assert said("We train with no RandAugment.") == said("We do not use Adam or SGD for training.") == set()
    assert said("There being no restriction, Adam is used for training.") == {("optimizer", "adam")}
    assert said("As neither AdamW nor NAdamW reaches the target we use LAMB.") == {("optimizer", "lamb")}


def table(text, caption=""):
    sink = Sink(ontology(), "table")
    for rows in tables.blocks(text.split("\n")):
        tables.read(rows, sink, caption)
    return [(one.name, one.value, one.scope) for one in sink.found]


@pytest.mark.parametrize(
    ("caption", "read"),
    [
        ('“Dim." denotes the dimension of the tokens, and “#Step" denotes the number of steps.', False),
        ("Dim. stands for the hidden dimension of each model.", True),
        ("Dim. denotes the hidden size.", True),
        ("Results on ImageNet.", True),
    ],
)
def test_a_caption_says_what_an_abbreviation_is(caption, read):
    assert table("Method | Dim. | FID\nSmall | 384 | 5.3\nLarge | 1024 | 2.1", caption) == (
        [("hidden_size", "384", "Small"), ("hidden_size", "1024", "Large")] if read else []
    )


@pytest.mark.parametrize(
    "piece", ["$", "}$ ", "$\\beta_1$ and ", "accumulated the ", "EMA of ", "no nor ", "multi-step ", "beta}2.", "learning rate$ of ", "[a] "]
)
def test_endless_tex_ends_quickly(piece):
    text = piece * (20_000 // len(piece))
    started = time.thread_time()
    said(text + "momentum of 128 steps, multi-step, AdamW")
    table(f"Method | Dim.\n{text[:3_900]} | 8\nOurs | 16", caption="a" * 20_000 + text + " Dim. denotes " + "the " * 5_000)
    assert time.thread_time() - started < 3
