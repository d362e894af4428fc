"""A list is not filled by one configuration a data set."""

from __future__ import annotations

import pytest

from lineage.model import Chunk, WorkId
from retrieval.families import MOST, names_set
from retrieval.fuse import Fused, Scored, capped

REPO, OTHER = WorkId("repo:github.com/a/b"), WorkId("repo:github.com/c/d")
CONFIG = "lr = {n}\nsteps = {n}\nbatch_size = 4096\n\n[train]\nweight_decay = 0.0\n"


def piece(row, text, path, work=REPO):
    return Scored(Fused(row, 10.0 - row), Chunk(f"c_{row}", work, path, "config", "config", text, "", row, row + 1, row, row), str(row))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (CONFIG, {"lr", "steps", "batch_size", "weight_decay"}),
        ('{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4\n}', {"a", "b", "c", "d"}),
        ("config.a = 1\nconfig.b = 2\nconfig.c = 3\nconfig.d = 4\nreturn config", {"config.a", "config.b", "config.c", "config.d"}),
        ("a = 1\nb = 2\nc = 3\n", set()),
        ("a = 1\nb = 2\nc = 3\nd = 4\n" + "call(it)\n" * 5, set()),
        ("if a == 1: x\nstd::move(y)\n", set()),
        ("", set()),
        ("a" * 100_000 + "=1\n" * 5, set()),
    ],
)
def test_names_are_told_where_most_lines_set_one(text, names):
    assert names_set(text) == names


def test_a_family_has_few_places_and_the_rest_come_after_all_others():
    configs = [piece(n, CONFIG.format(n=n), f"exp/{n}/config.toml") for n in range(5)]
    found = [*configs, piece(5, "def tuned(): ...", "tune.py"), piece(6, CONFIG, "config.toml", OTHER)]
    rows = [one.fused.row for one in capped(found, 7, 1.0)]
    assert rows == [0, 1, 5, 6, 2, 3, 4]
    assert MOST == 2


def test_one_file_is_no_family_of_its_own():
    found = [piece(n, CONFIG.format(n=n), "config.toml") for n in range(4)]
    assert [one.fused.row for one in capped(found, 4, 1.0)] == [0, 1, 2, 3]
