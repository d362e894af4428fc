"""Identifiers: what is understood, what is refused, what is one and the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage import ids
from lineage.errors import BadIdentifier, LineageError
from lineage.ids import Target


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arxiv:2504.17192", Target("arxiv:2504.17192", lookup="ARXIV:2504.17192")),
        ("arXiv:2504.17192v2", Target("arxiv:2504.17192", "v2", lookup="ARXIV:2504.17192")),
        ("2504.17192", Target("arxiv:2504.17192", lookup="ARXIV:2504.17192")),
        ("hep-th/9901001", Target("arxiv:hep-th/9901001", lookup="ARXIV:hep-th/9901001")),
        ("https://arxiv.org/abs/2504.17192", Target("arxiv:2504.17192", lookup="ARXIV:2504.17192")),
        ("https://arxiv.org/pdf/2504.17192v1.pdf", Target("arxiv:2504.17192", "v1", lookup="ARXIV:2504.17192")),
        ("http://www.arxiv.org/html/2504.17192v1", Target("arxiv:2504.17192", "v1", lookup="ARXIV:2504.17192")),
        ("doi:10.1038/NATURE14539", Target("doi:10.1038/nature14539", lookup="DOI:10.1038/nature14539")),
        ("https://doi.org/10.48550/arXiv.2504.17192", Target("arxiv:2504.17192", lookup="ARXIV:2504.17192")),
        ("https://aclanthology.org/2020.acl-main.207/", Target("acl:2020.acl-main.207", lookup="ACL:2020.acl-main.207")),
        ('"Adam"', Target(title="Adam", lookup="Adam")),
        ("Attention Is All You Need", Target(title="Attention Is All You Need", lookup="Attention Is All You Need")),
    ],
)
def test_a_target_is_understood_in_every_form_that_people_paste(text, expected):
    assert ids.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "   ", "adam", "arxiv:nonsense", "arxiv:2599.17192", "doi:hello", "https://example.org/paper.pdf", "a\x00b c", "x y " * 1000, "http://[::1"],
)
def test_what_is_no_target_is_refused_with_a_hint_or_a_reason(text):
    with pytest.raises(BadIdentifier):
        ids.parse(text)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/DequanWang/tent", "repo:github.com/DequanWang/tent"),
        ("github.com/DequanWang/tent.git", "repo:github.com/DequanWang/tent"),
        ("git@github.com:DequanWang/tent.git", "repo:github.com/DequanWang/tent"),
        ("http://www.github.com/DequanWang/tent/tree/main/src?x=1#readme", "repo:github.com/DequanWang/tent"),
        ("https://gitlab.com/a/b", "repo:gitlab.com/a/b"),
    ],
)
def test_a_repository_has_one_identifier_however_its_url_is_spelled(url, expected):
    assert ids.repo_id(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "and/or",
        "https://github.com/owner",
        "https://github.com/features/actions",
        "https://github.com@127.0.0.1/a/b",
        "https://user:secret@github.com/a/b",
        "https://github.com:8080/a/b",
        "https://github.com.evil.org/a/b",
        "https://127.0.0.1/a/b",
        "file://github.com/a/b",
        "https://github.com/../..",
        "https://github.com/-u/b",
    ],
)
def test_what_is_no_repository_of_a_known_forge_gives_no_identifier(url):
    assert ids.repo_id(url) is None


def test_titles_are_the_same_whatever_their_case_accents_and_punctuation():
    assert ids.normal_title("Böhm & Co.: A  Study—Again!") == "bohm co a study again"


def test_a_title_without_latin_letters_stays_itself():
    assert ids.normal_title("注意力 机制") == "注意力 机制"


@pytest.mark.parametrize("name", ["../up", "a/b", "", "..", ".hidden", "a" * 81, "a\nb"])
def test_a_name_that_could_leave_the_store_is_refused(name):
    with pytest.raises(BadIdentifier):
        ids.check_name(name)


def test_a_lineage_is_named_after_its_target():
    assert ids.slug("arxiv:hep-th/9901001") == "arxiv-hep-th-9901001"


@given(st.text(max_size=300))
def test_any_text_is_a_target_or_a_refusal(text):
    try:
        target = ids.parse(text)
    except LineageError:
        return
    assert bool(target.id) != bool(target.title)


@pytest.mark.parametrize("text", ['"', '""', "'“”'", ' " '])
def test_quotes_around_nothing_are_no_title(text):
    with pytest.raises(BadIdentifier):
        ids.parse(text)
