"""A generation is committed whole or not at all, by one writer at a time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from indexer.store.generations import Store
from indexer.store.verify import verify
from lineage import generation as layout
from lineage.errors import BadIdentifier, DiskFull, SettingsError, StoreBusy, StoreError
from lineage.generation import open_generation
from tests.fakes import small_lineage as small
from tests.fakes.embedder import HashingEmbedder


def files(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home / "lineages/small")) for path in (home / "lineages/small").rglob("*") if path.is_file())


def generations(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "lineages/small/gen").iterdir())


def swept(home: Path) -> tuple[str, ...]:
    with Store(home).writing("small") as writing:
        writing.tidy()
        return writing.sweep()


def interrupted(store: Store) -> None:
    with store.writing("small") as writing, writing.draft() as draft, draft.catalog() as catalog:
        catalog.add_works(small.works())
        raise RuntimeError("interrupted")


def test_a_committed_generation_is_the_current_one_and_cannot_be_written(tmp_path):
    manifest = small.build(tmp_path, HashingEmbedder())
    store = Store(tmp_path)
    assert store.lineages() == ("small",)
    assert store.manifest("small") == manifest
    assert manifest.id.startswith("000001-")
    assert [oct(path.stat().st_mode & 0o777) for path in (tmp_path / "lineages/small/gen" / manifest.id).iterdir()] == ["0o400"] * 3


def test_building_twice_gives_the_same_content_hash_in_a_new_generation(tmp_path):
    first, second = small.build(tmp_path), small.build(tmp_path)
    assert first.content_hash == second.content_hash
    assert [first.id[:7], second.id[:7]] == ["000001-", "000002-"]
    assert generations(tmp_path) == [first.id, second.id]
    assert layout.current(tmp_path, "small") == second.id


def test_a_draft_that_fails_leaves_nothing_and_the_old_generation_stays(tmp_path):
    manifest = small.build(tmp_path)
    before = files(tmp_path)
    with pytest.raises(RuntimeError):
        interrupted(Store(tmp_path))
    assert files(tmp_path) == before
    assert layout.current(tmp_path, "small") == manifest.id


def test_a_writer_killed_in_the_middle_leaves_only_what_sweep_removes(tmp_path):
    manifest = small.build(tmp_path)
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom indexer.store.generations import Store\nfrom tests.fakes import small_lineage as small\n"
        "with Store(Path(sys.argv[1])).writing('small') as w, w.draft() as d, d.catalog() as c:\n"
        "    c.add_chunks(small.chunks())\n    os._exit(9)\n"
    )
    root = Path(__file__).resolve().parents[2]
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=root, check=False)
    assert ended.returncode == 9
    store = Store(tmp_path)
    assert verify(tmp_path, "small") == ()
    assert store.manifest("small") == manifest
    assert swept(tmp_path) == ()
    assert generations(tmp_path) == [manifest.id]


def test_sweep_keeps_the_current_and_the_newest_generations(tmp_path):
    made = [small.build(tmp_path) for _ in range(4)]
    with open_generation(tmp_path, "small", made[0].id) as reader:
        assert swept(tmp_path) == (made[0].id, made[1].id)
        assert reader.catalog.chunks([0]) == [small.chunks()[0]]
    assert generations(tmp_path) == [made[2].id, made[3].id]


def test_a_second_writer_is_told_who_is_writing(tmp_path):
    store = Store(tmp_path)
    with (
        store.writing("small"),
        pytest.raises(StoreBusy, match=rf"lineage 'small' is being written by process {os.getpid()} on .+ since \d{{4}}-"),
        store.writing("small"),
    ):
        pass
    with store.writing("small"):
        pass


def test_a_forged_or_stale_holder_file_stops_nobody(tmp_path):
    folder = tmp_path / "lineages/small"
    folder.mkdir(parents=True)
    (folder / ".writer.json").write_text('{"host": "elsewhere", "pid": 1, "since": "2001-01-01"}')
    (folder / ".writing").write_text("")
    with Store(tmp_path).writing("small"):
        pass


def test_vectors_that_are_not_as_many_as_chunks_are_refused(tmp_path):
    with Store(tmp_path).writing("small") as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works(small.works())
            catalog.add_chunks(small.chunks())
            catalog.finish()
        draft.vectors(np.eye(7, 8, dtype=np.float32), "fake")
        with pytest.raises(StoreError, match="8 chunks need as many vectors"):
            draft.commit(target="", fingerprint="")
    assert Store(tmp_path).lineages() == ()


def test_vectors_can_follow_in_a_second_generation_of_the_same_catalogue(tmp_path):
    lexical = small.build(tmp_path)
    embedder = HashingEmbedder()
    with open_generation(tmp_path, "small") as former, Store(tmp_path).writing("small") as writing, writing.draft() as draft:
        draft.take(former.folder)
        draft.vectors(embedder.passages(["x"] * 8), embedder.id)
        manifest = draft.commit(target=small.TARGET, fingerprint="f")
    assert manifest.content_hash == lexical.content_hash
    assert manifest.embedder == "fake-hash@1"
    assert verify(tmp_path, "small") == ()


@pytest.mark.parametrize("name", ["../x", "a/b", ""])
def test_a_lineage_cannot_be_written_outside_the_store(tmp_path, name):
    with pytest.raises(BadIdentifier), Store(tmp_path).writing(name):
        pass


def test_a_home_that_is_a_file_is_a_setting_that_cannot_be_used(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"), Store(tmp_path / "home").writing("small"):
        pass


def test_a_full_disk_is_said_and_nothing_half_written_stays(tmp_path, monkeypatch):
    small.build(tmp_path)
    before = files(tmp_path)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="no room left"):
        small.build(tmp_path)
    monkeypatch.undo()
    assert files(tmp_path) == before
    assert verify(tmp_path, "small") == ()
