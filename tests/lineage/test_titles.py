"""Titles as they are written, and what of them tells two works apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.text.titles import harmless, marked, numbers, plain, title_key


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (r"{BERT}: Pre-training of {D}eep \emph{bidirectional} transformers.", "BERT: Pre-training of Deep bidirectional transformers"),
        (r"Search \& rescue of $k$-means~clusters", "Search & rescue of k-means clusters"),
        ("Attention &amp; memory", "Attention & memory"),
        ("H<sub>2</sub>O at <i>night</i>", "H2O at night"),
        ("``Quoted'' words", 'Quoted" words'),
        ("“Quoted words”,", "Quoted words"),
        ("Deep learning. arXiv preprint arXiv:1512.03385, 2015", "Deep learning"),
        ("Deep learning (arXiv e-prints, 2015)", "Deep learning"),
        ("Deep learning. arXiv preprint hep-th/9901001", "Deep learning"),
        ("Mining the arXiv dataset", "Mining the arXiv dataset"),
        ("Deep learning. In CoRR", "Deep learning"),
        ("Deep learning, 2015", "Deep learning"),
        ("Deep learning. (2015a)", "Deep learning"),
        ("Blade Runner 2049", "Blade Runner 2049"),
        ("A preprint server for all", "A preprint server for all"),
        ("Deep resid…", "Deep resid"),
        ("Deep resid...", "Deep resid"),
        ("", ""),
        ("...", ""),
    ],
)
def test_a_title_is_read_without_markup_tail_and_cut(written: str, title: str) -> None:
    assert plain(written) == title


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Static analysis of C++", "Static analysis of C", False),
        ("C# in depth", "C in depth", False),
        ("Planning with A* search", "Planning with a search", False),
        ("Search & rescue", "Search and rescue", True),
        ("Pre-training", "Pretraining", True),
        ("Fréchet means", "FRECHET MEANS", True),
    ],
)
def test_signs_that_name_something_else_stay(one: str, other: str, same: bool) -> None:
    assert (title_key(one).compact == title_key(other).compact) is same


@pytest.mark.parametrize(
    ("title", "main"),
    [
        ("SciBERT: A language model", "scibert"),
        ("SciBERT - a language model", "scibert"),
        ("SciBERT—a language model", "scibert"),
        ("Did he? a benchmark", "didhe"),
        ("Fine-tuning language models", ""),
        ("AB: letters", ""),
        ("ABC: letters", "abc"),
        ("Ratio 3:1 in practice", ""),
    ],
)
def test_what_stands_before_a_subtitle_is_the_main_title(title: str, main: str) -> None:
    assert title_key(title).main == main


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("GPT-2 and ResNet50", ("2", "50")),
        ("Part II", ("ii",)),
        ("I, robot", ()),
        ("Learning in two steps", ("two",)),
        ("The first of many", ("first",)),
        ("Version 2.0", ("0", "2")),
        ("Without any", ()),
    ],
)
def test_everything_that_counts_or_versions_is_a_number(title: str, found: tuple[str, ...]) -> None:
    assert title_key(title).numbers == found


@pytest.mark.parametrize(
    ("extra", "is_harmless"),
    [
        (("a", "language", "model"), True),
        ((), True),
        (("part",), False),
        (("a", "reply"), False),
        (("ii",), False),
        (("v", "2"), False),
        (("three",), False),
    ],
)
def test_words_of_a_sequel_are_no_subtitle(extra: tuple[str, ...], is_harmless: bool) -> None:
    assert harmless(extra) is is_harmless


@pytest.mark.parametrize(
    ("word", "name"), [("SciBERT", True), ("YOLOv3", True), ("GPT", True), ("AI", False), ("Deep", False), ("deep", False), ("k2", False)]
)
def test_a_name_has_capitals_or_digits_inside(word: str, name: bool) -> None:
    assert marked(word) is name


@pytest.mark.parametrize(
    ("title", "distinctive"),
    [("Deep learning", False), ("Introduction", False), ("A of to", False), ("Deep image models", True), ("A deep image net", False)],
)
def test_three_words_of_fourteen_letters_are_hardly_chance(title: str, distinctive: bool) -> None:
    assert title_key(title).distinctive() is distinctive


@pytest.mark.parametrize("title", ["Deep resid…", "Deep resid...", "Deep resid...  "])
def test_a_cut_end_shows(title: str) -> None:
    assert title_key(title).cut
    assert not title_key("Deep resid. ").cut


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_title_has_a_key_of_letters_and_digits(title: str) -> None:
    key = title_key(title)
    assert key.compact == "".join(key.words)
    assert key.numbers == numbers(key.words)
    assert key.compact == "" or key.compact.isalnum() or not key.compact.isascii()
    assert title_key("  " + title + "  ").compact == key.compact
