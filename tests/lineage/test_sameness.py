"""When two descriptions are of one work: the rules one by one, and that no side comes first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Work, WorkId
from lineage.references.same_work import Facts, authors_agree, by_id, by_title, facts, years_agree


def known(title: str, *authors: str, year: int | None = 2020, ids: tuple[str, ...] = ("ref:0",)) -> Facts:
    return facts(Work(WorkId(ids[0]), title=title, authors=authors, year=year, aliases=tuple(map(WorkId, ids[1:]))))


ADA, BOB = "Ada Lovelace", "Bob Smith"
LONG = "Deep residual learning for image recognition"


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("Ada Lovelace", "Lovelace, A.", True),
        ("A. Lovelace", "Lovelace", True),
        ("Ada Lovelace", "Lovelace Ada", True),
        ("José García", "J. Garcia", True),
        ("M. Wołczyk", "M. Wolczyk", True),
        (r"Kurt G{\"o}del", "Kurt Gödel", True),
        ("Martin Luther King Jr.", "King, M. L.", True),
        ("Sammy Davis, Jr", "Davis, Sammy", True),
        ("Ludwig van Beethoven", "van Beethoven, L.", True),
        ("Wang Wei", "Wei Wang", True),
        ("Ada Lovelace", "Bob Smith", False),
        ("Ada Lovelace", "Ada Byron", False),
        ("DeepSeek-AI", "Daya Guo", None),
        ("OpenAI", "Josh Achiam", None),
        ("Gemini Team", "Rohan Anil", None),
        ("OpenAI", "OpenAI", True),
        ("", "Ada Lovelace", None),
        ("others", "Ada Lovelace", None),
        ("李明", "李明", True),
    ],
)
def test_first_authors_are_compared_as_bibliographies_write_them(one: str, other: str, agree: bool | None) -> None:
    assert authors_agree(known(LONG, one), known(LONG, other)) is agree
    assert authors_agree(known(LONG, other), known(LONG, one)) is agree


@pytest.mark.parametrize(("one", "other", "near"), [(2020, 2022, True), (2020, 2023, False), (2023, 2020, False), (None, 1990, True)])
def test_years_are_near_within_two(one: int | None, other: int | None, near: bool) -> None:
    assert years_agree(known(LONG, year=one), known(LONG, year=other)) is near


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (known(LONG, ADA), known(LONG, ADA), "same title and first author, 2020"),
        (known(LONG, ADA), known(LONG, ADA, year=2018), "same title and first author, 2020 and 2018"),
        (known(LONG, ADA), known(LONG, ADA, year=2017), ""),
        (known(LONG, ADA), known(LONG, ADA, year=None), "same title and first author"),
        (known(LONG, ADA, BOB), known(LONG, ADA, "Carl Gauss"), ""),
        (known(LONG, ADA, BOB), known(LONG, ADA, "Carl Gauss", BOB), "same title and first author, 2020"),
        (known(LONG), known(LONG, ADA), "same title, authors not given by both, 2020"),
        (known(LONG), known(LONG, ADA, year=2018), "same title, authors not given by both, 2020 and 2018"),
        (
            known("Deep learning of very large graphs"),
            known("Deep learning of very large graphs", year=2018),
            "same title, authors not given by both",
        ),
        (known("Deep learning on graphs"), known("Deep learning on graphs", year=2021), "same title, authors not given by both, 2020 and 2021"),
        (known("Deep learning on graphs"), known("Deep learning on graphs", year=2022), ""),
        (known("Deep learning on graphs"), known("Deep learning on graphs", year=None), ""),
        (known("Deep learning", ADA), known("Deep learning", ADA), "same title and first author, 2020"),
        (known("Deep learning", ADA), known("Deep learning", ADA, year=None), ""),
        (known("Deep learning"), known("Deep learning"), ""),
        (known(LONG, ADA, ids=("doi:10.1/a",)), known(LONG, ADA, ids=("doi:10.1/b",)), "same title and first author, 2020"),
        (known("Deep learning", ADA, ids=("doi:10.1/a",)), known("Deep learning", ADA, ids=("doi:10.1/b",)), ""),
        (known(LONG, ids=("doi:10.1/a",)), known(LONG, ids=("doi:10.1/b",)), ""),
        (known(LONG, ADA, ids=("arxiv:2001.00001",)), known(LONG, ADA, ids=("arxiv:2001.00002",)), ""),
        (known("", ADA), known("", ADA), ""),
        (known(LONG, ADA), known(LONG, BOB), ""),
    ],
)
def test_equal_titles_need_what_else_is_known_to_agree(one: Facts, other: Facts, reason: str) -> None:
    assert by_title(one, other).startswith(reason)
    assert bool(by_title(one, other)) is bool(reason) is bool(by_title(other, one))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (known("SciBERT", ADA), known("SciBERT: A language model for science", ADA), "without the subtitle"),
        (known("SciBERT", ADA), known("SciBERT: A language model for science", BOB), ""),
        (known("SciBERT", ADA), known("SciBERT: A language model for science", ADA, year=2024), ""),
        (known("SciBERT", ADA), known("SciBERT: A reply", ADA), ""),
        (known("SciBERT", ADA), known("SciBERT: Part II", ADA), ""),
        (known("Attention", ADA), known("Attention: A language model for science", ADA), ""),
        (known("Attention", ADA, BOB), known("Attention: A language model for science", ADA, BOB), "without the subtitle"),
        (known("Attention", ADA, BOB), known("Attention: A language model for science", ADA, BOB, year=2021), ""),
        (known("Deep residual learning for imag", ADA), known(LONG, ADA), "is the beginning of the other"),
        (known("Deep residual learning...", ADA), known(LONG, ADA), "is the beginning of the other"),
        (known("Deep residual learning", ADA), known(LONG, ADA), ""),
        (known("Deep residual learning", ADA, BOB), known(f"{LONG} in medicine", ADA, BOB), ""),
        (known("Deep residual learning for image", ADA, BOB), known(LONG, ADA, BOB), "is the beginning of the other"),
        (known("Deep residual learning for image", ADA, BOB), known(LONG, ADA, BOB, year=2022), ""),
        (known("Deep residual learning for image recogntion", ADA), known(LONG, ADA), "slip of the pen (recogntion / recognition"),
        (known("Deep residual learning in image recognition", ADA), known(LONG, ADA), "slip of the pen"),
        (known("Deep residual learning for the image recognition", ADA), known(LONG, ADA), "slip of the pen"),
        (known("Deep rezidual learning for imgae recognition", ADA), known(LONG, ADA), "slip of the pen"),
        (known("Deep residual learning for imgae recogniton", ADA), known(LONG, ADA), ""),
        (known("Deep residual teaching for image recognition", ADA), known(LONG, ADA), ""),
        (known("Deep rezidual lerning for imagge recognition", ADA), known(LONG, ADA), ""),
        (known("Deep residual learning for image recogntion"), known(LONG, ADA), ""),
        (known("Scaling of lows", ADA), known("Scaling of laws", ADA), ""),
    ],
)
def test_titles_that_differ_join_only_where_it_can_be_seen_why(one: Facts, other: Facts, reason: str) -> None:
    assert reason in by_title(one, other)
    assert bool(by_title(one, other)) is bool(reason) is bool(by_title(other, one))


@pytest.mark.parametrize(
    ("one", "other", "reason", "sure"),
    [
        (known(LONG, ADA, ids=("doi:10.1/a",)), known(LONG, ADA, ids=("doi:10.1/a",)), "same DOI 10.1/a", True),
        (known("Deep learning", ADA, ids=("arxiv:2001.00001",)), known("A cookbook", BOB, ids=("arxiv:2001.00001",)), "same arXiv identifier", False),
        (known("Deep learning", ADA, ids=("arxiv:2001.00001",)), known("A cookbook", ADA, ids=("arxiv:2001.00001",)), "same arXiv identifier", True),
        (known("Deep learning", ADA, ids=("arxiv:2001.00001",)), known("A cookbook", ids=("arxiv:2001.00001",)), "same arXiv identifier", True),
        (known("Deep learning", ADA, ids=("arxiv:2001.00001",)), known("", BOB, ids=("arxiv:2001.00001",)), "same arXiv identifier", True),
        (known(LONG, ADA, ids=("s2:" + "a" * 40,)), known(LONG, ids=("x", "s2:" + "a" * 40)), "same Semantic Scholar id", True),
        (known(LONG, ids=("repo:github.com/a/b",)), known(LONG, ids=("repo:github.com/a/b",)), "same repository github.com/a/b", True),
        (known(LONG, ids=("ref:1",)), known(LONG, ids=("ref:1",)), "", False),
        (known(LONG, ids=("local:1",)), known(LONG, ids=("local:1",)), "", False),
    ],
)
def test_a_common_identifier_is_believed_unless_title_and_author_both_contradict(one: Facts, other: Facts, reason: str, sure: bool) -> None:
    said, certain = by_id(one, other)
    assert said.startswith(reason)
    assert bool(said) is bool(reason)
    assert certain is sure


WORDS = st.sampled_from(["deep", "learning", "Learning:", "of", "the", "GPT-2", "GPT-3", "networks", "netwroks", "part", "II", "…", "a", "images"])
WORKS = st.builds(
    Work,
    st.sampled_from(["arxiv:2001.00001", "arxiv:2001.00002", "doi:10.1/a", "ref:1"]),
    title=st.lists(WORDS, max_size=7).map(" ".join),
    authors=st.lists(st.sampled_from([ADA, BOB, "Lovelace, A.", "OpenAI", "others"]), max_size=3).map(tuple),
    year=st.sampled_from([None, 2018, 2020, 2021]),
)


@settings(max_examples=40, deadline=None)
@given(WORKS, WORKS)
def test_neither_side_comes_first(one: Work, other: Work) -> None:
    a, b = facts(one), facts(other)
    assert authors_agree(a, b) is authors_agree(b, a)
    assert by_id(a, b) == by_id(b, a)
    assert bool(by_title(a, b)) is bool(by_title(b, a))


@settings(max_examples=30, deadline=None)
@given(WORKS, WORKS)
def test_different_arxiv_numbers_or_numerals_are_never_one_work(one: Work, other: Work) -> None:
    a, b = facts(one), facts(other)
    if a.key.numbers != b.key.numbers or (a.arxiv and b.arxiv and a.arxiv != b.arxiv):
        assert by_title(a, b) == ""
