"""`lineage check` names what is damaged and touches nothing."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from indexer.store.verify import vector_findings, verify
from lineage import generation as layout
from lineage.errors import NotFound
from tests.fakes import small_lineage as small
from tests.fakes.embedder import HashingEmbedder


@pytest.fixture
def home(tmp_path):
    small.build(tmp_path, HashingEmbedder())
    return tmp_path


def folder(home: Path) -> Path:
    found = layout.generation_folder(home, "small", layout.current(home, "small"))
    for path in found.iterdir():
        path.chmod(0o644)
    return found


def problems(home: Path, *, read_data: bool = False) -> list[tuple[str, str]]:
    return [(Path(finding.place).name, finding.problem) for finding in verify(home, "small", read_data)]


def test_a_whole_lineage_has_no_findings(home):
    assert problems(home, read_data=True) == []


def test_an_unknown_lineage_is_not_found(home):
    with pytest.raises(NotFound):
        verify(home, "other")


@pytest.mark.parametrize("name", ["catalog.db", "vectors.npy", "manifest.json"])
def test_every_flipped_bit_is_found(home, name):
    path = folder(home) / name
    good = path.read_bytes()
    chance = random.Random(7)
    for position in chance.sample(range(len(good)), 40):
        bad = bytearray(good)
        bad[position] ^= 1 << chance.randrange(8)
        path.write_bytes(bad)
        assert problems(home), f"bit flip at {position} of {name} was not found"
    path.write_bytes(good)
    assert problems(home) == []


@pytest.mark.parametrize("name", ["catalog.db", "vectors.npy", "manifest.json"])
def test_a_removed_file_is_named(home, name):
    (folder(home) / name).unlink()
    assert (name, "is missing") in problems(home) or "is missing" in problems(home)[0][1]


def test_a_changed_row_is_named_even_if_the_file_was_hashed_anew(home):
    with sqlite3.connect(folder(home) / "catalog.db") as db:
        db.execute("UPDATE chunks SET start_line = 2 WHERE row = 1")
    found = [problem for _, problem in problems(home)]
    assert any("chunk row 1" in problem for problem in found)
    assert any("SHA-256" in problem or "bytes" in problem for problem in found)


def test_a_stranger_in_the_folder_and_a_pointer_to_nowhere_are_named(home):
    (folder(home) / "notes.txt").write_text("mine")
    (home / "lineages/small/CURRENT").write_text("000007-00000000\n")
    assert problems(home) == [("notes.txt", "is not in the manifest"), ("CURRENT", "points to generation 000007-00000000, which is not there")]
    assert (home / "lineages/small/gen").exists()


def test_vectors_that_are_not_of_length_one_are_named(tmp_path):
    rows = np.eye(5, dtype=np.float32)
    rows[3] *= 2
    rows[4, 0] = np.nan
    np.save(tmp_path / "v.npy", rows)
    assert [f.problem for f in vector_findings(tmp_path / "v.npy", 5, 5)] == ["2 rows are not unit vectors, the first is row 3"]
    assert [f.problem for f in vector_findings(tmp_path / "v.npy", 4, 5)] == ["holds float32 (5, 5) for 4 chunks of dimension 5"]


def test_blobs_are_hashed_only_when_asked(home):
    content = b"the bytes as they came"
    name = hashlib.sha256(content).hexdigest()
    path = home / "blobs" / name[:2] / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert problems(home, read_data=True) == []
    path.write_bytes(b"the bytes as they came?")
    assert problems(home) == []
    assert problems(home, read_data=True) == [(name, "is not what its name says (SHA-256 differs)")]
    assert path.exists()
