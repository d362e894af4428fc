"""Small ways to lose work or leave litter, each with the least that shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from indexer.lock.form import read
from indexer.parsers.latex.parser import parse
from indexer.store.atomic_files import written
from indexer.store.generations import HOLDER
from lineage import generation as layout
from lineage.errors import BadBundle
from lineage.generation import open_generation
from lineage.records import Status, WorkId
from tests.demo import NAME, TARGET, Demo
from tests.upstream import Upstream


@pytest.fixture
def offline(tmp_path):
    return Demo(tmp_path / "home", "http://127.0.0.1:9")


@pytest.fixture
def code(tmp_path):
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "a.py").write_text("rate = 1\n")
    return folder


def test_a_folder_added_to_itself_is_the_target(offline, code):
    made = offline.build(str(code), add=(str(code),))
    with open_generation(offline.home, made.lineage) as generation:
        assert any(row.detail == "added by hand, but it is the target itself" for row in generation.catalog.ledger())


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
def test_names_that_are_shown_alike_have_a_row_each(offline, code):
    for name in (b"\xff.py", rb"\xff.py"):
        (code / os.fsdecode(name)).write_text("rate = 2\n")
    made = offline.build(str(code))
    assert sum(made.ledger[part] for part in ("ok", "degraded", "failed", "excluded")) == made.ledger["in"]
    assert any("is shown as another file's" in row.detail for row in made.losses)


def test_a_lock_file_with_a_damaged_hash_is_said_to_be_damaged(tmp_path, upstream):
    demo = Demo(tmp_path / "home", upstream.url)
    demo.build(TARGET, papers=0, repos=0)
    demo.service.lock(NAME, tmp_path / "x.lock")
    lock = json.loads((tmp_path / "x.lock").read_text())
    pin = next(pin for pin in lock["answers"] if pin.get("sha256"))
    pin["sha256"] = "g" + pin["sha256"][1:]
    (tmp_path / "x.lock").write_text(json.dumps(lock))
    with pytest.raises(BadBundle, match="not a lock file"):
        read(tmp_path / "x.lock")


def test_a_first_build_killed_before_its_commit_is_no_damage(tmp_path, upstream):
    demo = Demo(tmp_path / "home", upstream.url)
    demo.build(TARGET, papers=0, repos=0)
    folder = layout.lineage_folder(demo.home, NAME)
    (folder / layout.CURRENT).unlink()
    (folder / HOLDER).write_text("{}")
    assert demo.service.check() == ()


def test_what_a_killed_export_left_beside_its_target_goes_with_the_next(tmp_path):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    left = tmp_path / f".x.lineage.{dead.stdout.strip()}.0123abcd"
    others = [tmp_path / f".x.lineage.{os.getpid()}.0123abcd", tmp_path / ".x.lineage.note"]
    for path in (left, *others):
        path.write_text("")
    with written(tmp_path / "x.lineage") as handle:
        handle.write(b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([*others, tmp_path / "x.lineage"])


def test_a_citation_of_a_hundred_thousand_keys_costs_no_paper():
    keys = ",".join(f"k{n}" for n in range(100_000))
    document = parse({"main.tex": rf"\documentclass{{article}}\begin{{document}}a \cite{{{keys}}}.\end{{document}}".encode()}, WorkId("arxiv:1"), "")
    assert (len(document.mentions), len(document.mentions[0].together), document.status) == (1_000, 100, Status.PARTIAL)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_store_is_its_owners_alone(tmp_path, world):
    with Upstream(world) as upstream:
        demo = Demo(tmp_path / "home", upstream.url)
        demo.build(TARGET, papers=0, repos=0)
    assert demo.home.stat().st_mode & 0o777 == 0o700
    assert [path for path in demo.home.rglob("*") if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("name", ["blobs", "requests", "cache", "politeness"])
def test_what_a_killed_writer_left_in_a_shared_folder_goes_with_a_build_a_day_later(offline, code, name):
    left, fresh = (offline.home / name / f".x.{n}.0123abcd" for n in (1, 2))
    left.parent.mkdir(parents=True)
    for path in (left, fresh):
        path.write_text("")
    os.utime(left, (0, 0))
    offline.build(str(code))
    assert (left.exists(), fresh.exists()) == (False, True)
