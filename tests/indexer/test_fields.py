"""JSON whose shape nobody vouches for: a field of another type is a field that is missing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.sources.arxiv import error_entry, is_withdrawn, wanted
from indexer.sources.crossref import parse_references as crossref_references
from indexer.sources.fields import arxiv, doi, items, mapping, names, number, ordered, text, year
from indexer.sources.openalex import cited_ids, parse_work
from indexer.sources.semantic_scholar import parse_paper, parse_reference, parse_references, with_target
from lineage.errors import SourceError
from lineage.records import Status, Work, WorkId


@pytest.mark.parametrize(
    ("value", "words"),
    [("  a\n\tb\x00c ", "a b c"), (3, "3"), (2.5, "2.5"), (True, ""), (None, ""), (["a"], ""), ({"a": 1}, ""), ("\ud800x", "?x"), ("", "")],
)
def test_text_is_one_line_that_can_be_written(value: Any, words: str) -> None:
    assert text(value) == words


@pytest.mark.parametrize(
    ("value", "whole"),
    [(3, 3), ("12", 12), (" 12 ", 12), (-3, -3), (True, None), (2.0, None), ("1.5", None), (10**12, None), ("1" * 13, None), (None, None)],
)
def test_a_number_is_whole_and_within_reason(value: Any, whole: int | None) -> None:
    assert number(value) == whole


@pytest.mark.parametrize(
    ("value", "found"),
    [(2020, 2020), ("2020-05-01", 2020), ("1499", None), ("1500", 1500), ("2100", None), ("20201", None), (None, None), (True, None)],
)
def test_a_year_is_one_that_a_paper_can_have(value: Any, found: int | None) -> None:
    assert year(value) == found


def test_objects_arrays_and_names_are_what_they_are_or_empty() -> None:
    assert [mapping(value) for value in ({"a": 1}, [], "x", None)] == [{"a": 1}, {}, {}, {}]
    assert [list(items(value)) for value in ([1], {}, "xy", None)] == [[1], [], [], []]
    assert names([{"name": "Ada"}, "Bob", {"name": ""}, 5, None, {"name": ["x"]}]) == ("Ada", "Bob", "5")


def test_identifiers_come_in_one_order_and_once() -> None:
    found = [WorkId(name) for name in ("s2:CorpusId:1", "acl:P19-1", "s2:ab", "doi:10.1000/a", "arxiv:1706.03762", "doi:10.1000/a")]
    assert ordered([None, *found]) == ("arxiv:1706.03762", "doi:10.1000/a", "s2:ab", "s2:CorpusId:1", "acl:P19-1")
    assert [arxiv(value) for value in ("ARXIV:1706.03762v2", "x", 5, None)] == ["arxiv:1706.03762", None, None, None]
    assert [doi(value) for value in ("https://dx.doi.org/10.1000/A", "DOI:10.1000/a", "http://doi.org/10.1000/a", "10.1/a")] == [
        "doi:10.1000/a"
    ] * 3 + [None]


@pytest.mark.parametrize(
    ("comment", "abstract", "withdrawn"),
    [
        ("This paper has been withdrawn by the author due to an error.", "", True),
        ("Withdrawn.", "", True),
        ("", "This submission has been withdrawn by arXiv administrators.", True),
        ("12 pages", "We study how banks handle withdrawn deposits.", False),
        ("The consent was withdrawn later", "", False),
        ("", "word " * 40 + "This paper has been withdrawn by the author.", False),
        ("This paper is long. Funds were withdrawn.", "", False),
    ],
)
def test_a_submission_says_of_itself_that_it_is_withdrawn(comment: str, abstract: str, withdrawn: bool) -> None:
    assert is_withdrawn(comment, abstract) is withdrawn


def test_an_error_of_arxiv_comes_as_an_entry() -> None:
    feed = b"<feed><entry><id>https://arxiv.org/api/errors#incorrect_id_format_for_x</id></entry></feed>"
    assert error_entry(feed) == "incorrect id format for x"
    assert error_entry(b"<feed></feed>") is None
    assert wanted(["arxiv:1706.03762", "doi:10.1000/a", "arxiv:nonsense", "arxiv:1706.03762"]) == ["arxiv:1706.03762"]


PAPER = {"paperId": "a" * 40, "title": "Tent", "externalIds": {"ArXiv": "2006.10726", "CorpusId": 7, "ACL": "P19-1"}, "year": 2006}


def test_a_year_that_is_the_head_of_the_arxiv_number_is_set_right_and_what_is_missing_is_left_out() -> None:
    work = parse_paper(
        PAPER | {"openAccessPdf": {"license": "CCBY", "url": "https://x", "disclaimer": "no"}, "referenceCount": 0, "citationCount": "9"}
    )
    assert work
    assert (work.id, *work.aliases) == ("arxiv:2006.10726", "s2:" + "a" * 40, "s2:CorpusId:7", "acl:P19-1")
    assert (work.year, work.license) == (2020, "CCBY")
    assert dict(work.meta) == {"referenceCount": 0, "citationCount": 9, "pdf_url": "https://x", "notice": "no"}


@pytest.mark.parametrize(
    ("row", "venue"),
    [
        ({"venue": "ICLR", "publicationVenue": {"name": "International"}}, "ICLR"),
        ({"venue": "", "publicationVenue": {"name": "International"}, "journal": {"name": "J"}}, "International"),
        ({"journal": {"name": "J"}}, "J"),
        ({"journal": "J"}, ""),
    ],
)
def test_a_venue_is_named_by_the_first_field_that_has_one(row: dict[str, Any], venue: str) -> None:
    work = parse_paper(PAPER | row)
    assert work
    assert work.venue == venue


def test_what_a_work_was_asked_by_is_one_of_its_names() -> None:
    work = Work(WorkId("s2:" + "a" * 40), aliases=(WorkId("doi:10.1000/a"),))
    assert with_target(work, WorkId("arxiv:2006.10726")).id == "arxiv:2006.10726"
    assert with_target(work, None).aliases == ("s2:" + "a" * 40,)


def test_a_work_that_is_listed_twice_is_one_entry_with_the_mentions_of_both() -> None:
    rows = [
        {"citedPaper": PAPER, "contexts": ["We use Tent."], "intents": ["methodology"]},
        {"citedPaper": {"title": "Only a title"}},
        {"citedPaper": PAPER, "contexts": ["We use Tent.", "Tent again."], "intents": ["methodology"], "isInfluential": True},
    ]
    found = parse_references(rows, 5)
    assert [entry.entry.key for entry in found.entries] == ["s2-1", "s2-2"]
    assert [(m.key, m.sentence) for m in found.entries[0].mentions] == [("s2-1", "We use Tent."), ("s2-1", "Tent again.")]
    assert found.entries[0].influential
    assert found.status is Status.PARTIAL
    assert found.detail == "3 of the 5 references that it counts; 1 listed more than once; 1 without an identifier"
    assert parse_references(rows, 3).status is Status.OK
    assert parse_references([], 5, Status.ELIDED, "held back").detail == "held back"


def test_a_sentence_has_its_own_intents_or_those_of_the_row() -> None:
    row = {
        "citedPaper": PAPER | {"authors": [{"name": n} for n in ("A", "B", "C", "D")]},
        "contexts": ["One.", "Two.", ""],
        "intents": ["background"],
        "contextsWithIntent": [{"context": "Two.", "intents": ["methodology"]}, {"context": "Three.", "intents": []}],
    }
    entry = parse_reference(row, "k")
    assert [(m.sentence, m.intents) for m in entry.mentions] == [("One.", ("background",)), ("Two.", ("methodology",)), ("Three.", ("background",))]
    assert entry.entry.raw == "A, B, C et al.. Tent. 2006"
    assert parse_reference(None, "k").entry.note == "without a title or an identifier"


def test_a_publisher_that_keeps_its_list_is_told_from_one_that_deposited_a_part() -> None:
    def listed(**more: Any) -> Any:
        return crossref_references({"message": {"DOI": "10.1000/a", **more}})

    assert listed(**{"reference-count": 3}).status is Status.ELIDED
    assert listed(**{"reference-count": 3, "reference": [{}]}).status is Status.PARTIAL
    assert listed(**{"reference-count": 1, "reference": [{}]}).status is Status.OK
    assert listed().entries == ()
    with pytest.raises(SourceError):
        crossref_references({"message": {}})


@pytest.mark.parametrize(
    ("page", "work"),
    [
        ("https://arxiv.org/abs/2006.10726v2", "arxiv:2006.10726"),
        ("http://arxiv.org/pdf/hep-th/9901001", "arxiv:hep-th/9901001"),
        ("https://example.org/abs/2006.10726", None),
    ],
)
def test_a_preprint_is_known_by_its_page(page: str, work: str | None) -> None:
    made = parse_work({"title": "x", "locations": [{"landing_page_url": page}, None, 5]})
    assert (made and made.id) == work


def test_identifiers_of_openalex_are_taken_once_and_others_left() -> None:
    urls = ["https://openalex.org/W1", "https://openalex.org/W2", "https://openalex.org/W1", "https://openalex.org/A5", None]
    assert cited_ids({"referenced_works": urls}) == ("W1", "W2")
    assert cited_ids({"referenced_works": "W1"}) == cited_ids(None) == ()


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
KEYS = st.sampled_from(
    ["paperId", "title", "externalIds", "year", "authors", "citedPaper", "contexts", "contextsWithIntent", "intents", "openAccessPdf"]
)
ROWS = st.recursive(ANY, lambda inner: st.dictionaries(KEYS, inner, max_size=4), max_leaves=8)


@settings(max_examples=15, deadline=None)
@given(st.lists(ROWS, max_size=4), st.none() | st.integers(0, 5))
def test_every_row_of_any_shape_is_an_entry(rows: list[Any], expected: int | None) -> None:
    found = parse_references(rows, expected)
    assert len(found.entries) <= len(rows)
    assert all(entry.work or entry.entry.note for entry in found.entries)
