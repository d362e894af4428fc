"""What may be asked, and what is refused in words."""

from __future__ import annotations

import pytest

from lineage.errors import UsageError
from lineage.model import Query
from retrieval.query import beginning, make_query, plain


def test_a_question_becomes_a_value():
    assert make_query("  how is it initialised?\n", k=5, kinds=["code", "paper"], no_target_code=True) == Query(
        "how is it initialised?", 5, frozenset({"code", "paper"}), True, around=True
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("x" * 4097, "4,097 bytes"),
        ("ü" * 2049, "4,098 bytes"),
        ("a\x00b", "U+0000"),
        ("a\x1b[31m", "U+001B"),
        ("lone \ud800", "U+D800"),
    ],
)
def test_what_cannot_be_a_question_is_refused(text, words):
    with pytest.raises(UsageError) as error:
        make_query(text)
    assert words in str(error.value)


@pytest.mark.parametrize("k", [0, -1, 101])
def test_the_number_of_hits_has_bounds(k):
    with pytest.raises(UsageError, match="1 to 100"):
        make_query("x", k=k)


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="'film'") as error:
        make_query("x", kinds=["film"])
    assert error.value.hint == "kinds: paper, code, config, docs"


def test_four_kibibytes_newlines_and_other_languages_are_taken():
    assert make_query("学习率\nwie groß?").text == "学习率\nwie groß?"
    assert len(make_query("x" * 4096).text) == 4096


def test_latex_loses_its_scaffolding_and_keeps_its_words():
    text = r"\textbf{Assignment.} We assign \begin{equation} a(x) = \arg\min_k \{d(\phi(x))\} \end{equation} as \cite{he2016} % note"
    assert plain(text) == "{Assignment.} We assign a(x) = arg min_k {d( phi(x)) } as"


def test_plain_text_is_left_alone():
    assert plain("50% of   the lr") == "50% of   the lr"


def test_hostile_latex_takes_linear_time():
    assert len(plain("\\begin{" * 580)) < 4096
    assert plain("\\cite[" * 600)


def test_a_text_that_is_too_long_is_cut_at_a_word_and_that_is_said():
    text, notes = beginning("word " * 2000)
    assert len(text.encode()) <= 4096
    assert text.endswith("word")
    assert notes == ("only the first 4,094 of 10,000 characters were asked",)
    assert beginning("short") == ("short", ())
