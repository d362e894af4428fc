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


def package(folder: str, version: str = "2.16.0", **more: str) -> dict[str, str]:
    return {f"{folder}/__init__.py": f'__version__ = "{version}"\n', **{f"{folder}/{name}.py": text for name, text in more.items()}}


def test_a_package_with_a_version_that_no_program_needs_to_start_is_foreign():
    assert found({"train.py": f"def reward():\n    import clipper\n{LOOP}", **package("clipper")}) == ["clipper"]


def test_one_within_another_package_is_foreign_though_it_is_loaded():
    assert found({"train.py": f"import utils.clipper\n{LOOP}", "utils/__init__.py": "", **package("utils/clipper")}) == ["utils/clipper"]


def test_a_framework_that_comes_as_a_whole_is_foreign_though_it_is_loaded_and_trains():
    assert found({"train.py": f"import diffusers\n{LOOP}", **package("diffusers", training=LOOP)}) == ["diffusers"]


def test_the_version_may_stand_in_a_file_of_its_own():
    assert found({"train.py": LOOP, "clipper/__init__.py": "", "clipper/version.py": "__version__ = '1.4.2'"}) == ["clipper"]


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": f"import library\n{LOOP}", **package("library")},
        {"train.py": LOOP, **package("library", "0.1.0")},
        {"run.py": "import library", **package("library", training=LOOP)},
        {"run.py": "", **package("library", training=LOOP)},
        {"setup.py": "from setuptools import setup", "train.py": LOOP, **package("library")},
        {"train.py": LOOP, "library/__init__.py": "", **package("library/utils")},
        {"train.py": LOOP, "notes/version.py": "__version__ = '2.0.3'"},
        package("library"),
        {"train.py": LOOP, "models/net.py": "", "models/__init__.py": ""},
    ],
    ids=["loaded", "first", "trains", "trains-unloaded", "distributed", "part", "no-package", "only", "unversioned"],
)
def test_a_package_that_may_be_the_method_is_own(files):
    assert found(files) == []


@pytest.mark.parametrize("name", ["library", "Library-2", "lib_rary"])
def test_what_is_called_like_the_repository_or_the_paper_is_own(name):
    assert found({"train.py": LOOP, **package("library")}, "method", name) == []


def test_a_project_whose_script_names_another_repository_is_foreign():
    assert found({"train.py": LOOP, "net/ops/setup.py": SCRIPT.format("deformable"), "net/ops/f.py": ""}) == ["net/ops"]


@pytest.mark.parametrize("script", [SCRIPT.format("method.git"), "from setuptools import setup", "def setup(): ...  # github.com/others/x"])
def test_a_project_that_names_its_own_or_none_is_own(script):
    assert found({"train.py": LOOP, "net/ops/setup.py": script, "net/ops/f.py": ""}) == []


def test_of_a_project_that_trains_its_packages_are_foreign_and_the_scripts_beside_them_are_not():
    fork = {
        "fork/setup.py": SCRIPT.format("framework"),
        "fork/src/framework/__init__.py": "",
        "fork/src/framework/loop.py": LOOP,
        "fork/run.py": LOOP,
    }
    assert found({"train.py": LOOP, **fork}) == ["fork/src/framework"]


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


def test_additions_to_a_framework_under_its_name_are_own():
    assert found({"train.py": LOOP, "detection/mmdet/__init__.py": "", "detection/mmdet/net.py": ""}) == []


def test_a_foreign_folder_within_another_is_told_once():
    files = {"train.py": LOOP, **package("clipper"), "clipper/clip/net.py": ""}
    assert found(files) == ["clipper"]


def test_a_repository_without_folders_has_none():
    assert found({"train.py": LOOP}) == []
