from __future__ import annotations

import logging
import os
from contextlib import ExitStack

import pytest

from indexer.sources.semantic_scholar import SemanticScholar, lookup, parse_paper, parse_reference, parse_references, read_pages
from lineage import ids
from lineage.errors import SourceError
from lineage.records import Mention, Status, Work
from tests.fakes.http import transport
from tests.upstream import Fault, Faults, Upstream, World
from tests.upstream.faults import MutateJson, captcha, too_many
from tests.upstream.faults import Status as Says

A, B, C = "a" * 40, "b" * 40, "c" * 40


def world(references=None, **more):
    target = {"key": A, "title": "The Target & its #1 Title", "corpus": 1, "arxiv": "2504.17192", "authors": ["Ada L.", "Bo M."], "year": 2025}
    listed = {
        "references": [
            {"cited": B, "contexts": ["We build on B."], "intents": ["methodology"], "influential": True},
            {"cited": None, "title": "Lost"},
        ]
    }
    cited = {
        "key": B,
        "title": "Base",
        "corpus": 2,
        "arxiv": "2010.11929",
        "doi": "10.1000/BASE",
        "venue": "ICLR",
        "licence": "CCBY",
        "abstract": "Short.",
    }
    papers = [
        target | (listed if references is None else {"references": references}) | more,
        cited,
        {"key": C, "title": "Third", "corpus": 3, "doi": "10.1000/third"},
    ]
    return World.of({"papers": papers})


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    with ExitStack() as stack:

        def asked(facts=None, *faults, **flags):
            upstream = stack.enter_context(Upstream(facts or world(), Faults(faults)))
            scholar = SemanticScholar(stack.enter_context(transport(tmp_path, upstream.url, **flags)))
            scholar.upstream = upstream
            return scholar

        yield asked


def test_a_paper_has_its_identifiers_in_order_and_what_it_counts(ask):
    work = ask().paper(ids.parse("arxiv:2504.17192"))
    assert (work.id, work.aliases) == ("arxiv:2504.17192", (f"s2:{A}", "s2:CorpusId:1"))
    assert (work.title, work.authors, work.year, work.meta["referenceCount"], work.said_by) == (
        "The Target & its #1 Title",
        ("Ada L.", "Bo M."),
        2025,
        2,
        ("semantic_scholar",),
    )


@pytest.mark.parametrize(
    "target", [f"https://www.semanticscholar.org/paper/{A}", "CorpusId:1", "https://arxiv.org/abs/2504.17192v1", "doi:10.48550/arXiv.2504.17192"]
)
def test_every_form_of_a_target_finds_the_same_paper(ask, target):
    assert ask().paper(ids.parse(target)).id == "arxiv:2504.17192"


def test_what_the_service_does_not_know_is_none(ask):
    scholar = ask()
    assert scholar.paper(ids.parse("arxiv:1111.11111")) is None
    assert scholar.paper(ids.parse("doi:10.1000/a?b#c%2f..d")) is None


def test_a_work_keeps_the_name_it_was_asked_by():
    assert parse_paper({"paperId": A, "externalIds": None}).id == f"s2:{A}"


def test_references_come_with_their_sentences_and_the_unresolved_ones_too(ask):
    scholar = ask()
    listed = scholar.references(scholar.paper(ids.parse("arxiv:2504.17192")))
    first, second = listed.entries
    assert (listed.status, listed.expected, listed.detail) == (Status.OK, 2, "1 without an identifier")
    assert (first.work.id, first.work.aliases) == ("arxiv:2010.11929", ("doi:10.1000/base", f"s2:{B}", "s2:CorpusId:2"))
    assert (first.work.license, first.work.venue, first.influential) == ("CCBY", "ICLR", True)
    assert first.mentions == (Mention("s2-1", "We build on B.", said_by="semantic_scholar", intents=("methodology",)),)
    assert (second.work, second.entry.title, second.entry.note) == (None, "Lost", "without an identifier")


def test_all_pages_are_read_even_where_the_server_makes_them_shorter_than_asked(ask):
    short = MutateJson(lambda page: page | {"data": page["data"][:60], "next": page["offset"] + 60} if page["offset"] + 60 < 200 else page)
    scholar = ask(world([{"cited": None, "title": f"Work {n}"} for n in range(200)]), Fault("references", short))
    listed = scholar.references(Work("arxiv:2504.17192", meta={"referenceCount": 200}))
    assert [entry.entry.title for entry in listed.entries] == [f"Work {n}" for n in range(200)]
    assert (listed.status, len(scholar.upstream.requests)) == (Status.OK, 4)


def test_a_list_longer_than_a_page_is_followed_by_its_next(ask):
    scholar = ask(world([{"cited": None, "title": f"Work {n}"} for n in range(1203)]))
    listed = scholar.references(Work("arxiv:2504.17192"))
    assert (len(listed.entries), listed.status, len(scholar.upstream.requests)) == (1203, Status.OK, 3)


def test_a_list_that_the_publisher_holds_back_is_elided(ask):
    facts = {"papers": [{"key": A, "title": "T", "corpus": 1, "arxiv": "2504.17192", "references": None}]}
    listed = ask(World.of(facts)).references(Work("arxiv:2504.17192"))
    assert (listed.status, listed.entries) == (Status.ELIDED, ())
    assert "elided by the publisher" in listed.detail


def test_fewer_references_than_counted_are_partial_and_said(ask):
    listed = ask().references(Work("arxiv:2504.17192", meta={"referenceCount": 150}))
    assert (listed.status, listed.detail) == (Status.PARTIAL, "2 of the 150 references that it counts; 1 without an identifier")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda page: page | {"next": 0}, id="next leads back"),
        pytest.param(lambda page: page | {"next": "soon"}, id="next is no number"),
        pytest.param(lambda page: page | {"next": page["offset"] + 500}, id="pages without end"),
        pytest.param(lambda page: page | {"next": page["offset"] + 1}, id="the same page again"),
    ],
)
def test_pages_that_lead_nowhere_end_the_list_as_partial(ask, change):
    scholar = ask(None, Fault("references", MutateJson(lambda page: change(page | {"data": page["data"] or [{}]}))))
    listed = scholar.references(Work("arxiv:2504.17192"))
    assert listed.status is Status.PARTIAL
    assert len(scholar.upstream.requests) <= 20


@pytest.mark.parametrize("body", [{}, {"offset": 0}, {"error": "x"}, [], {"data": {"a": 1}}, {"data": "x"}])
def test_a_list_that_cannot_be_read_is_an_error_and_asked_for_anew(ask, body):
    scholar = ask(None, Fault("references", MutateJson(lambda page: body), times=1))
    with pytest.raises(SourceError) as error:
        scholar.references(Work("arxiv:2504.17192"))
    assert error.value.status is Status.WRONG_TYPE
    if not isinstance(body, dict) or "data" not in body:
        assert scholar.references(Work("arxiv:2504.17192")).status is Status.OK


def test_a_page_too_large_for_the_service_is_asked_for_in_parts():
    def fetch(offset, limit):
        if limit > 20:
            raise SourceError(Status.TOO_LARGE, "Response would exceed maximum size")
        return {"offset": offset, "data": [offset], **({"next": offset + limit} if offset < 40 else {})}

    listing = read_pages(fetch)
    assert (listing.rows, listing.status) == ([0, 20, 40], Status.OK)


def test_a_503_is_no_empty_paper(ask):
    scholar = ask(None, Fault("paper/ARXIV", Says(503), times=2))
    assert scholar.paper(ids.parse("arxiv:2504.17192")).title == "The Target & its #1 Title"
    assert len(scholar.upstream.requests) == 3


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (Says(503), Status.UPSTREAM_5XX),
        (too_many("0"), Status.RATE_LIMITED),
        (Says(403), Status.FORBIDDEN),
        (captcha(), Status.WRONG_TYPE),
    ],
)
def test_every_failure_is_a_source_error(ask, action, status):
    scholar = ask(None, Fault(".", action))
    calls = [
        lambda: scholar.paper(ids.parse("arxiv:2504.17192")),
        lambda: scholar.references(Work("arxiv:2504.17192")),
        lambda: scholar.match("A title of a paper"),
    ]
    for call in calls:
        with pytest.raises(SourceError) as error:
            call()
        assert error.value.status is status


def test_a_title_is_matched_whatever_characters_it_has(ask):
    scholar = ask()
    assert [work.id for work in scholar.match("The Target & its #1 Title")] == ["arxiv:2504.17192"]
    assert scholar.match("No such = title ? at all") == []
    assert scholar.paper(ids.parse('"Base"')).id == "arxiv:2010.11929"


def test_a_repeated_question_sends_nothing(ask):
    scholar = ask()
    for _ in range(2):
        work = scholar.paper(ids.parse("arxiv:2504.17192"))
        scholar.references(work)
        scholar.match("nothing like it")
    assert len(scholar.upstream.requests) == 3


def test_the_package_leaves_logging_as_it_was(ask):
    before = list(logging.getLogger().handlers), logging.getLogger().level
    ask().paper(ids.parse("arxiv:2504.17192"))
    assert (list(logging.getLogger().handlers), logging.getLogger().level) == before


@pytest.mark.parametrize(
    ("work", "name"),
    [
        ("arxiv:hep-th/9901001", "ARXIV:hep-th/9901001"),
        ("doi:10.1/x", "DOI:10.1/x"),
        (f"s2:{A}", A),
        ("s2:CorpusId:7", "CorpusId:7"),
        ("acl:P19-1001", "ACL:P19-1001"),
        ("ref:00", ""),
        ("local:00", ""),
        ("repo:github.com/a/b", ""),
    ],
)
def test_identifiers_are_looked_up_in_the_services_own_form(work, name):
    assert lookup(work) == name


ODD = [
    None,
    7,
    "x",
    [],
    {},
    {"citedPaper": None},
    {"citedPaper": []},
    {"citedPaper": {"paperId": None}},
    {"citedPaper": {"title": ["x"], "authors": "y", "year": "20x"}},
    {"contexts": None, "intents": None, "citedPaper": {"paperId": "nothex", "externalIds": {"ArXiv": 7, "DOI": None}}},
    {"contexts": [None, 3, {"a": 1}], "contextsWithIntent": [None, {"context": None}], "isInfluential": "yes", "citedPaper": {"externalIds": "x"}},
]


@pytest.mark.parametrize("row", ODD)
def test_a_row_of_any_shape_is_an_entry_with_a_note(row):
    entry = parse_reference(row, "s2-1")
    assert (entry.work, entry.influential) == (None, False)
    assert entry.entry.note


def test_every_row_of_a_list_is_kept():
    assert len(parse_references(ODD, None).entries) == len(ODD)


def test_a_work_listed_twice_is_one_entry_with_the_sentences_of_both():
    row = {"citedPaper": {"paperId": B, "title": "Base"}}
    listed = parse_references([row | {"contexts": ["One."]}, row | {"contexts": ["One.", "Two."], "isInfluential": True}], 2)
    assert [[mention.sentence for mention in entry.mentions] for entry in listed.entries] == [["One.", "Two."]]
    assert (listed.entries[0].influential, listed.detail, listed.status) == (True, "1 listed more than once", Status.OK)


def test_a_sentence_has_its_own_intents_where_they_are_given():
    row = {
        "contexts": ["We use B.", "B is known."],
        "intents": ["background"],
        "contextsWithIntent": [{"context": "We use B.", "intents": ["methodology"]}],
        "citedPaper": {"paperId": B},
    }
    assert [(m.sentence, m.intents) for m in parse_reference(row, "s2-1").mentions] == [
        ("We use B.", ("methodology",)),
        ("B is known.", ("background",)),
    ]


def test_an_arxiv_number_that_the_service_has_for_a_year_is_set_right():
    row = {"paperId": "a" * 40, "externalIds": {"ArXiv": "1911.02782"}, "title": "S2ORC", "year": 1911}
    assert parse_paper(row).year == 2019
    assert parse_paper(row | {"year": 2020}).year == 2020
