"""What an agent is told of gaps and of the values of one detail."""

from __future__ import annotations

import jsonschema
import pytest

from api.mcp.server import server
from api.mcp.tools import TOOLS, output_schema
from tests.api.mcp_desk import MODES, Store, called
from tests.fakes import small_lineage

OUTPUT = {tool.name: output_schema(tool) for tool in TOOLS}["lineage_gaps"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("gaps")).server()


@pytest.fixture(scope="module")
def demo(built):
    return server(built.service, None)


@pytest.mark.parametrize("mode", MODES)
def test_gaps_come_weightiest_first_and_what_is_not_stated_before_what_is(made, mode):
    found = called(made, "lineage_gaps", mode, limit=20)
    said = found.structured_content
    jsonschema.validate(said, OUTPUT)
    order = ["UNSPECIFIED", "PARTIALLY_SPECIFIED", "SPECIFIED"]
    states = [order.index(row["state"]) for row in said["gaps"]]
    assert states == sorted(states)
    assert said["total"] == len(said["gaps"])
    assert all(f"{row['title']} ({row['name']}): {row['state']}" in found.content[0].text for row in said["gaps"])


def test_pages_of_gaps_fit_together(made):
    whole = [row["name"] for row in called(made, "lineage_gaps", limit=20).structured_content["gaps"]]
    pages = [called(made, "lineage_gaps", limit=4, offset=at).structured_content for at in range(0, len(whole), 4)]
    assert [row["name"] for page in pages for row in page["gaps"]] == whole
    assert [page["has_more"] for page in pages] == [True] * (len(pages) - 1) + [False]


def test_gaps_of_one_state_only(made):
    said = called(made, "lineage_gaps", state="unspecified", limit=20).structured_content
    assert {row["state"] for row in said["gaps"]} == {"UNSPECIFIED"}


def test_what_is_offered_is_cited_and_can_be_read(demo):
    found = called(demo, "lineage_gaps", limit=20)
    offers = [offer for row in found.structured_content["gaps"] for offer in row["offers"]]
    proofs = [proof for offer in offers for proof in offer["held"]]
    proofs += [proof for row in found.structured_content["gaps"] for proof in row["stated"]]
    assert proofs
    for proof in proofs:
        assert proof["trust"] == "untrusted-third-party"
        assert proof["citation"] in found.content[0].text
    links = {block.name for block in found.content if block.type == "resource_link"}
    assert links <= {proof["chunk"] for proof in proofs}
    assert links
    for chunk in links:
        citation = next(proof["citation"] for proof in proofs if proof["chunk"] == chunk).partition("#L")[0]  # of a value one line of what is read
        assert citation in called(demo, "lineage_read", chunk=chunk).content[0].text


def test_the_targets_own_code_can_be_left_out(made):
    said = called(made, "lineage_gaps", no_target_code=True, limit=20).model_dump_json()
    assert small_lineage.OWN.removeprefix("repo:") + "/" not in said


@pytest.mark.parametrize("mode", MODES)
def test_a_name_gives_every_value_of_a_detail_and_who_holds_it(demo, mode):
    found = called(demo, "lineage_gaps", mode, name="lr")
    said = found.structured_content
    jsonschema.validate(said, OUTPUT)
    assert said["name"] == "learning_rate"
    assert said["total"] >= 1
    assert [value["inherited"] for value in said["values"]].count(True) <= 1
    for value in said["values"]:
        assert value["held"][0]["citation"] in found.content[0].text
        assert value["held"][0]["text"]


def test_a_name_that_nobody_knows_is_an_error_with_the_nearest(demo):
    found = called(demo, "lineage_gaps", name="lerning_rate")
    assert found.is_error
    assert "learning_rate" in found.content[0].text
