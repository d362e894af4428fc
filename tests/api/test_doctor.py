"""What `lineage doctor` finds: what would be used, and who said so."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.metadata import Distribution
from pathlib import Path

import pytest

import api.doctor
import lineage.tables as tables_module
from api.bootstrap import Parts
from api.cli.inspect import _fail_if_damaged
from api.doctor import altered, examine
from api.operations import Service
from indexer.transport.upstreams import UPSTREAMS
from lineage import settings
from lineage.errors import StoreDamaged
from lineage.settings import PROFILES, Settings


def test_every_host_is_told_with_its_use_and_pace():
    hosts = examine(settings.load())["hosts"]
    assert list(hosts) == ["mode", *UPSTREAMS]
    assert all(said and not said.startswith(";") for said in hosts.values())
    assert hosts["api.openalex.org"] == "not asked (setting sources=openalex)"
    assert hosts["api.semanticscholar.org"].endswith("one request every 3 s")


def test_a_key_changes_the_pace_and_is_never_shown(monkeypatch):
    monkeypatch.setenv("S2_API_KEY", "canary-1234")
    found = examine(settings.load())
    assert found["hosts"]["api.semanticscholar.org"].endswith("one request every 1.05 s")
    assert found["keys"]["s2_api_key"] == "set (S2_API_KEY): Semantic Scholar: 1 request/s"
    assert "canary" not in str(found)


def test_every_key_says_what_its_absence_means():
    keys = examine(settings.load())["keys"]
    assert set(keys) == {name for name in Settings.model_fields if "key" in name or name.endswith("token")}
    assert all(said.startswith("not set (") for said in keys.values())


def test_it_says_who_set_what(monkeypatch, tmp_path):
    (tmp_path / "some.toml").write_text("repos = 3\n")
    monkeypatch.setenv("LINEAGE_CONFIG", str(tmp_path / "some.toml"))
    monkeypatch.setenv("LINEAGE_PAPERS", "4")
    found = examine(settings.load(offline=True))
    assert found["set by"] == {"home": "LINEAGE_HOME", "offline": "a flag", "papers": "LINEAGE_PAPERS", "repos": str(tmp_path / "some.toml")}
    assert found["hosts"]["mode"] == "offline: nothing is sent"
    assert found["profiles"]["default"].startswith("4 papers, 3 repositories")
    assert list(found["profiles"]) == list(PROFILES)


def test_it_says_where_the_store_is_and_what_it_takes(tmp_path):
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "a").write_bytes(b"x" * 2_000_000)
    store = examine(settings.load(home=tmp_path))["store"]
    assert store["used"] == "2.0 MB (blobs 2.0)"
    assert store["because"] == "set by a flag"
    assert store["writable"] is True


def test_a_store_that_is_not_there_is_no_error():
    store = examine(settings.load(home=Path("/nowhere/at/all")))["store"]
    assert (store["lineages"], store["used"]) == ("none", "0.0 MB")


def test_without_a_chat_model_it_says_what_is_done_instead():
    assert examine(settings.load())["chat model"]["chosen"] == "none"
    assert examine(settings.load(llm_model="some-model"))["chat model"] == {"chosen": "some-model", "endpoint": "the public one of OpenAI"}


def test_a_packaged_table_that_was_altered_since_it_was_installed_is_named_and_told_when_it_is_loaded(monkeypatch, tmp_path, caplog):
    """A wheel records the hash of each of its files; what is there now is compared with it."""
    tables = [tmp_path / "data" / name for name in ("roles.json", "ontology.json")]
    tables[0].parent.mkdir()
    for table in tables:
        table.write_text("{}")
    value = urlsafe_b64encode(sha256(b"{}").digest()).rstrip(b"=").decode()
    info = tmp_path / "paper_lineage-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paper-lineage\nVersion: 1\n")
    (info / "RECORD").write_text("".join(f"data/{table.name},sha256={value},2\n" for table in tables))
    monkeypatch.setattr(tables_module, "distribution", lambda _: Distribution.at(info))
    monkeypatch.setattr(tables_module, "files", lambda _: tmp_path)
    monkeypatch.setattr(tables_module, "_recorded", tables_module._recorded.__wrapped__)
    monkeypatch.setattr(api.doctor, "_data_files", lambda: tables)
    load = tables_module.packaged.__wrapped__
    assert (altered(), load("roles"), caplog.messages) == ((), {}, [])
    tables[0].write_text('{"forged": 1}')
    assert (altered(), load("roles"), load("ontology")) == ((tables[0],), {"forged": 1}, {})
    assert [message.partition(" is not the table that was installed")[0] for message in caplog.messages] == [str(tables[0])]
    with pytest.raises(StoreDamaged) as caught:
        _fail_if_damaged(Service(Parts(settings.load(home=tmp_path / "none"))).check())
    assert "install paper-lineage again" in caught.value.hint
    assert [said.endswith(", altered since it was installed") for said in examine(settings.load())["data"].values()] == [True, False]
