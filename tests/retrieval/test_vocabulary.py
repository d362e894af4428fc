"""From what prose says to what code calls it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import SettingsError
from lineage.tables import MAX_BYTES as MAX_TABLE
from retrieval.search.query import Crossing, Vocabulary, bridges_of, vocabulary, whole


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


def test_every_phrase_is_found_by_the_letters_that_its_first_token_begins_with():
    words = vocabulary()
    for number, bridge in enumerate(words.bridges):
        assert all((phrase, number) in words._starting(phrase[0]) for phrase in bridge.asked)


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


def made(*rows):
    """A vocabulary of a user's file alone, behind the packaged one."""
    return bridges_of({"aspects": {"own": [{"asked": list(asked), "code": list(code)} for asked, code in rows]}})


def test_a_phrase_counts_where_all_of_its_words_stand_together(tmp_path):
    file = tmp_path / "words.json"
    file.write_text(json.dumps({"aspects": {"zoo": [{"asked": ["quokka", "quokka herd size"], "code": ["n_quokkas"]}]}}))
    words = vocabulary(file)

    def by(question):
        return [one.by for one in words.crossed(question) if one.bridge.aspect == "zoo"]

    assert by("what is the quokka herd size?") == [("quokka", "herd", "siz")]
    assert by("quokka herd size and quokkas") == [("quokka", "herd", "siz")]
    assert by("the herd size of quokkas") == [("quokka",)]
    assert by("quokka herd") == [("quokka",)]
    assert by("herd size") == []


def test_bridges_are_crossed_in_the_order_of_the_question():
    aspects = [one.bridge.aspect for one in vocabulary().crossed("which seeds, and how is it initialised?")]
    assert aspects.index("seeds") < aspects.index("initialisation")
    turned = [one.bridge.aspect for one in vocabulary().crossed("how is it initialised, and which seeds?")]
    assert turned.index("initialisation") < turned.index("seeds")


def test_phrases_and_names_of_nothing_are_left_out_and_equal_ones_are_one():
    (bridge,) = made((["Rates", "rate", "", "?!"], ["AdamW", "adamw", "the", "_", "beta"]))
    assert bridge.asked == (("rat",),)
    assert dict(bridge.code) == {"adamw": "AdamW", "beta": "beta"}


def test_a_users_file_may_be_as_large_as_is_said_and_no_larger(tmp_path):
    file = tmp_path / "words.json"
    text = json.dumps({"aspects": {"zoo": [{"asked": ["quokka"], "code": ["q"]}]}})
    file.write_text(text.ljust(MAX_TABLE))
    assert vocabulary(file).bridges[-1].aspect == "zoo"
    file.write_text(text.ljust(MAX_TABLE + 1))
    with pytest.raises(SettingsError, match="more than 4,194,304 bytes"):
        vocabulary(file)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=6),
        lambda some: st.lists(some, max_size=3) | st.dictionaries(st.sampled_from(["aspects", "asked", "code", "x"]), some, max_size=3),
        max_leaves=12,
    )
)
@settings(max_examples=25, deadline=None)
def test_any_table_is_read_or_refused_as_one_of_another_form(table):
    for one in (table, {"aspects": table}, {"aspects": {"a": table}}, {"aspects": {"a": [table]}}):
        try:
            assert all(isinstance(bridge.code, dict) for bridge in bridges_of(one))
        except ValueError:
            continue


def test_words_that_start_no_phrase_are_not_kept():
    """Of numbers and typing errors there is no end: a server that keeps them grows with each question."""
    words = Vocabulary(vocabulary().bridges)  # of its own: servers of other tests ask the shared one
    words.crossed("how is it initialized?")
    before = len(words._starts)
    words.crossed(" ".join(f"initx{n} {n}" for n in range(1000, 1100)))
    assert len(words._starts) == before
