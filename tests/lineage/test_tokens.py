"""Words of code and prose have to meet."""

from __future__ import annotations

import sqlite3

import pytest

from lineage.text import tokens
from lineage.text.tokens import fold, fts_any, number, parts, stem, terms


@pytest.mark.parametrize("written", ["initWeights", "init_weights", "_init_weights", "InitWeights", "INIT_WEIGHTS"])
def test_one_identifier_in_any_spelling_gives_its_parts_and_itself_whole(written):
    assert tokens.tokens(written) == ["init", "weight", "initweights"]


def test_prose_meets_the_parts_of_an_identifier():
    assert set(tokens.tokens("init weights")) <= set(tokens.tokens("self._initWeights()"))


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("BatchNorm2d", ["batch", "norm", "2d"]),
        ("HTTPServer", ["http", "server"]),
        ("x86_64", ["x", "86", "64"]),
        ("__call__", ["call"]),
        ("conv1x1", ["conv", "1x", "1"]),
        ("224px", ["224", "px"]),
        ("10k", ["10k"]),
        ("640x480", ["640x", "480"]),
    ],
)
def test_identifiers_split_at_case_digits_and_underscores(word, pieces):
    assert parts(word) == pieces


def test_dotted_names_give_every_part():
    assert tokens.tokens("torch.nn.Linear") == ["torch", "nn", "linear"]


@pytest.mark.parametrize("written", ["1e-4", "0.0001", "1.0e-04", "1E-4"])
def test_one_value_in_any_spelling_is_one_token(written):
    assert tokens.tokens(written) == ["n0p0001"]


def test_whole_numbers_stay_as_they_are():
    assert tokens.tokens("batch 256") == ["batch", "256"]


def test_a_number_that_is_none_gives_nothing():
    assert number("x") == ""


@pytest.mark.parametrize("word", ["initialize", "initialized", "initialise", "initialising", "initialization", "initialisation", "initializers"])
def test_inflections_and_spellings_share_a_stem(word):
    assert stem(word) == "initializ"


@pytest.mark.parametrize(
    ("one", "other"),
    [("layers", "layer"), ("running", "run"), ("losses", "loss"), ("biases", "bias"), ("passes", "pass"), ("normalised", "normalisation")],
)
def test_related_words_share_a_stem(one, other):
    assert stem(one) == stem(other)


def test_short_words_and_words_of_other_scripts_are_left_alone():
    assert [stem("lr"), stem("bias"), stem("größe")] == ["lr", "bias", "größe"]


def test_accents_and_compatibility_forms_fold_away():
    assert fold("Ｌayer naïve ﬁne") == "Layer naive fine"


def test_chinese_text_is_cut_into_characters():
    assert tokens.tokens("学习率") == ["学", "习", "率"]


def test_a_question_keeps_the_words_that_carry_meaning():
    assert terms("How are the weights of the encoder initialised?") == ["weight", "encoder", stem("initialised")]


def test_a_question_of_stop_words_alone_keeps_them():
    assert terms("what is it?") == ["what", "is", "it"]


def test_terms_are_capped():
    assert len(terms(" ".join(f"word{n}x" for n in range(1000)))) == tokens.MAX_TERMS


def test_a_flood_is_cut_and_stays_linear():
    assert len(tokens.tokens("a " * 100_000)) == tokens.MAX_TOKENS
    assert len(tokens.tokens("aB" * 200_000)) < 2_000


@pytest.mark.parametrize("hostile", ['a" OR b', "NEAR(a b, 3)", "body: x", "x*", "-x", "^x", "a AND NOT b", "'; DROP TABLE chunks; --", "\x00"])
def test_no_operator_passes_into_the_full_text_engine(hostile):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(body)")
    db.execute("INSERT INTO t VALUES ('zebra')")
    expression = fts_any(terms(hostile))
    assert set(expression) <= set('abcdefghijklmnopqrstuvwxyz0123456789" OR')
    if expression:
        assert db.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall() == []


def test_variants_are_what_programmers_make_of_words():
    found = tokens.variants("How are batch norm weights initialised?")
    assert found[:2] == ["batchnorm", "normweights"]
    assert {"init", "ini"} <= set(found)
    assert "wei" in found
    assert "how" not in found


def test_variants_are_bounded_and_plain():
    found = tokens.variants(" ".join(f"{a}{b}mnopqrst" for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz"))
    assert len(found) == tokens.MAX_VARIANTS
    assert all(form.isalnum() for form in tokens.variants('x" OR y* (batch norm)'))
    assert tokens.fts_any(["a", 'b"', "c d"]) == '"a"'


def test_a_question_without_words_gives_no_expression():
    assert fts_any(terms("?! …")) == ""


def test_numbers_are_tokens_of_their_own_and_not_kept():
    before = tokens._known.cache_info().currsize
    assert tokens.tokens(" ".join(str(n) for n in range(100))) == [str(n) for n in range(100)]
    assert tokens._known.cache_info().currsize == before
