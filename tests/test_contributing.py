"""The package that CONTRIBUTING.md describes is installed as it stands there: its tests pass, and Lineage finds every plugin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lineage.hyperparameters.checklist import checklist_of
from lineage.hyperparameters.mechanisms import kinds_of
from lineage.hyperparameters.ontology import ontology
from lineage.tables import packaged

ROOT = Path(__file__).resolve().parent.parent
_FILE = re.compile(r"^```(?:python|toml)\n# ([\w/.]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FOUND = """
from api.bootstrap import _witnesses
from indexer.parsers import select
from indexer.parsers.code.languages import language_of
from indexer.transport.upstreams import upstream_of
from lineage import registry, settings

for kind, name in PLUGINS:
    assert name in registry.names(kind), name
    assert registry.load(kind, name)
assert language_of("main.zig") == "zig"
assert select.select("notes.org", b"* One").parser == "org"
assert "org=org@1" in select.versions()
assert [source.name for source in _witnesses(settings.load(sources="shelf, crossref"), None)] == ["shelf", "crossref"]
assert upstream_of("https://shelf.example.org/papers/arxiv:1")[1].bucket == "shelf"
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A folder as `pip install` would leave it: the package, its tests, and its entry points."""
    folder = tmp_path_factory.mktemp("site")
    files = dict(_FILE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert len(files) >= 12
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    project = tomllib.loads(files["pyproject.toml"])["project"]
    info = folder / "lineage_extras-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    (info / "entry_points.txt").write_text("".join(f"[{group}]\n" + "".join(f"{n} = {o}\n" for n, o in points.items()) for group, points in groups))
    (folder / "lineage_extras" / "__init__.py").touch()
    return folder


def run(folder: Path, *command: str) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)])}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_tests_of_the_described_package_pass(package):
    assert re.search(r"\b1[0-9] passed", run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."))


def test_the_described_rows_have_the_form_of_their_tables():
    detail, rule = re.findall(r"^```json\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (item,) = checklist_of(json.loads(detail)).needs
    assert item.detail.name == "ema_decay"
    assert all(ontology().find(name) for name in item.detail.facts)
    (kind,) = kinds_of(json.loads(rule))
    assert "label_smoothing" in kind.covers
    assert {field for row in packaged("mechanisms")["kinds"] for field in row} >= json.loads(rule)["kinds"][0].keys()


def test_lineage_finds_every_plugin(package):
    points = tomllib.loads((package / "pyproject.toml").read_text())["project"]["entry-points"]
    plugins = [(group.removeprefix("lineage."), name) for group, names in points.items() for name in names]
    assert len(plugins) == 7
    program = f"PLUGINS = {plugins!r}\n" + FOUND
    run(package, "-c", program)


def test_a_file_of_the_added_kind_is_built_into_a_lineage(package, tmp_path):
    """Through the sandbox, end to end: a folder of code with an Org file and a Zig file."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "notes.org").write_text("* Learning rate\nThe rate is 0.1.\n* Results\nfine\n")
    (code / "main.zig").write_text("fn schedule(step: i32) i32 {\n    return step;\n}\n")
    home = ["--home", str(tmp_path / "home"), "--offline"]
    program = "from api.cli.app import main; main()"
    run(package, "-c", program, "build", str(code), "--name", "extras", "--tier", "first", *home)
    shown = run(package, "-c", program, "query", "learning rate", "--lineage", "extras", "--home", str(tmp_path / "home"))
    assert "notes.org" in shown
    assert "schedule" in run(package, "-c", program, "query", "schedule", "--lineage", "extras", "--home", str(tmp_path / "home"), "--json")
