"""From what prose says to what code calls it."""

from __future__ import annotations

import json

import pytest

from lineage.errors import SettingsError
from retrieval.vocabulary import Crossing, bridges_of, vocabulary, whole


def spoken(question):
    return {one.bridge.aspect: set(one.bridge.code.values()) for one in vocabulary().crossed(question)}


@pytest.mark.parametrize("question", ["how is it initialized?", "initialisation of the weights", "we initialise all layers", "initialising"])
def test_every_inflection_and_spelling_crosses_the_same_bridge(question):
    assert {"trunc_normal_", "xavier_uniform_", "reset_parameters", "init_weights"} <= spoken(question)["initialisation"]


@pytest.mark.parametrize(
    ("question", "aspect", "names"),
    [
        ("what length of warm-up is used?", "schedule", {"LinearLR", "get_linear_schedule_with_warmup"}),
        ("does stochastic depth grow?", "regularisation", {"drop_path", "drop_path_rate"}),
        ("is the gradient norm clipped", "regularisation", {"clip_grad_norm_", "max_grad_norm"}),
        ("an exponential moving average of weights", "checkpoints", {"ModelEma", "ema_decay"}),
        ("which seeds", "seeds", {"manual_seed", "PRNGKey"}),
    ],
)
def test_what_prose_says_is_met_by_the_names_that_libraries_give_it(question, aspect, names):
    assert names <= spoken(question)[aspect]


def test_a_question_without_an_aspect_crosses_nothing():
    assert vocabulary().crossed("who wrote it?") == ()
    assert vocabulary().crossed("") == ()


def test_a_phrase_is_crossed_whole_and_by_its_longest_form():
    table = {"aspects": {"schedule": [{"asked": ["rate", "learning rates"], "code": ["base_lr"]}, {"asked": ["learning curve"], "code": ["plot"]}]}}
    (only,) = bridges_of(table)[:1]
    assert only.asked == (("rat",), ("learn", "rat"))
    assert [one.by for one in vocabulary().crossed("its learning rate") if one.bridge.aspect == "schedule"] == [("learn", "rat")]


def test_an_identifier_is_looked_for_whole():
    assert (whole("trunc_normal_"), whole("AdamW"), whole("betas"), whole("the"), whole("_")) == ("truncnormal", "adamw", "beta", "", "")


def test_every_entry_of_the_packaged_vocabulary_can_be_asked_and_found():
    assert len(vocabulary().bridges) > 100
    assert all(bridge.asked and bridge.code for bridge in vocabulary().bridges)


def test_a_users_file_adds_entries_and_aspects(tmp_path):
    file = tmp_path / "words.json"
    file.write_text(json.dumps({"aspects": {"chemistry": [{"asked": ["conformers"], "code": ["EmbedMultipleConfs"]}]}}))
    more = vocabulary(file)
    assert more.crossed("how many conformers?") == (Crossing(more.bridges[-1], ("conformer",)),)
    assert more.bridges[:-1] == vocabulary().bridges


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"aspects": 3}', '{"aspects": {"a": [{"asked": "x", "code": ["y"]}]}}', '{"aspects": {"a": [3]}}', "[" * 100_000]
)
def test_a_file_of_another_form_is_refused_by_name(tmp_path, text):
    file = tmp_path / "words.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match="setting vocabulary: .*words.json cannot be read"):
        vocabulary(file)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        vocabulary(tmp_path / "none.json")
