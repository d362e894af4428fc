from __future__ import annotations

import pytest

from indexer.sources.huggingface import HuggingFace, parse_links
from lineage.errors import SourceError
from lineage.records import CodeLink, Status, Tier
from tests.fakes.http import Scripted, reply_json, transport

PAPER = "arxiv:2006.10726"
URL = "huggingface.co/api/papers/2006.10726"


def test_the_hubs_link_is_a_code_link_with_its_evidence(tmp_path):
    with (
        Scripted({URL: reply_json({"id": "2006.10726", "githubRepo": "https://github.com/DequanWang/tent"})}) as server,
        transport(tmp_path, server.url) as asks,
    ):
        assert HuggingFace(asks).links(PAPER) == (
            CodeLink(
                PAPER,
                "repo:github.com/DequanWang/tent",
                Tier.AUTHOR,
                ("huggingface",),
                ("huggingface.co/papers/2006.10726 links https://github.com/DequanWang/tent",),
            ),
        )


def test_a_paper_that_the_hub_does_not_know_has_no_links_and_is_asked_for_once(tmp_path):
    with Scripted({}) as server, transport(tmp_path, server.url) as asks:
        assert [HuggingFace(asks).links(PAPER) for _ in range(2)] == [(), ()]
        assert len(server.seen) == 1


def test_papers_that_are_not_on_arxiv_are_not_asked_for(tmp_path):
    with Scripted({}) as server, transport(tmp_path, server.url) as asks:
        assert HuggingFace(asks).links("doi:10.1/x") == ()
        assert server.seen == []


def test_failures_are_source_errors(tmp_path):
    with Scripted({URL: reply_json({}, 503)}) as server, transport(tmp_path, server.url) as asks, pytest.raises(SourceError) as error:
        HuggingFace(asks).links(PAPER)
    assert error.value.status is Status.UPSTREAM_5XX


@pytest.mark.parametrize(
    "repo",
    [
        None,
        "",
        7,
        [],
        {},
        "and/or",
        "https://evil.org/a/b",
        "https://github.com@evil.org/a/b",
        "https://github.com/",
        "https://github.com/features/copilot",
        "javascript:x",
    ],
)
def test_what_is_no_repository_is_no_link(repo):
    assert parse_links({"githubRepo": repo}, PAPER) == ()
