"""Choosing what to fetch, and adding up how everything ended."""

import pytest

from indexer.plan import BuildRequest, came_out, choose_papers, choose_repos, worths
from lineage.records import CodeLink, Reference, Status, Tier, Work

TARGET = "arxiv:9912.00001"


def _references(*works):
    return [Reference(TARGET, work.id, score=1 - n / 10) for n, work in enumerate(works)], {work.id: work for work in works}


def test_the_best_ranked_papers_with_a_text_are_chosen_and_every_other_reference_has_its_row():
    works = (
        Work("arxiv:9901.00001", said_by=("s2",)),
        Work("doi:10.1/a", said_by=("s2",), abstract="known"),
        Work("doi:10.1/b", said_by=("s2",), aliases=("arxiv:9901.00002",)),
        Work("doi:10.1/c", said_by=("s2",)),
        Work("arxiv:9901.00003", said_by=("s2",)),
        Work("ref:0011223344556677"),
    )
    references, known = _references(*works)
    chosen, left = choose_papers(references, known, 2)
    assert chosen == ("arxiv:9901.00001", "doi:10.1/b")
    assert [(row.subject, row.status) for row in left] == [
        ("doi:10.1/a", Status.ABSTRACT_ONLY),
        ("doi:10.1/c", Status.METADATA_ONLY),
        ("arxiv:9901.00003", Status.POLICY_SKIPPED),
        ("ref:0011223344556677", Status.UNRESOLVED),
    ]


def test_a_repository_is_fetched_once_for_its_best_paper_and_its_surest_link():
    links = [
        CodeLink("p:2", "repo:github.com/a/x", Tier.OFFICIAL),
        CodeLink("p:1", "repo:github.com/A/X", Tier.MENTIONED),
        CodeLink("p:1", "repo:github.com/b/y", Tier.OFFICIAL),
        CodeLink("p:2", "repo:github.com/c/z", Tier.AUTHOR),
    ]
    chosen, left = choose_repos(links, {"p:1": 0.9, "p:2": 0.5}, 2)
    assert [(link.paper, link.repo) for link in chosen] == [("p:1", "repo:github.com/b/y"), ("p:2", "repo:github.com/a/x")]
    assert [(row.subject, row.status) for row in left] == [("repo:github.com/c/z", Status.POLICY_SKIPPED)]


def test_code_of_an_older_work_is_worth_less_a_place_unless_nobody_says_how_old_it_is():
    target = "p:0"
    works = {work.id: work for work in (Work(target, year=2024), Work("p:1", year=2024), Work("p:2", year=2022), Work("p:3"), Work("p:4", year=2025))}
    references = [Reference(target, name, score=0.5) for name in works if name != target]
    assert worths(references, works, target) == {target: 2.0, "p:1": 0.5, "p:2": pytest.approx(0.32), "p:3": 0.5, "p:4": 0.5}


def test_a_request_survives_being_kept_with_its_generation():
    request = BuildRequest("arxiv:9912.00001", add=("/a", "/b"), no_target_code=True, papers=3)
    assert BuildRequest.from_meta(request.as_meta()) == request


def test_a_paper_came_out_with_its_first_version_or_with_the_one_that_is_asked_for():
    work = Work("arxiv:2504.17192", meta={"version": 2, "published": "2025-04-24", "updated": "2025-06-01", "publicationDate": "2025-04-23"})
    assert came_out(work) == came_out(work, "arxiv:2504.17192") == "2025-04-24"
    assert came_out(work, "https://arxiv.org/pdf/2504.17192v2.pdf") == "2025-06-01"


def test_a_services_date_does_where_arxiv_was_not_asked_and_what_is_no_day_is_none():
    assert came_out(Work("arxiv:2006.10726", meta={"publicationDate": "2020-06-18"})) == "2020-06-18"
    assert came_out(Work("arxiv:2006.10726", meta={"publicationDate": "2020"})) == ""
    assert came_out(Work("ref:1")) == ""
