"""A list is not filled by one configuration a data set."""

from __future__ import annotations

import pytest

from lineage.records import Chunk, WorkId
from retrieval.search.diversity import MOST, Families, capped, names_set
from retrieval.search.fusion import Scored

REPO, OTHER = WorkId("repo:github.com/a/b"), WorkId("repo:github.com/c/d")
CONFIG = "lr = {n}\nsteps = {n}\nbatch_size = 4096\n\n[train]\nweight_decay = 0.0\n"


def piece(row, text, path, work=REPO):
    return Scored(row, 10.0 - row, Chunk(f"c_{row}", work, path, "config", "config", text, "", row, row + 1, row, row), str(row))


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
    rows = [one.row for one in capped(found, 7, 1.0)]
    assert rows == [0, 1, 5, 6, 2, 3, 4]
    assert MOST == 2


def test_one_file_is_no_family_of_its_own():
    found = [piece(n, CONFIG.format(n=n), "config.toml") for n in range(4)]
    assert [one.row for one in capped(found, 4, 1.0)] == [0, 1, 2, 3]


def settings_of(*names, path="a.toml", work=REPO, row=0):
    return piece(row, "\n".join(f"{name} = {row}" for name in names), path, work).chunk


def admitted(*chunks):
    families = Families()
    return [families.admits(one) for one in chunks]


TEN = [f"n{number}" for number in range(10)]


def test_files_are_a_family_where_seven_tenths_of_their_names_are_the_same():
    alike = [*TEN[:8], "own", "mine"]  # eight of twelve
    nearly = [*TEN[:9], "own"]  # nine of eleven
    first = [settings_of(*TEN, path=f"{at}.toml") for at in range(MOST)]
    assert admitted(*first, settings_of(*alike, path="x.toml")) == [True, True, True]
    assert admitted(*first, settings_of(*nearly, path="x.toml")) == [True, True, False]


def test_a_part_of_a_familys_names_is_another_file():
    first = [settings_of(*TEN, path=f"{at}.toml") for at in range(MOST)]
    assert admitted(*first, settings_of(*TEN[:6], path="x.toml")) == [True, True, True]
    assert admitted(*first, settings_of(*TEN[:7], path="x.toml")) == [True, True, False]


def test_another_work_and_what_sets_nothing_are_no_members():
    first = [settings_of(*TEN, path=f"{at}.toml") for at in range(MOST)]
    prose = piece(9, "We set the rate to a value.\n" * 5, "x.md").chunk
    assert admitted(*first, prose, prose, prose, settings_of(*TEN, path="x.toml", work=OTHER)) == [True] * 6


def test_a_member_that_was_turned_away_takes_no_place_and_one_file_takes_one():
    same = settings_of(*TEN, path="0.toml")
    others = [settings_of(*TEN, path=f"{at}.toml") for at in range(1, 5)]
    assert admitted(same, same, same, others[0], others[1], same) == [True, True, True, True, False, True]
    assert admitted(others[0], others[1], others[2], others[2], others[0]) == [True, True, False, False, True]


def test_blank_lines_do_not_count_among_the_lines_that_set_no_name():
    assert names_set("a: 1\n\n\nb: 2\n\n\n\nc: 3\n\n  \n\t\nd: 4\n\n") == {"a", "b", "c", "d"}


@pytest.mark.parametrize("line", ["key: 1", "  key = 1", '"key": 1', "'key' : 1", "- key: 1", "+ key = 1", "\tkey=1", "a.key-2: x"])
def test_a_name_is_set_in_the_forms_of_yaml_json_toml_python_and_patches(line):
    name = "a.key-2" if "." in line else "key"
    assert names_set(f"a = 1\nb = 2\nc = 3\n{line}") == {"a", "b", "c", name}


@pytest.mark.parametrize("line", ["key == 1", "key::value", "1key = 2", "return key", "key", "# key"])
def test_a_comparison_or_a_path_sets_none(line):
    assert names_set(f"a = 1\nb = 2\nc = 3\nd = 4\n{line}") == {"a", "b", "c", "d"}
