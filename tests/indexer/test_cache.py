"""A cache may forget, it never lies."""

from __future__ import annotations

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from indexer.store.computed_cache import DerivedCache, VectorCache, looked_up
from lineage.catalog.keyed import Keyed
from lineage.errors import SettingsError


def test_vectors_come_back_by_embedder_and_key(tmp_path):
    cache = VectorCache(tmp_path)
    cache.put("granite@1", {"a": np.array([1, 0], np.float32), "b": np.array([0, 1], np.float32)})
    found = VectorCache(tmp_path).get("granite@1", ["b", "a", "c"])
    assert {key: list(row) for key, row in found.items()} == {"a": [1.0, 0.0], "b": [0.0, 1.0]}
    assert cache.get("granite@2", ["a"]) == {}


def test_thousands_of_vectors_in_one_go(tmp_path):
    cache = VectorCache(tmp_path)
    rows = np.random.default_rng(1).standard_normal((3000, 8)).astype(np.float32)
    cache.put("m", {str(n): row for n, row in enumerate(rows)})
    found = cache.get("m", (str(n) for n in range(3001)))
    assert len(found) == 3000
    assert np.array_equal(found["2999"], rows[2999])


def test_a_derived_value_is_kept_by_input_stage_and_version(tmp_path):
    cache = DerivedCache(tmp_path)
    cache.put("hash", "parse", "latex@1", b"one")
    cache.put("hash", "parse", "latex@2", b"two")
    cache.put("hash", "parse", "latex@2", b"three")
    assert cache.get("hash", "parse", "latex@1") == b"one"
    assert cache.get("hash", "parse", "latex@2") == b"three"
    assert cache.get("hash", "chunk", "latex@1") is None


def test_parts_of_a_key_do_not_run_together(tmp_path):
    cache = DerivedCache(tmp_path)
    cache.put("ab", "c", "1", b"x")
    assert cache.get("a", "bc", "1") is None


def test_a_value_that_was_altered_counts_as_absent(tmp_path):
    cache = DerivedCache(tmp_path)
    cache.put("hash", "parse", "1", b"good")
    cache.close()
    with sqlite3.connect(tmp_path / "cache/derived.db") as db:
        db.execute("UPDATE kept SET value = x'00'")
    assert cache.get("hash", "parse", "1") is None


def test_looking_into_a_cache_changes_nothing(tmp_path):
    path = tmp_path / "cache" / "derived.db"
    assert looked_up(tmp_path, "hash", "report", "1") is None
    assert not path.parent.exists()
    with closing(DerivedCache(tmp_path)) as cache:
        cache.put("hash", "report", "1", b"good")
    before = path.read_bytes()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    assert looked_up(tmp_path, "hash", "report", "1") == b"good"
    assert looked_up(tmp_path, "hash", "report", "2") is None
    assert path.read_bytes() == before
    path.parent.chmod(0o755)
    path.chmod(0o644)
    path.write_bytes(b"rubbish " * 1000)
    assert looked_up(tmp_path, "hash", "report", "1") is None
    assert [file.name for file in path.parent.glob("*.damaged")] == []


def test_a_file_that_is_none_is_moved_aside_and_begun_anew(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/derived.db").write_bytes(b"rubbish " * 1000)
    cache = DerivedCache(tmp_path)
    cache.put("hash", "parse", "1", b"good")
    assert cache.get("hash", "parse", "1") == b"good"
    assert (tmp_path / "cache/derived.damaged").exists()


def test_threads_may_share_a_cache(tmp_path):
    cache = DerivedCache(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: cache.put(str(n), "s", "1", b"%d" % n), range(40)))
    assert [cache.get(str(n), "s", "1") for n in range(40)] == [b"%d" % n for n in range(40)]


def test_a_home_that_cannot_be_used_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError):
        DerivedCache(tmp_path / "file").get("a", "b", "c")


def test_a_bit_that_flips_in_unused_space_is_found_and_the_rows_survive_its_repair(tmp_path):
    cache = DerivedCache(tmp_path)
    cache.put("hash", "parse", "1", b"good")
    cache.close()
    path = tmp_path / "cache/derived.db"
    content = bytearray(path.read_bytes())
    content[content.index(b"\0" * 200) + 100] ^= 1
    path.write_bytes(content)
    kept = Keyed(path)
    assert list(kept.damage()) == ["the file is not what was written"]
    kept.forget_damaged()
    kept.close()
    assert list(kept.damage()) == []
    assert cache.get("hash", "parse", "1") == b"good"


def test_what_is_written_after_the_seal_is_no_damage(tmp_path):
    cache = DerivedCache(tmp_path)
    cache.put("hash", "parse", "1", b"good")
    cache.close()
    cache.put("hash", "parse", "2", b"better")  # and killed before it is closed
    assert list(Keyed(tmp_path / "cache/derived.db").damage()) == []


def test_a_transaction_that_a_killed_process_left_is_no_damage(tmp_path):
    path = tmp_path / "a.db"
    cache = Keyed(path)
    cache.put([(str(n), b"x" * 5_000) for n in range(50)])
    cache.close()
    (tmp_path / "killed").mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size=1")
        db.execute("BEGIN")
        db.execute("UPDATE kept SET value = x'00'")  # more than the cache holds: part of it stands in the file, what was there in the journal
        for left in tmp_path.glob("a.*"):
            shutil.copy(left, tmp_path / "killed")
    left_behind = Keyed(tmp_path / "killed" / "a.db")
    assert list(left_behind.damage()) == []
    assert left_behind.get(["7"]) == {"7": b"x" * 5_000}
