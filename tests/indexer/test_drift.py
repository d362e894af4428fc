"""Schema drift: whatever becomes of a field, a source gives records, notes or a typed error, and loses no row."""

from __future__ import annotations

import copy
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.sources import crossref, github, huggingface, openalex
from indexer.sources.semantic_scholar import parse_paper, parse_references, read_pages
from lineage.errors import SourceError
from lineage.records import ReferenceList, Status, Work

ROW = {
    "contexts": ["We build on it."],
    "intents": ["methodology"],
    "contextsWithIntent": [{"context": "We build on it.", "intents": ["methodology"]}],
    "isInfluential": True,
    "citedPaper": {
        "paperId": "b" * 40,
        "corpusId": 7,
        "externalIds": {"ArXiv": "2010.11929", "DOI": "10.1000/x", "CorpusId": 7, "ACL": "P19-1001"},
        "title": "An image",
        "authors": [{"authorId": "1", "name": "A. Ada"}],
        "year": 2020,
        "venue": "ICLR",
        "abstract": "Short.",
        "openAccessPdf": {"url": "https://arxiv.org/pdf/2010.11929", "license": "CCBY", "disclaimer": "x"},
        "publicationDate": "2020-10-22",
    },
}
REPOSITORY = {
    "id": 7,
    "full_name": "a/b",
    "owner": {"login": "a", "id": 1},
    "license": {"spdx_id": "MIT", "name": "MIT"},
    "created_at": "2020-01-01T00:00:00Z",
    "size": 3,
}
COMMIT = {"sha": "0" * 40, "commit": {"committer": {"date": "2020-01-01T00:00:00Z"}, "author": {"date": "x"}}}
DEPOSIT = {"message": {"DOI": "10.1/x", "reference-count": 1, "reference": [{"key": "a", "DOI": "10.1/y", "unstructured": "A.", "year": "2020"}]}}
OPENALEX = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.1/x",
    "title": "T",
    "primary_location": {"landing_page_url": "https://arxiv.org/abs/2010.11929"},
    "authorships": [{"author": {"display_name": "A"}}],
    "referenced_works": ["https://openalex.org/W2"],
}

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["\ud800", "x" * 5000, "\0", "null", "10.1/", "9999999999999999999"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value, path=()):
    """Every path into a JSON value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def changed(value, path, new, gone):
    value = copy.deepcopy(value)
    if not path:
        return new
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if gone and isinstance(inner, dict):
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return value


def drifted(value):
    return st.builds(changed, st.just(value), st.sampled_from(list(places(value))), anything, st.booleans())


@settings(max_examples=200, deadline=None)
@given(st.lists(drifted(ROW), max_size=4))
def test_no_row_of_a_reference_list_is_lost(rows):
    listed = parse_references(rows, len(rows))
    works = {entry.work.id for entry in listed.entries if entry.work}
    assert len(listed.entries) == len(works) + sum(not entry.work for entry in listed.entries)
    folded = len(rows) - len(listed.entries)
    assert folded == 0 or f"{folded} listed more than once" in listed.detail
    assert listed.status is Status.OK


@settings(max_examples=150, deadline=None)
@given(drifted({"offset": 0, "next": 1, "data": [ROW, None], "citingPaperInfo": {"openAccessPdf": {"disclaimer": "x"}}}))
def test_a_page_of_any_shape_ends(page):
    with suppress(SourceError):
        assert isinstance(parse_references(read_pages(lambda offset, limit: page).rows, None), ReferenceList)


@settings(max_examples=150, deadline=None)
@given(drifted(ROW["citedPaper"]))
def test_a_paper_of_any_shape_is_a_work_or_none(row):
    work = parse_paper(row)
    assert work is None or (isinstance(work.title, str) and work.id not in work.aliases and work.title.encode() is not None)


@settings(max_examples=150, deadline=None)
@given(drifted(REPOSITORY), drifted(COMMIT), drifted({"githubRepo": "https://github.com/a/b"}))
def test_records_of_repositories_of_any_shape_are_read_or_refused(repository, commit, hub):
    with suppress(SourceError):
        assert isinstance(github.parse_repository(repository, "repo:github.com/a/b"), Work)
    found = github.parse_commit(commit)
    assert found is None or len(found[0]) == 40
    assert len(huggingface.parse_links(hub, "arxiv:2010.11929")) <= 1


@settings(max_examples=150, deadline=None)
@given(drifted(DEPOSIT), drifted(OPENALEX))
def test_witnesses_of_any_shape_are_read_or_refused(deposit, work):
    with suppress(SourceError):
        assert isinstance(crossref.parse_references(deposit), ReferenceList)
    assert openalex.parse_work(work) is None or openalex.parse_work(work).id
    assert isinstance(openalex.cited_ids(work), tuple)
