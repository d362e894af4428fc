"""Records of one work are one record, whatever the order they come in: the more specific wins, field by field."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Work, WorkId
from lineage.references.same_work import merge_all, merge_works, true_year

WORK = Work(WorkId("doi:10.1/a"))


@pytest.mark.parametrize(
    ("field", "kept", "left"),
    [
        ("title", "Deep residual learning", "Deep residual learn..."),
        ("title", "Deep residual learning for images", "Deep residual learning"),
        ("title", "SciBERT: a model", "Scibert: a model"),
        ("title", "SciBERT: A model", "SCIBERT: A MODEL"),
        ("title", "Deep Learning", "deep learning"),
        ("title", "Mobius strips", r"M\"obius strips"),
        ("authors", ("Ada Lovelace", "Bob Smith"), ("Ada Lovelace", "others", "et al.")),
        ("authors", ("Ada Lovelace",), ("A. Lovelace",)),
        ("venue", "NeurIPS", "arXiv preprint arXiv:1512.03385"),
        ("venue", "Conference on Vision", "CVPR"),
        ("venue", "CoRR", ""),
        ("abstract", "We do this and that.", "We do"),
        ("year", 2015, 2016),
        ("year", 2015, None),
        ("license", "CC-BY-4.0", None),
        ("license", "CC-BY-4.0", "CCBY"),
    ],
)
def test_of_two_values_the_more_specific_is_kept(field: str, kept: object, left: object) -> None:
    one, other = replace(WORK, **{field: kept}), replace(WORK, **{field: left})
    assert getattr(merge_works(one, other), field) == getattr(merge_works(other, one), field) == kept


@pytest.mark.parametrize(
    ("one", "other", "kept"), [(None, "a", "a"), ("b", 3, 3), (3, 4, 4), ("ab", "b", "ab"), ("a", "b", "b"), (False, True, True), (None, None, None)]
)
def test_of_what_is_noted_of_a_work_the_larger_counts(one: object, other: object, kept: object) -> None:
    a, b = replace(WORK, meta={"x": one}), replace(WORK, meta={"x": other})  # type: ignore[dict-item]
    assert merge_works(a, b).meta == merge_works(b, a).meta == {"x": kept}


def test_the_surest_identifier_names_the_work_and_a_made_up_one_goes() -> None:
    names = ["url:1", "ref:1", "local:1", "repo:github.com/a/b", "s2:1", "acl:P19-1001", "doi:10.1/a", "arxiv:1911.02782"]
    merged = merge_all(Work(WorkId(name)) for name in names)
    assert (merged.id, *merged.aliases) == ("arxiv:1911.02782", "doi:10.1/a", "acl:P19-1001", "s2:1", "repo:github.com/a/b", "url:1", "local:1")
    assert merge_works(Work(WorkId("x:1")), Work(WorkId("ref:1"))).id == "ref:1"


def test_what_one_takes_for_a_paper_is_one() -> None:
    code = replace(WORK, kind="code")
    assert [merge_works(code, code).kind, merge_works(code, WORK).kind] == ["code", "paper"]


@pytest.mark.parametrize(("year", "true"), [(1911, 2019), (2019, 2019), (2020, 2020), (None, None)])
def test_the_head_of_an_arxiv_number_is_no_year(year: int | None, true: int | None) -> None:
    assert true_year(year, ["doi:10.1/a", "arxiv:1911.02782"]) == true  # type: ignore[list-item]
    assert true_year(year, ["doi:10.1/a", "arxiv:hep-th/9901001"]) == year  # type: ignore[list-item]


NAMES = st.sampled_from(["arxiv:1911.02782", "doi:10.1/a", "s2:1", "ref:1", "ref:2"])
WORKS = st.builds(
    Work,
    NAMES,
    st.sampled_from(["paper", "code"]),
    title=st.sampled_from(["", "Deep learning", "deep learning", "Deep learn...", r"Deep\o learning", "DEEP LEARNING"]),
    authors=st.lists(st.sampled_from(["Ada Lovelace", "A. L.", "others"]), max_size=2).map(tuple),
    year=st.sampled_from([None, 1911, 2019, 2020]),
    venue=st.sampled_from(["", "CoRR", "ICLR", "arXiv"]),
    aliases=st.lists(NAMES, max_size=2).map(tuple),
    license=st.sampled_from([None, "", "MIT"]),
    said_by=st.lists(st.sampled_from(["a", "b"]), max_size=2).map(tuple),
    meta=st.dictionaries(st.sampled_from("xy"), st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "a", "b"]), max_size=2),
)


@settings(max_examples=30, deadline=None)
@given(WORKS, WORKS, WORKS)
def test_joining_does_not_depend_on_order_or_repetition(one: Work, other: Work, third: Work) -> None:
    assert merge_works(one, other) == merge_works(other, one)
    assert merge_works(merge_works(one, other), third) == merge_works(one, merge_works(other, third))
    joined = merge_works(one, other)
    assert merge_works(joined, other) == merge_works(joined, joined) == joined
