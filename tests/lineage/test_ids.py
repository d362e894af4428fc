"""Identifiers: what is understood, what is refused, what is one and the same."""

import pytest
from hypothesis import given, settings
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


@pytest.mark.parametrize(
    ("work", "name"),
    [
        ("doi:10.1000/a..b", "doi-10.1000-a.b"),
        ("doi:10.1000/a(b)_", "doi-10.1000-a-b"),
        ("doi:10.1000/" + "x" * 100, "doi-10.1000-" + "x" * 68),
        ("repo:github.com/Ada/Engine.jl", "repo-github.com-Ada-Engine.jl"),
        ("---", "lineage"),
        ("注意", "lineage"),
    ],
)
def test_the_name_made_of_an_identifier_may_name_a_lineage(work, name):
    assert ids.check_name(ids.slug(work)) == name


@given(st.text(max_size=120))
def test_whatever_it_is_made_of_a_name_is_allowed(text):
    assert ids.check_name(ids.slug(text))


@settings(max_examples=30, deadline=None)
@given(st.from_regex(r"[a-z0-9][a-z0-9_-]{0,10}", fullmatch=True), st.from_regex(r"[A-Za-z0-9_-]{1,10}", fullmatch=True))
def test_a_repository_is_read_back_from_its_page(owner, name):
    found = ids.repo_id(f"git@github.com:{owner}/{name}.git")
    if found:
        assert ids.repo_parts(found) == ("github.com", owner, name)
        assert ids.repo_id(ids.abs_url(found)) == ids.repo_id(f"{ids.abs_url(found)}/blob/main/x.py#L1") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2504.17192v12", ("arxiv:2504.17192", "v12")),
        (" 0704.0001 ", ("arxiv:0704.0001", "")),
        ("math.GT/0309136v2", ("arxiv:math/0309136", "v2")),
        ("Hep-Th/9901001", ("arxiv:hep-th/9901001", "")),
        ("2513.17192", None),
        ("2500.17192", None),
        ("2504.17192v0", None),
        ("2504.171", None),
        ("2504.171923", None),
        ("2504.17192 and more", None),
        ("hep-th/9913001", None),
    ],
)
def test_an_arxiv_number_has_a_month_and_four_or_five_digits(text, found):
    assert ids.arxiv_id(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.1038/NATURE14539.", "doi:10.1038/nature14539"),
        ("10.48550/arXiv.2504.17192v2", "arxiv:2504.17192"),
        ("10.48550/arXiv.nonsense", None),
        ("10.103/x", None),
        ("10.1038/", None),
        ("10.1038/a b", None),
        ("doi:10.1038/a", None),
    ],
)
def test_a_doi_is_small_and_arxivs_own_is_arxivs(text, found):
    assert ids.doi_id(text) == found


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("S2:" + "A" * 40, "s2:" + "a" * 40),
        ("CorpusId: 0042", "s2:CorpusId:42"),
        ("https://www.semanticscholar.org/paper/A-Title/" + "a" * 40, "s2:" + "a" * 40),
        ("https://dx.doi.org/10.1038%2Fnature14539", "doi:10.1038/nature14539"),
        ("http://export.arxiv.org/abs/hep-th/9901001v1", "arxiv:hep-th/9901001"),
        ("https://aclanthology.org/P19-1001.pdf", "acl:P19-1001"),
    ],
)
def test_other_services_addresses_and_prefixes_are_understood(text, work):
    assert ids.parse(text).id == work


@pytest.mark.parametrize("text", ["CorpusId:", "CorpusId:x", "s2:abc", "https://aclanthology.org/venues/acl/", "https://arxiv.org/list/cs.LG/new"])
def test_addresses_of_no_paper_are_refused(text):
    with pytest.raises(BadIdentifier):
        ids.parse(text)


def test_a_reference_without_a_title_is_told_by_all_that_is_known():
    assert ids.reference_id("A long title", "x", 1, "raw") == ids.reference_id("a LONG title")
    short = [ids.reference_id("GPT", *more) for more in (("", None, ""), ("Ada", None, ""), ("", 2020, ""), ("", None, "raw"))]
    assert len(set(short)) == 4
    assert ids.reference_id("GPT", "Ada", 2020, "a  raw\nentry") == ids.reference_id("gpt", "ADA", 2020, "a raw entry")


@pytest.mark.parametrize(
    ("work", "url"),
    [
        ("arxiv:hep-th/9901001", "https://arxiv.org/abs/hep-th/9901001"),
        ("doi:10.1000/x", "https://doi.org/10.1000/x"),
        ("s2:abc", "https://www.semanticscholar.org/paper/abc"),
        ("local:0011", ""),
        ("ref:0011", ""),
    ],
)
def test_a_work_has_a_page_where_a_service_has_one(work, url):
    assert ids.abs_url(work) == url
