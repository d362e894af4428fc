"""arXiv numbers, DOIs and years out of whatever an entry prints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.ids import arxiv_alone, arxiv_doi, arxiv_in, doi_in, year_in


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("arXiv preprint arXiv:1512.03385v2, 2015", "1512.03385"),
        ("arXiv e-prints, page arXiv:1706.03762", "1706.03762"),
        ("https://arxiv.org/abs/1706.03762", "1706.03762"),
        ("https://arxiv.org/pdf/1706.03762v5.pdf", "1706.03762"),
        ("CoRR, abs/1412.6980", "1412.6980"),
        ("CoRR 1412.6980", "1412.6980"),
        ("ArXiv: hep-th/9901001", "hep-th/9901001"),
        ("arXiv:math.GT/0309136", "math.GT/0309136"),
        ("Phys. Rev. D 71 [astro-ph/0412269]", "astro-ph/0412269"),
        ("Phys. Rev. D 71 [2301.00001]", "2301.00001"),
        ("Phys. Rev. D 71 (2301.00001)", None),
        ("arXiv:1706.037621", None),
        ("pages 1706.03762", None),
        ("the arXiv of 2015", None),
        ("", None),
    ],
)
def test_a_number_counts_where_the_text_calls_it_arxivs(text: str, number: str | None) -> None:
    assert arxiv_in(text) == number


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("1706.03762", "1706.03762"),
        (" arXiv : 1706.03762v3 ", "1706.03762"),
        ("hep-th/9901001v2", "hep-th/9901001"),
        ("1713.03762", None),
        ("https://arxiv.org/abs/1706.03762", "1706.03762"),
        ("10.1000/x", None),
    ],
)
def test_a_field_of_its_own_needs_no_word_before_it(field: str, number: str | None) -> None:
    assert arxiv_alone(field) == number


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("doi:10.1109/TIT.1967.1053964.", "10.1109/TIT.1967.1053964"),
        ("(https://doi.org/10.1038/nature14539).", "10.1038/nature14539"),
        ("10.48550/arXiv.1706.03762 and 10.1038/nature14539", "10.1038/nature14539"),
        ("10.48550/ARXIV.1706.03762", None),
        ("{10.1145/3292500}", "10.1145/3292500"),
        ("110.1145/3292500", None),
        ("10.114/3292500", None),
        ("version 10.1145", None),
    ],
)
def test_the_first_doi_that_is_not_arxivs_own(text: str, doi: str | None) -> None:
    assert doi_in(text) == doi


def test_arxivs_own_doi_gives_its_number() -> None:
    assert arxiv_doi("https://doi.org/10.48550/ARXIV.1706.03762") == "1706.03762"
    assert arxiv_doi("10.48550/arXiv.hep-th/9901001") is None
    assert arxiv_doi("10.1038/nature14539") is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("In 2019 IEEE Conference, pages 1-9, 2020a.", 2019, 2020),
        ("Science 313 (1998)", 1998, 1998),
        ("pages 1901-2001", 1901, 1901),
        ("10.1000/2019 and arXiv:1999.12345", None, None),
        ("19th and 20th", None, None),
        ("1899 and 2036", None, None),
        ("12019", None, None),
        ("", None, None),
    ],
)
def test_a_year_is_no_page_identifier_or_other_number(text: str, first: int | None, last: int | None) -> None:
    assert year_in(text, last=False) == first
    assert year_in(text) == last


@given(st.text(alphabet="arxivARXIV:/. 0123456789abs-[]", max_size=60))
def test_whatever_is_found_stands_in_the_text(text: str) -> None:
    for found in (arxiv_in(text), doi_in(text)):
        assert found is None or found in text
    year = year_in(text)
    assert year is None or (str(year) in text and 1900 <= year <= 2035)
