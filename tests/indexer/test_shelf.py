"""Shelves: what is pushed is pulled and is the same, and nothing that lies on a hostile shelf gets further than an error."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import fsspec
import pytest
from minisign import KeyPair

from indexer.bundle.shelf import INDEX, MAX_INDEX, Shelf
from lineage.errors import AmbiguousTarget, BadBundle, NotFound, UpstreamError, UsageError
from tests.demo import NAME, TARGET, Demo


def there(tmp_path, **settings):
    return Demo(tmp_path / "there", "http://127.0.0.1:9", packaged=True, offline=True, **settings).service


@pytest.fixture
def shelf(built, tmp_path):
    """The demonstration on a shelf in a folder."""
    built.service.push(NAME, str(tmp_path / "shelf"))
    return tmp_path / "shelf"


def indexed(shelf: Path, **changed: object) -> None:
    """The index with other values of its row."""
    index = json.loads((shelf / INDEX).read_text())
    index["bundles"][0] |= changed
    (shelf / INDEX).write_text(json.dumps(index))


@pytest.mark.parametrize("address", ["{}/shelf", "file://{}/shelf", "memory://{}/shelf"])
def test_what_is_pushed_is_listed_and_pulled_by_name_target_and_title(built, tmp_path, address):
    address, service = address.format(tmp_path), there(tmp_path)
    pushed = built.service.push(NAME, address)
    assert service.shelf(address) == (pushed,)
    assert (pushed.target, pushed.left_out > 0, sum(pushed.licenses.values()) > 0) == (TARGET, True, True)
    made = service.pull(TARGET, address)
    assert (made.lineage, made.provenance.bundle.sha256) == (NAME, pushed.sha256)
    assert service.pull(pushed.title, address).unchanged
    assert service.query("how is the encoder initialized?", lineage=NAME).hits
    assert not list((tmp_path / "there").glob(".import-*"))


def test_no_text_that_a_license_keeps_in_is_on_a_shelf(built, shelf):
    out = built.service.export(NAME, shelf.parent / "plain.lineage")
    (file,) = shelf.glob("*.lineage")
    assert file.read_bytes() == Path(out.path).read_bytes()
    assert out.texts == "licensed"


def test_a_push_replaces_its_last_one_and_leaves_the_others(built, shelf):
    index = json.loads((shelf / INDEX).read_text())
    (old,) = shelf.glob("*.lineage")
    gone = f"{NAME}-{'0' * 16}.lineage"
    old.rename(shelf / gone)
    other = index["bundles"][0] | {"lineage": "other", "file": f"other-{'1' * 16}.lineage"}
    index["bundles"] = [index["bundles"][0] | {"file": gone}, other]
    (shelf / INDEX).write_text(json.dumps(index))
    built.service.push(NAME, str(shelf))
    assert [row.lineage for row in Shelf(str(shelf)).bundles()] == [NAME, "other"]
    assert [path.name for path in shelf.glob("*.lineage")] == [old.name]
    with pytest.raises(AmbiguousTarget):
        Shelf(str(shelf)).find(TARGET)


def test_a_signature_travels_and_another_key_is_refused(built, tmp_path):
    pairs = [KeyPair.generate() for _ in range(2)]
    secret = tmp_path / "me.key"
    secret.write_bytes(bytes(pairs[0].secret_key))
    address = str(tmp_path / "shelf")
    pushed = built.service.push(NAME, address, sign=secret)
    mine, others = (pair.public_key.to_base64() for pair in pairs)
    mine, others = (key.decode() if isinstance(key, bytes) else key for key in (mine, others))
    with pytest.raises(BadBundle, match="not signed by key"):
        there(tmp_path).pull(NAME, address, signer=others)
    assert there(tmp_path).pull(NAME, address, signer=mine).provenance.signer == pushed.signer
    next((tmp_path / "shelf").glob("*.minisig")).unlink()
    with pytest.raises(BadBundle, match="is not signed"):
        there(tmp_path).pull(NAME, address, name="again", signer=mine)


@pytest.mark.parametrize(
    "changed",
    [
        {"file": "../../etc/passwd"},
        {"file": f"../{NAME}-{'0' * 16}.lineage"},
        {"file": "https://evil.example/x"},
        {"file": f"other-{'0' * 16}.lineage"},
        {"lineage": "../x"},
        {"target": "/etc/passwd"},
        {"title": "a\x1b[31mb"},
        {"title": "x" * 3000},
        {"size": -1},
        {"size": 1 << 60},
        {"size": "many"},
        {"sha256": "no"},
        {"licenses": {"\u202e": 1}},
        {"licenses": []},
    ],
    ids=str,
)
def test_a_row_that_no_push_writes_is_refused(shelf, tmp_path, changed):
    indexed(shelf, **changed)
    with pytest.raises(BadBundle):
        there(tmp_path).pull(NAME, str(shelf))
    assert there(tmp_path).lineages() == ()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"format": "lineage-shelf", "version": 2}',
        b'{"format": "lineage-shelf", "version": 1}',
        b" " * (MAX_INDEX + 1),
    ],
    ids=["empty", "list", "cut", "deep", "newer", "no rows", "huge"],
)
def test_an_index_that_is_none_is_refused(shelf, tmp_path, content):
    (shelf / INDEX).write_bytes(content)
    with pytest.raises(BadBundle):
        there(tmp_path).shelf(str(shelf))


def test_bytes_that_the_index_does_not_name_are_not_imported(shelf, tmp_path):
    (file,) = shelf.glob("*.lineage")
    whole = file.read_bytes()
    for content in (whole[:-1], whole + b"x" * 10_000_000, b"\0" + whole[1:]):
        file.write_bytes(content)
        with pytest.raises(BadBundle, match="is not what the index"):
            there(tmp_path).pull(NAME, str(shelf))
    file.unlink()
    with pytest.raises(NotFound):
        there(tmp_path).pull(NAME, str(shelf))
    assert there(tmp_path).lineages() == ()


def test_a_bundle_of_another_target_than_the_index_says_is_refused(shelf, tmp_path):
    indexed(shelf, target="arxiv:1706.03762")
    with pytest.raises(BadBundle, match="not arxiv:1706.03762"):
        there(tmp_path).pull("arxiv:1706.03762", str(shelf))
    assert there(tmp_path).lineages() == ()


def test_a_pipe_is_not_waited_for_and_a_link_is_not_written_through(built, shelf, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (shelf / INDEX).unlink()
    (shelf / INDEX).symlink_to(victim)
    with pytest.raises(BadBundle):
        built.service.push(NAME, str(shelf))
    (shelf / INDEX).unlink()
    (file,) = shelf.glob("*.lineage")
    file.unlink()
    file.symlink_to(victim)
    built.service.push(NAME, str(shelf))
    assert victim.read_text() == "mine"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(BadBundle, match="is not a file"):
        there(tmp_path).pull(NAME, str(shelf))


@pytest.mark.parametrize("address", ["", "nope://x/y", "zip::s3://x/y"])
def test_what_is_no_address_is_a_usage_error(built, address):
    with pytest.raises(UsageError):
        built.service.push(NAME, address)


def test_nothing_is_sent_offline_and_secrets_of_an_address_are_not_shown(tmp_path):
    with pytest.raises(UsageError, match="nothing is sent offline") as refused:
        there(tmp_path).shelf("ftp://me:secret@127.0.0.1/x")
    assert "secret" not in str(refused.value)


def test_a_disk_that_fails_is_told_as_such(built, shelf, monkeypatch):
    memory = fsspec.filesystem("memory")

    def refuse(*_, **__):
        raise RuntimeError("no credentials")

    monkeypatch.setattr(type(memory), "put_file", refuse)
    with pytest.raises(UpstreamError, match="no credentials"):
        built.service.push(NAME, "memory://refused")


def test_one_who_writes_at_the_same_moment_is_noticed(built, shelf, monkeypatch):
    (file,) = shelf.glob("*.lineage")
    kept = shelf.parent / "kept.json"
    shutil.copy(shelf / INDEX, kept)
    write, lost = Shelf._write, []

    def overwritten(self, name, content):
        write(self, name, content)
        if not lost:
            lost.append(name)
            (shelf / INDEX).write_text('{"format": "lineage-shelf", "version": 1, "bundles": []}')

    monkeypatch.setattr(Shelf, "_write", overwritten)
    built.service.push(NAME, str(shelf))
    assert [row.lineage for row in Shelf(str(shelf)).bundles()] == [NAME]
    assert lost
    assert file.exists()


def test_a_lineage_goes_through_a_shelf_in_two_commands(built, tmp_path, monkeypatch, capsys):
    from typer.testing import CliRunner

    from api.cli.app import app

    monkeypatch.setenv("LINEAGE_SHELF", str(tmp_path / "shelf"))
    run = CliRunner().invoke
    assert "licenses of texts" in run(app, ["push", NAME, "--home", str(built.home)]).output
    assert NAME in run(app, ["pull", "--home", str(tmp_path / "new")]).output
    made = run(app, ["pull", TARGET, "--offline", "--home", str(tmp_path / "new"), "--json", "-q"])
    assert json.loads(made.stdout)["data"]["lineage"] == NAME
