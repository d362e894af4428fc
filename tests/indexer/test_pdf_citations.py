"""Sentences, names and citations of printed pages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.parsers.pdf.citations import CitationSpan as Place
from indexer.parsers.pdf.citations import _choose, _each_year, _expand, _numbers, fold, mentions
from indexer.parsers.pdf.entry import parse_entry
from indexer.parsers.pdf.fields import authors_of, full_stops, is_names
from lineage.records import BibEntry, Span


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("A. Smith. A title. Proc. IEEE.", [8, 17, 29]),
        ("Smith et al. A title", [11]),
        ("Why? because. Yes? No", [12, 17]),
        ("Phys. Rev. Lett. 3", []),
        ("a.b c", []),
    ],
)
def test_full_stops_of_an_entry_are_no_abbreviations(text: str, stops: list[int]) -> None:
    assert full_stops(text, limit=9) == stops
    assert full_stops(text, limit=1) == stops[:1]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("3", ["3"]),
        ("3, 5-7", ["3", "5", "6", "7"]),
        ("3; 5 – 6", ["3", "5", "6"]),
        ("007", ["7"]),
        ("7-5", ["7", "5"]),
        ("1-31", [str(n) for n in range(1, 32)]),
        ("1-32", ["1", "32"]),
        ("4-4", ["4", "4"]),
    ],
)
def test_numbers_and_ranges_of_a_bracket(written: str, numbers: list[str]) -> None:
    assert [number for number, _, _ in _expand(written)] == numbers


LABELS = {str(n): f"ref-{n}" for n in range(1, 10)} | {"ABC+20": "abc"}


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("As in [1, 3–4].", ["ref-1", "ref-3", "ref-4"]),
        ("As in [2, Sec. 3].", ["ref-2"]),
        ("As in [12].", []),
        ("As in [1, 12].", []),
        ("In [0, 1] we see.", []),
        ("See [1] and [2], state[3] is none.", ["ref-1", "ref-2"]),
        ("See one[1] and two[2].", ["ref-1", "ref-2"]),
    ],
)
def test_a_bracket_cites_where_all_its_numbers_are_entries(text: str, keys: list[str]) -> None:
    found = list(_numbers(text, LABELS))
    assert [cite.key for cite in found] == keys
    assert all(text[cite.start : cite.end][0].isdigit() for cite in found)


def test_years_of_one_author_are_told_apart_by_letter() -> None:
    assert [year for year, _, _ in _each_year("2019a, b, 2020")] == ["2019a", "2019b", "2020"]
    one = BibEntry("one", "Smith. 2019a. One.", authors=("Ann Smith", "Bob Jones"), year=2019)
    two = BibEntry("two", "Smith. 2019b. Two.", authors=("Ann Smith", "Carl Müller"), year=2019)
    assert [_choose([one, two], "", year) for year in ("2019a", "2019b", "2019c", "2019")] == [one, two, one, one]
    assert _choose([one, two], "Muller", "2019") is two
    assert _choose([one, two], "Nobody", "2019") is one
    assert _choose([], "", "2019") is None
    assert (fold("Müller-Lüdenscheidt"), fold("O’Brien"), fold("李")) == ("mullerludenscheidt", "obrien", "")


def test_one_mention_for_each_entry_and_sentence_with_its_company() -> None:
    text = "We use [1, 2] and [1]. Then [1].\n\nOther [2]."
    at = [place for place, char in enumerate(text) if char in "12"]
    keys = {"1": "a", "2": "b"}
    found = [Place(n, n + 1, keys[text[n]]) for n in at]
    spans = [Span(0, 32, "paragraph", ("S",)), Span(34, len(text), "heading")]
    assert [(m.key, m.sentence, m.together, m.printed) for m in mentions(text, spans, found)] == [
        ("a", "We use [1, 2] and [1].", ("a", "b"), "1"),
        ("b", "We use [1, 2] and [1].", ("a", "b"), "2"),
        ("a", "Then [1].", ("a",), "1"),
    ]


@pytest.mark.parametrize(
    ("names", "are"),
    [
        ("Ann Smith, Bob Jones, and Carl de la Cruz", True),
        ("A. Smith and B. Jones (Eds.)", True),
        ("OpenAI", True),
        ("Attention is all you need", False),
        ("Smith, A., et al.", True),
        ("", False),
        ("of the", False),
        ("GPT-4 Technical Report Of 2023 And More", False),
        ("iPhone Team", True),
        ("One Two Three Four Five Six Seven Eight Nine", False),
    ],
)
def test_names_are_told_from_titles(names: str, are: bool) -> None:
    assert is_names(names) is are


@pytest.mark.parametrize(
    ("names", "people"),
    [
        ("Smith, A. B., and Jones, C.", ["A. B. Smith", "C. Jones"]),
        ("Smith AB, Jones C", ["AB Smith", "C Jones"]),
        ("Ann Smith, Bob Jones, et al.", ["Ann Smith", "Bob Jones"]),
        ("Smith, Ann and Jones, Bob", ["Ann Smith", "Bob Jones"]),
        ("Smith, A.; Jones, B.", ["A. Smith", "B. Jones"]),
        ("A. Smith und B. Jones (Hrsg.)", ["A. Smith", "B. Jones"]),
        ("", []),
    ],
)
def test_persons_of_a_list(names: str, people: list[str]) -> None:
    assert authors_of(names) == people


@pytest.mark.parametrize(
    ("raw", "field", "value"),
    [
        ("A. Smith and B. Jones. A title of three words. arXiv:2205.0 9712, 2022.", "year", 2022),
        ("Smith, A. and Jones, B. A title of words. Journal of Things, 12(3):4-5, 1999.", "venue", "Journal of Things"),
        ("Smith, A. (in press). A title of words. Journal of Things.", "title", "A title of words"),
        ("Smith, A. (in press). A title of words. Journal of Things.", "year", None),
        ("A. Smith. “Quoted title of words,” Nature, 2020. doi: 10.1038/ s41586-020-1", "doi", "10.1038/s41586-020-1"),
        ("A. Smith and B. Jones. A title of words, 2020. www.example.org/a).", "url", "www.example.org/a"),
        ("A. Smith and B. Jones. What is a title of words? Nature, 2020.", "title", "What is a title of words?"),
        ("[ABC+20] Ann Smith and Bob Jones. A title of words. In Proceedings of Things, pages 1-2, 2020.", "venue", "Proceedings of Things"),
        ("Ann Smith, editor. 2020. A title of words. Springer.", "authors", ("Ann Smith",)),
        ("Ann Smith and Bob Jones. Teaching machines with GPT. Nature, 2020.", "title", "Teaching machines with GPT"),
        ("Smith, A., and Jones, B. A survey of MRI. Journal of Things, 2020.", "venue", "Journal of Things"),
    ],
)
def test_a_field_of_a_printed_entry(raw: str, field: str, value: object) -> None:
    assert getattr(parse_entry(raw, "k"), field) == value


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["Smith, A.", "and", "A title of", "words.", "2020", "(2020)", "In Proc.", "“Quoted", "title”", "10.1000/x", ","])).map(
        " ".join
    )
)
def test_any_entry_has_fields_that_stand_in_it(raw: str) -> None:
    entry = parse_entry(raw, "k")
    assert entry.raw == raw
    assert entry.year in {None, 2020}
    assert entry.title in raw
    assert entry.venue in raw
