"""Bits that flip are found wherever they lie, change no answer, and are mended alone."""

from __future__ import annotations

import os
import random
import shutil

import numpy as np
import pytest

from lineage import generation as layout
from lineage.errors import StoreDamaged
from lineage.generation import open_generation
from tests.demo import NAME, TARGET, Demo
from tests.fakes import small_lineage as small
from tests.fakes.embedder import HashingEmbedder
from tests.upstream import Upstream

KINDS = ("catalog.db", "vectors.npy", "manifest.json", "CURRENT", "blobs", "requests", "politeness")


@pytest.fixture(scope="module")
def sound(tmp_path_factory, world):
    """A home with a built lineage, and its upstream still there to be asked."""
    with Upstream(world) as upstream:
        demo = Demo(tmp_path_factory.mktemp("sound"), upstream.url)
        demo.build(TARGET)
        demo.mirror = upstream.url
        yield demo


@pytest.fixture
def copy(sound, tmp_path):
    shutil.copytree(sound.home, tmp_path / "copy")
    return Demo(tmp_path / "copy", sound.mirror)


def flip(path, dice):
    """Flip one bit of a file and say which."""
    content = bytearray(path.read_bytes())
    bit = dice.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    path.chmod(0o644)
    path.write_bytes(content)
    return bit


def of_kind(home, kind):
    files = [path for path in home.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(
        path for path in files if path.name == kind or ((path.parent.name == kind or path.parent.parent.name == kind) and path.suffix != ".lock")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_found_and_mended_alone(copy, kind, request):
    dice = random.Random(kind)
    path = dice.choice(of_kind(copy.home, kind))
    before = {other: other.stat().st_mtime_ns for other in of_kind(copy.home, "blobs") if other != path}
    bit = flip(path, dice)
    places = [finding.place for finding in copy.service.check(read_data=True)]
    assert places, f"bit {bit} of {path}"
    copy.service.repair()
    assert copy.service.check(read_data=True) == ()
    assert {other: other.stat().st_mtime_ns for other in before} == before


def test_a_flip_in_a_remembered_answer_changes_no_build(copy, sound):
    dice = random.Random(7)
    former = layout.read_manifest(layout.generation_folder(copy.home, NAME, layout.current(copy.home, NAME))).content_hash
    for path in dice.sample(of_kind(copy.home, "requests"), 8):
        flip(path, dice)
    assert copy.build(TARGET).content_hash == former


def test_a_file_that_does_not_belong_to_a_generation_is_found_and_costs_it_nothing(copy):
    folder = layout.generation_folder(copy.home, NAME, layout.current(copy.home, NAME))
    (folder / "notes.txt").write_text("mine")
    assert (len(copy.service.check()), copy.service.repair()) == (1, ())
    assert (folder / "notes.txt").exists()


def test_damaged_cache_rows_are_found_and_taken_out(copy):
    path = copy.home / "cache" / "derived.db"
    content = path.read_bytes()
    place = content.index(b"repo:github.com")
    path.write_bytes(content[:place] + b"X" + content[place + 1 :])
    assert [finding.problem for finding in copy.service.check(read_data=True)] == ["1 rows are not what was written"]
    copy.service.repair()
    assert copy.service.check(read_data=True) == ()


@pytest.fixture
def vectors(tmp_path):
    small.build(tmp_path, HashingEmbedder())
    path = layout.generation_folder(tmp_path, "small", layout.current(tmp_path, "small")) / layout.VECTORS
    path.chmod(0o644)
    return path


def test_a_flipped_exponent_in_the_vectors_is_refused(tmp_path, vectors):
    with open_generation(tmp_path, "small") as generation:
        assert generation.vectors is not None
    content = bytearray(vectors.read_bytes())
    content[-1] ^= 0x40
    vectors.write_bytes(content)
    with open_generation(tmp_path, "small") as generation, pytest.raises(StoreDamaged, match="SHA-256 differs"):
        generation.vectors  # noqa: B018


def test_vectors_are_hashed_once_while_their_file_stays_the_same_and_their_length_is_looked_at_always(tmp_path, vectors):
    with open_generation(tmp_path, "small") as generation:
        assert generation.vectors is not None
    about = vectors.stat()
    rows = np.load(vectors)
    rows[3] *= 2
    content = vectors.read_bytes()[: -rows.nbytes] + rows.tobytes()
    vectors.write_bytes(content)
    os.utime(vectors, ns=(about.st_atime_ns, about.st_mtime_ns))
    with open_generation(tmp_path, "small") as generation, pytest.raises(StoreDamaged, match="row 3 is not a unit vector"):
        generation.vectors  # noqa: B018


def test_a_catalogue_cut_short_while_it_is_read_is_an_error_and_not_the_end_of_the_process(tmp_path):
    small.build(tmp_path)
    with open_generation(tmp_path, "small") as generation:
        path = generation.folder / layout.CATALOG
        path.chmod(0o644)
        os.truncate(path, 4096)
        with pytest.raises(StoreDamaged):
            list(generation.catalog.damage())
