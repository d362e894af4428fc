"""What the wheel carries, read from pyproject.toml; `.ci/run` installs the wheel itself and runs it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def test_the_demonstration_is_in_the_wheel_with_all_that_it_needs():
    carried = WHEEL["force-include"]
    modules = {f"tests/upstream/{path.name}" for path in (ROOT / "tests" / "upstream").glob("*.py") if not path.name.startswith("test_")}
    assert modules | {"tests/__init__.py", "examples/demo"} == set(carried)
    assert {f"api/demonstration/{name}" for name in carried} == set(carried.values())


def test_every_package_of_the_project_is_in_the_wheel():
    assert WHEEL["packages"] == ["lineage", "indexer", "retrieval", "api"]


def test_an_ordinary_installation_has_no_torch_and_the_one_for_work_has_everything():
    assert not [name for name in PROJECT["project"]["dependencies"] if name.startswith(("torch", "sentence-transformers"))]
    extras = PROJECT["project"]["optional-dependencies"]
    assert [name.split(">")[0] for name in extras["hub"]] == ["sentence-transformers", "torch"]
    assert "paper-lineage[hub,docs]" in extras["dev"]


def test_the_package_says_who_made_it_where_it_is_and_on_what_it_runs():
    project = PROJECT["project"]
    assert project["authors"]
    assert {"Source", "Issues", "Changelog", "Documentation"} <= set(project["urls"])
    pythons = {name.rpartition(" ")[2] for name in project["classifiers"] if name.startswith("Programming Language :: Python :: 3.")}
    assert pythons == {"3.11", "3.12", "3.13", "3.14"}
    assert all((ROOT / package / "py.typed").is_file() for package in WHEEL["packages"])


def test_the_same_tree_gives_the_same_wheel_and_source_archive(tmp_path):
    """From two folders with other names and times of change."""
    pytest.importorskip("hatchling")
    if not (ROOT / "Makefile").exists():
        pytest.skip("the source tree is not here")
    hashes = []
    for name in ("one", "another"):
        tree = tmp_path / name
        kept = [*WHEEL["packages"], "tests", "examples", "pyproject.toml", "README.md", "LICENSE"]
        for part in kept:
            source = ROOT / part
            ignored = shutil.ignore_patterns("__pycache__", "*.onnx", "*.safetensors", "*.npy")
            _ = shutil.copytree(source, tree / part, ignore=ignored) if source.is_dir() else shutil.copyfile(source, tree / part)
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / f"{name}-dist")], cwd=tree, check=True, capture_output=True)
        hashes.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / f"{name}-dist").iterdir()})
    assert hashes[0] == hashes[1]
    assert {Path(name).suffix for name in hashes[0]} == {".whl", ".gz"}


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_no_right_to_write_but_the_one_that_publishes(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    wide = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert set(wide) <= {"publish"}
    for job in wide.values():
        assert job["id-token"] == "write"
    assert "secrets." not in path.read_text(encoding="utf-8")


def test_the_constraints_fit_what_the_package_asks_for():
    packaging = pytest.importorskip("packaging.requirements")
    if not (ROOT / "constraints.txt").exists():
        pytest.skip("the source tree is not here")
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    pinned = {name.lower().replace("_", "-"): version for name, version in (line.split("==") for line in lines)}
    asked = [packaging.Requirement(line) for line in PROJECT["project"]["dependencies"]]
    assert [one.name for one in asked if not one.specifier.contains(pinned[one.name.lower()])] == []
