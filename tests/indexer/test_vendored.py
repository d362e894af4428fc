"""Which folders of a repository are other people's packages."""

from __future__ import annotations

import pytest

from indexer.repo_profile import RepositoryFiles, vendored

LOOP = "for x in data:\n    loss.backward()\n"
SCRIPT = "from setuptools import setup\nsetup(name='ops', url='https://github.com/others/{}')\n"
RIGHTS = "MIT License\n\nCopyright (c) 2021 {}\n"


def found(files: dict[str, str], *names: str) -> list[str]:
    """The foreign folders of a repository that trains in `train.py`, called `method` if nothing else is said."""
    return sorted(vendored(RepositoryFiles(frozenset(files), lambda path: files.get(path, ""), names or ("method",))))


@pytest.mark.parametrize("name", ["library", "Library-2", "lib_rary"])
def test_what_is_called_like_the_repository_or_the_paper_is_own(name):
    assert found({"train.py": LOOP, "library/LICENSE": RIGHTS.format("Them"), "library/net.py": ""}, "method", name) == []


def test_a_project_whose_script_names_another_repository_is_foreign():
    assert found({"train.py": LOOP, "net/ops/setup.py": SCRIPT.format("deformable"), "net/ops/f.py": ""}) == ["net/ops"]


@pytest.mark.parametrize("script", [SCRIPT.format("method.git"), "from setuptools import setup", "def setup(): ...  # github.com/others/x"])
def test_a_project_that_names_its_own_or_none_is_own(script):
    assert found({"train.py": LOOP, "net/ops/setup.py": script, "net/ops/f.py": ""}) == []


def test_a_project_that_trains_is_foreign_where_something_else_trains_too():
    fork = {"fork/setup.py": SCRIPT.format("framework"), "fork/framework/loop.py": LOOP}
    assert found({"train.py": LOOP, **fork}) == ["fork"]
    assert found({"train.py": "", **fork}) == []


def test_a_folder_with_the_licence_of_somebody_else_is_foreign():
    files = {"train.py": LOOP, "LICENSE": RIGHTS.format("Us"), "other/LICENSE": RIGHTS.format("Them"), "other/net.py": ""}
    assert found(files) == ["other"]


@pytest.mark.parametrize("change", [{"other/LICENSE": RIGHTS.format("Us")}, {"other/LICENSE": "no holder"}, {"other/net.py": LOOP}])
def test_a_licence_says_nothing_if_it_is_our_own_or_blank_or_the_folder_trains(change):
    files = {"train.py": LOOP, "LICENSE": RIGHTS.format("Us"), "other/LICENSE": RIGHTS.format("Them"), "other/net.py": ""}
    assert found({**files, **change}) == []


def test_a_package_that_experiments_come_with_is_known_by_its_name_unless_it_trains():
    assert found({"train.py": LOOP, "tools/dnnlib/util.py": ""}) == ["tools/dnnlib"]
    assert found({"train.py": LOOP, "taming/vqgan.py": LOOP}) == []


def test_a_foreign_folder_within_another_is_told_once():
    files = {"train.py": LOOP, "tools/setup.py": SCRIPT.format("tools"), "tools/clip/net.py": ""}
    assert found(files) == ["tools"]


def test_a_repository_without_folders_has_none():
    assert found({"train.py": LOOP}) == []
