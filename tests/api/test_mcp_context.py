"""The pack that an agent gets for a task."""

from __future__ import annotations

import jsonschema
import pytest

from api.mcp.tools import TOOLS, output_schema
from tests.api.mcp_desk import MODES, Store, called
from tests.fakes import small_lineage

OUTPUT = {tool.name: output_schema(tool) for tool in TOOLS}["lineage_context"]
TASK = "initialise the encoder and adapt it at test time"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("context")).server()


@pytest.mark.parametrize("mode", MODES)
def test_a_pack_keeps_to_its_budget_and_cites_what_it_holds(made, mode):
    found = called(made, "lineage_context", mode, task=TASK, tokens=1200)
    said = found.structured_content
    jsonschema.validate(said, OUTPUT)
    assert said["used"] <= said["allowed"] == 1200
    assert said["text"] in found.content[0].text
    assert all(citation.partition("#")[0] in said["text"] for item in said["items"] for citation in item["citations"])
    assert {block.uri.partition("/evidence/")[0] for block in found.content if block.type == "resource_link"} == {"lineage://small"}


@pytest.mark.parametrize("stage", ["planning", "analysis", "coding"])
def test_a_pack_is_fit_to_a_stage(made, stage):
    assert called(made, "lineage_context", task=TASK, stage=stage).structured_content["stage"] == stage


def test_the_targets_own_code_can_be_left_out(made):
    said = called(made, "lineage_context", task="forward head of the model", no_target_code=True).structured_content
    assert small_lineage.OWN.removeprefix("repo:") not in said["text"]


def test_a_small_budget_is_kept_too(made):
    assert called(made, "lineage_context", task=TASK, tokens=200).structured_content["used"] <= 200
