"""A generation opens whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from lineage import generation as layout
from lineage.errors import BadIdentifier, NotFound, StoreDamaged
from lineage.generation import FileRecord, open_generation
from tests.fakes import small_lineage as small
from tests.fakes.embedder import HashingEmbedder


@pytest.fixture
def home(tmp_path):
    small.build(tmp_path, HashingEmbedder())
    return tmp_path


def folder(home):
    return layout.generation_folder(home, "small", layout.current(home, "small"))


def test_the_current_generation_opens_with_catalogue_and_vectors(home):
    with open_generation(home, "small") as found:
        assert found.manifest.target == small.TARGET
        assert found.manifest.counts["chunks"] == len(found.catalog.chunks(range(8))) == 8
        assert found.vectors.shape == (8, 64)
        assert found.vectors.dtype == np.float32


def test_a_lexical_generation_has_no_vectors(tmp_path):
    small.build(tmp_path)
    with open_generation(tmp_path, "small") as found:
        assert found.vectors is None
        assert found.manifest.embedder == ""


def test_lineages_are_listed_by_name(home):
    small.build(home, name="another")
    assert layout.names(home) == ("another", "small")
    assert layout.names(home / "none") == ()


def test_an_unknown_lineage_or_generation_is_not_found(home):
    with pytest.raises(NotFound, match="no lineage 'other'") as error:
        open_generation(home, "other")
    assert error.value.hint == "known: small"
    with pytest.raises(NotFound):
        open_generation(home, "small", "000009-00000000")


@pytest.mark.parametrize("name", ["../small", "a/b", "", ".", "..", "small/../small"])
def test_a_name_cannot_leave_the_store(home, name):
    with pytest.raises(BadIdentifier):
        open_generation(home, name)
    with pytest.raises(NotFound):
        layout.generation_folder(home, "small", name)


@pytest.mark.parametrize("name", ["catalog.db", "vectors.npy", "manifest.json"])
def test_a_missing_or_shortened_file_is_damage(home, name):
    path = folder(home) / name
    path.parent.chmod(0o755)
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(StoreDamaged, match=name):
        open_generation(home, "small")
    path.write_bytes(content[:-7])
    with pytest.raises(StoreDamaged, match=name):
        open_generation(home, "small")


def test_an_unknown_manifest_version_is_refused(home):
    path = folder(home) / "manifest.json"
    value = json.loads(path.read_bytes())
    path.chmod(0o644)
    path.write_text(json.dumps({**value, "version": 2}))
    with pytest.raises(StoreDamaged, match="format 2"):
        open_generation(home, "small")


def test_a_pointer_that_names_no_generation_is_damage(home):
    pointer = home / "lineages/small/CURRENT"
    pointer.write_text("../../../etc")
    with pytest.raises(StoreDamaged, match="does not name a generation"):
        layout.current(home, "small")
    pointer.write_bytes(os.urandom(16) + b"\xff")
    with pytest.raises(StoreDamaged):
        layout.current(home, "small")


def test_vectors_of_another_shape_or_with_objects_inside_are_damage(home):
    path = folder(home) / "vectors.npy"
    manifest = layout.read_manifest(folder(home))
    for wrong in (np.zeros((8, 63), np.float32), np.array([{}], dtype=object)):
        path.chmod(0o644)
        np.save(path, wrong, allow_pickle=True)
        files = {**manifest.files, "vectors.npy": FileRecord(path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())}
        (folder(home) / "manifest.json").chmod(0o644)
        (folder(home) / "manifest.json").write_bytes(replace(manifest, files=files).to_json())
        with pytest.raises(StoreDamaged, match=r"vectors\.npy"), open_generation(home, "small") as generation:
            generation.vectors  # noqa: B018
