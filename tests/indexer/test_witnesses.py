"""Crossref and OpenAlex: the optional witnesses for references."""

from __future__ import annotations

import pytest

from indexer.sources import crossref, openalex
from lineage.errors import SourceError
from lineage.records import Status, Work
from tests.fakes.http import Scripted, reply_json, transport

DEPOSITED = {
    "message": {
        "DOI": "10.1/x",
        "reference-count": 3,
        "reference": [
            {"key": "a", "DOI": "10.1000/ABC", "article-title": "One", "author": "A. Ada", "year": "2019a", "journal-title": "J."},
            {"key": "b", "unstructured": "B. Bo,\n Two, 2020."},
            {"key": "c"},
        ],
    }
}


def test_deposited_references_are_entries_with_a_work_where_there_is_a_doi(tmp_path):
    with Scripted({"api.crossref.org/works/10.1%2Fx": reply_json(DEPOSITED)}) as server, transport(tmp_path, server.url) as asks:
        listed = crossref.Crossref(asks).references(Work("arxiv:2504.17192", aliases=("doi:10.1/x",)))
    assert (listed.status, listed.expected) == (Status.OK, 3)
    assert [(entry.work.id if entry.work else None, entry.entry.raw, entry.entry.note) for entry in listed.entries] == [
        ("doi:10.1000/abc", "A. Ada. One. J.. 2019", ""),
        (None, "B. Bo, Two, 2020.", ""),
        (None, "", "nothing was deposited but its place"),
    ]


def test_a_list_that_the_publisher_keeps_is_elided():
    assert crossref.parse_references({"message": {"DOI": "10.1/x", "reference-count": 40}}).status is Status.ELIDED


@pytest.mark.parametrize("raw", [None, [], {}, {"message": None}, {"message": []}, {"message": {"DOI": None}}])
def test_what_is_no_record_is_an_error(raw):
    with pytest.raises(SourceError) as error:
        crossref.parse_references(raw)
    assert error.value.status is Status.WRONG_TYPE


def test_a_work_without_a_doi_or_one_that_is_unknown_is_unresolved(tmp_path):
    with Scripted({}) as server, transport(tmp_path, server.url) as asks:
        assert crossref.Crossref(asks).references(Work("arxiv:2504.17192")).status is Status.UNRESOLVED
        assert crossref.Crossref(asks).references(Work("doi:10.1/x")).status is Status.UNRESOLVED
        assert openalex.OpenAlex(asks).references(Work("s2:" + "a" * 40)).status is Status.UNRESOLVED
        assert openalex.OpenAlex(asks).references(Work("doi:10.1/x")).status is Status.UNRESOLVED


def test_openalex_gives_every_cited_work_described_or_not(tmp_path):
    listing = {"referenced_works": ["https://openalex.org/W1", "https://openalex.org/W2", "https://openalex.org/W1"], "referenced_works_count": 3}
    page = {"landing_page_url": "https://arxiv.org/abs/2010.11929v2"}
    row = {"id": "https://openalex.org/W1", "doi": "https://doi.org/10.1000/ABC", "title": "One", "publication_year": 2020, "primary_location": page}
    script = {"api.openalex.org/works/doi:10.48550/arxiv.2504.17192": reply_json(listing), "api.openalex.org/works?": reply_json({"results": [row]})}
    with Scripted(script) as server, transport(tmp_path, server.url) as asks:
        listed = openalex.OpenAlex(asks).references(Work("arxiv:2504.17192"))
        assert len(server.seen) == 2
    assert (listed.status, listed.detail) == (Status.PARTIAL, "2 of the 3 references that it counts")
    first, second = listed.entries
    assert (first.work.id, first.work.aliases, first.work.title, first.work.year) == ("arxiv:2010.11929", ("doi:10.1000/abc",), "One", 2020)
    assert (second.work, second.entry.raw, second.entry.note) == (None, "openalex.org/W2", "OpenAlex does not describe it")


@pytest.mark.parametrize("raw", [None, [], {}, {"referenced_works": None}, {"referenced_works": [None, 7, "x", "https://openalex.org/A1"]}])
def test_a_record_of_any_shape_lists_nothing(raw):
    assert openalex.cited_ids(raw) == ()
