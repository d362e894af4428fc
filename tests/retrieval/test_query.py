"""What may be asked, and what is refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import UsageError
from lineage.records import Query
from retrieval.search.query import beginning, make_query, plain


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


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" " * 5000 + "which optimiser?", "which optimiser?"),
        ("\n" * 5000, ""),
        ("\u3000 \t " * 1500 + "word", "word"),
        ("x" * 4096, "x" * 4096),
        (" " + "x" * 4096, "x" * 4096),
        ("x" * 4097, "x" * 4096),
        ("\ud800" * 2000, ""),
    ],
    ids=["blanks first", "blanks alone", "other blanks", "all of it", "fits without its blanks", "one word", "nothing that can be sent"],
)
def test_blanks_and_what_has_no_words_can_be_cut_too(text, kept):
    assert beginning(text)[0] == kept


@given(st.text(st.sampled_from("ab é学\n\u2028"), max_size=60), st.integers(1, 200))
@settings(max_examples=25, deadline=None)
def test_what_is_kept_of_a_long_text_is_its_beginning_and_no_more_than_may_be_asked(piece, times):
    text = piece * times
    kept, notes = beginning(text)
    assert len(kept.encode()) <= 4096
    assert bool(notes) == (len(text.strip().encode()) > 4096)
    assert text.strip().startswith(kept)
    assert beginning(kept) == (kept, ())


@given(st.text(max_size=200))
@settings(max_examples=25, deadline=None)
def test_a_text_is_a_question_or_refused_and_then_it_is_the_same_question_again(text):
    try:
        made = make_query(text)
    except UsageError:
        return
    assert made.text == text.strip() != ""
    assert make_query(made.text) == made


@given(
    st.lists(st.sampled_from(["\\", "cite", "{", "}", "[", "]", "%", "a", " ", "\n", "\\textbf", "\\begin{x}", "\\alpha"]), max_size=40).map("".join)
)
@settings(max_examples=25, deadline=None)
def test_no_latex_is_left_that_a_search_could_trip_over_and_nothing_becomes_nothing(text):
    made = plain(text)
    assert "\\" not in made or made == text
    assert made.strip() or not text.strip() or made == text
    assert plain(made) == made or made == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (r"see \cref{sec:a} and \eqref*{eq:1}, \citep[p.~3]{x,y}", "see and , "),
        (r"rate 50\% of $\beta_1$", "rate 50 % of $ beta_1$"),
        (r"\leftarrow keeps its name, \left( does not", "leftarrow keeps its name, ( does not"),
        (r"\subsubsection*{Setup} we use \texttt{Adam}", "{Setup} we use {Adam}"),
        (r"\begin{tabular}[t]{ll} a & b", "{ll} a & b"),
        (r"\cite{a}", r"\cite{a}"),
    ],
)
def test_what_latex_says_stays_and_what_it_refers_to_goes(text, left):
    assert plain(text).strip() == left.strip()


def test_the_work_and_the_defaults_of_a_question():
    asked = make_query("x", work="  dequanwang/tent ")
    assert (asked.work, asked.k, asked.no_target_code, asked.around) == ("dequanwang/tent", 10, False, True)
    assert make_query("x", k=1).k == 1
    assert make_query("x", k=100).k == 100


def test_of_several_unknown_kinds_the_first_by_name_is_told():
    with pytest.raises(UsageError, match="'audio'"):
        make_query("x", kinds=["paper", "video", "film", "audio"])
