"""The files that clients and registries install are what the code says, and the bundle runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
import zipfile

import pytest
from mcp.client.stdio import StdioServerParameters

from api.mcp.clients import skill
from api.mcp.tools import TOOLS
from integrations.bundle import ROOT, write
from tests.api.mcp_desk import talk
from tests.fakes import small_lineage


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def bundle(made):
    with zipfile.ZipFile(made[0]) as opened:
        yield opened


def test_the_same_tree_gives_the_same_bytes(made, tmp_path):
    again = write(tmp_path)
    assert [hashlib.sha256(path.read_bytes()).digest() for path in again] == [hashlib.sha256(path.read_bytes()).digest() for path in made]


def test_the_manifest_names_version_entry_and_every_tool(bundle):
    said = json.loads(bundle.read("manifest.json"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (said["manifest_version"], said["name"], said["version"]) == ("0.4", "lineage", project["version"])
    assert said["server"]["type"] == "uv"
    assert said["server"]["entry_point"] in bundle.namelist()
    assert [tool["name"] for tool in said["tools"]] == [tool.name for tool in TOOLS]
    assert all(one["default"] == "" for one in said["user_config"].values())


def test_the_bundle_holds_the_packages_and_nothing_else(bundle):
    names = bundle.namelist()
    assert {name.split("/")[0] for name in names if "/" in name} == {"lineage", "indexer", "retrieval", "api"}
    assert {name for name in names if "/" not in name} == {"manifest.json", "server.py", "pyproject.toml", "README.md", "LICENSE"}
    assert not [name for name in names if "__pycache__" in name or ".." in name]


def test_the_bundle_starts_a_server(bundle, tmp_path):
    for name in bundle.namelist():
        if not name.endswith(".onnx"):
            path = tmp_path / "bundle" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bundle.read(name))
    small_lineage.build(tmp_path / "home")
    env = {**os.environ, "LINEAGE_HOME": str(tmp_path / "home"), "S2_API_KEY": "", "GITHUB_TOKEN": ""}
    command = StdioServerParameters(command=sys.executable, args=[str(tmp_path / "bundle" / "server.py")], cwd=tmp_path / "bundle", env=env)
    found = talk(command, lambda client: client.call_tool("lineage_search", {"query": "entropy"}))
    assert found.structured_content["lineage"] == "small"


def test_the_registry_manifest_starts_the_published_package(made):
    said = json.loads(made[1].read_text())
    assert said["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", said["name"])
    assert len(said["description"]) <= 100
    (package,) = said["packages"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (package["identifier"], package["version"]) == (project["name"], project["version"])
    assert package["identifier"] in project["scripts"]
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]


def test_the_skill_lies_in_a_folder_of_its_name(made):
    assert made[2].parts[-3:] == ("skills", "lineage", "SKILL.md")
    assert made[2].read_text() == skill()
