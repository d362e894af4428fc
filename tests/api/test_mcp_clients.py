"""The configuration that each client is given, read as the client reads it."""

from __future__ import annotations

import json
import re
import sys
import tomllib

import pytest
import yaml

from api.mcp.clients import CLIENTS, config, program, skill
from api.mcp.tools import TOOLS
from lineage.errors import UsageError


@pytest.mark.parametrize(("client", "key"), [("claude", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")])
def test_json_clients_get_a_stdio_server_under_their_key(client, key):
    said = json.loads(config(client))
    assert list(said) == [key]
    entry = said[key]["lineage"]
    assert entry.pop("env").keys() == {"LINEAGE_HOME", "LINEAGE_CONFIG"}  # as the tests are run
    assert entry == {"type": "stdio", "command": program()[0], "args": [*program()[1:], "mcp"]}


def test_codex_gets_a_table_with_time_enough(tmp_path):
    said = tomllib.loads(config("codex", tmp_path / 'a "b" \\ ü'))
    entry = said["mcp_servers"]["lineage"]
    assert entry["args"][-1] == "mcp"
    assert entry["env"]["LINEAGE_HOME"] == str(tmp_path / 'a "b" \\ ü')
    assert entry["startup_timeout_sec"] >= 10
    assert entry["tool_timeout_sec"] >= 30


def test_a_chosen_store_and_local_files_are_passed_on(tmp_path):
    entry = json.loads(config("claude", tmp_path, local=True))["mcpServers"]["lineage"]
    assert entry["args"][-2:] == ["mcp", "--local-files"]
    assert entry["env"]["LINEAGE_HOME"] == str(tmp_path)


def test_folders_and_files_that_variables_name_are_passed_on_and_no_secrets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINEAGE_HOME", "store")
    monkeypatch.setenv("LINEAGE_TOKENIZER", "model/tokenizer.json")
    monkeypatch.setenv("LINEAGE_VOCABULARY", "~/words.json")
    monkeypatch.setenv("LINEAGE_TOKEN", "secret")
    monkeypatch.setenv("LINEAGE_PAPERS", "3")
    monkeypatch.delenv("LINEAGE_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    entry = json.loads(config("claude"))["mcpServers"]["lineage"]
    assert entry["env"] == {
        "LINEAGE_HOME": str(tmp_path / "store"),
        "LINEAGE_TOKENIZER": str(tmp_path / "model" / "tokenizer.json"),
        "LINEAGE_VOCABULARY": str(tmp_path / "~" / "words.json"),
    }


def test_nothing_is_passed_on_where_nothing_is_set(tmp_path, monkeypatch):
    monkeypatch.delenv("LINEAGE_HOME")
    monkeypatch.delenv("LINEAGE_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert "env" not in json.loads(config("claude"))["mcpServers"]["lineage"]


def test_an_installation_without_its_script_is_started_by_its_interpreter(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == [str(tmp_path / "python"), "-c", "from api.cli.app import main; main()"]


def test_an_unknown_client_is_refused_with_those_that_are_known():
    with pytest.raises(UsageError) as refused:
        config("emacs")
    assert refused.value.hint == "known: " + ", ".join(CLIENTS)


def test_the_skill_says_when_it_is_to_be_used_and_names_every_tool_and_no_other():
    head, body = skill().removeprefix("---\n").split("\n---\n", 1)
    said = yaml.safe_load(head)
    assert said["name"] == "lineage"
    assert "Use it when" in said["description"]
    assert len(said["description"]) < 1024
    named = set(re.findall(r"lineage_[a-z]+", body))
    assert {tool.name for tool in TOOLS} <= named
    assert named <= {"lineage_search", "lineage_context", "lineage_gaps", "lineage_read", "lineage_build", "lineage_status"}
