"""What the wheel carries, read from pyproject.toml; `.ci/run` installs the wheel itself and runs it."""

from __future__ import annotations

import tomllib
from pathlib import Path

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
