"""What a careless or misled client sends: every time an answer, nothing done, and the server as before."""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError

from tests.api.mcp_desk import MODES, Store, called, talk

LONG = "x" * 5000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("bad")).server()


BAD = [
    ("lineage_search", {}, "either `query` or `queries` is needed"),
    ("lineage_search", {"query": ""}, "query: String should have at least 1 character"),
    ("lineage_search", {"queries": ["lr", "a\x00b"]}, "queries.1: the control character U+0000 is not taken"),
    ("lineage_search", {"queries": ["lr"] * 9}, "queries: Tuple should have at most 8 items"),
    ("lineage_search", {"query": "lr", "max_tokens": 10}, "max_tokens: Input should be greater than or equal to 200"),
    ("lineage_search", {"query": "  \n "}, "the question is empty"),
    ("lineage_search", {"query": LONG}, "query: String should have at most 4096 characters"),
    ("lineage_search", {"query": "é" * 3000}, "query: at most 4,096 bytes are taken"),
    ("lineage_search", {"query": "a\x00b"}, "query: the control character U+0000 is not taken"),
    ("lineage_search", {"query": "a\x1b[2J"}, "query: the control character U+001B is not taken"),
    ("lineage_search", {"query": 7}, "query: Input should be a valid string"),
    ("lineage_search", {"query": ["lr"]}, "query: Input should be a valid string"),
    ("lineage_search", {"query": "lr", "k": 10**9}, "k: there is no such argument"),
    ("lineage_search", {"query": "lr", "limit": 0}, "limit: Input should be greater than or equal to 1"),
    ("lineage_search", {"query": "lr", "limit": 10**9}, "limit: Input should be less than or equal to 20"),
    ("lineage_search", {"query": "lr", "limit": True}, "limit: Input should be a valid integer"),
    ("lineage_search", {"query": "lr", "offset": -1}, "offset: Input should be greater than or equal to 0"),
    ("lineage_search", {"query": "lr", "kind": "secrets"}, "kind: Input should be '', 'paper', 'code', 'config' or 'docs'"),
    ("lineage_search", {"query": "lr", "lineage": "../../etc"}, "there is no lineage"),
    ("lineage_search", {"query": "lr", "lineage": "a/../b"}, "there is no lineage"),
    ("lineage_search", {"query": "lr", "lineage": "a..b"}, "there is no lineage 'a..b'"),
    ("lineage_search", {"query": "lr", "lineage": "absent"}, "there is no lineage 'absent'"),
    ("lineage_search", {"query": "lr", "lineage": "%2e%2e%2fetc"}, "there is no lineage"),
    ("lineage_read", {"chunk": "../../catalog.db"}, "chunk: String should match pattern"),
    ("lineage_read", {"chunk": "c_' OR 1=1 --"}, "chunk: String should match pattern"),
    ("lineage_read", {"chunk": "c_00", "before": 10**6}, "before: Input should be less than or equal to 200"),
    ("lineage_status", {"job": "../../../etc/passwd"}, "job: String should match pattern"),
    ("lineage_status", {"job": "j_" + "0" * 24}, "there is no job"),
    ("lineage_status", {"wait": 3600}, "wait: Input should be less than or equal to 25"),
    ("lineage_build", {"target": "a\nb"}, "a target is an identifier, a URL, a title or a path"),
    ("lineage_build", {"target": "x"}, "is not an identifier, URL or title that can be looked up"),
    ("lineage_build", {"target": "http://169.254.169.254/latest/meta-data"}, "no paper can be read from"),
    ("lineage_build", {"target": "arxiv:2504.17192", "name": "../x"}, "name: String should match pattern"),
    ("lineage_build", {"target": "arxiv:2504.17192", "add": ["/etc/passwd"]}, "add: there is no such argument"),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), BAD, ids=[f"{tool}-{n}" for n, (tool, _, _) in enumerate(BAD)])
def test_a_bad_argument_is_a_result_that_says_what_is_wrong_and_what_to_do(made, tool, arguments, said):
    found = called(made, tool, **arguments)
    assert found.is_error
    assert found.structured_content is None
    assert said in found.content[0].text
    assert "\nWhat to do: " in found.content[0].text
    assert len(found.content[0].text) < 2000


def test_null_stands_for_an_optional_argument_that_is_left_out(made):
    found = called(made, "lineage_search", query="entropy", lineage=None, kind=None, limit=None)
    assert not found.is_error


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_an_error_of_the_protocol(made, mode):
    with pytest.raises(MCPError) as refused:
        called(made, "lineage_delete_everything", mode)
    assert refused.value.code == -32602
    assert "lineage_search" in refused.value.message


def test_a_second_page_of_lists_is_refused(made):
    with pytest.raises(MCPError) as refused:
        talk(made, lambda client: client.list_tools(cursor="x"))
    assert refused.value.code == -32602
