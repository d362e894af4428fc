"""Every benchmark says what it needs, and goes on without what is missing."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from benchmarks import plots
from benchmarks.parts import NOTHING, have, part, record, run_benchmark

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if "run_benchmark(main)" in path.read_text("utf-8") and path.stem != "parts")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_as_a_module_and_has_help(name, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"benchmarks.{name}").main()
    assert ended.value.code == 0
    assert "usage: " in capsys.readouterr().out


def test_a_missing_part_is_named_and_skipped(tmp_path, capsys):
    missing = tmp_path / "gone.jsonl"
    assert part("the part", Path.read_text, missing) is None
    assert capsys.readouterr().err == f"# skipped the part: there is no {missing}\n"
    missing.write_text("x")
    assert part("the part", Path.read_text, missing) == "x"
    assert have("both", missing)
    assert not have("both", missing, tmp_path / "none")
    assert capsys.readouterr().err == f"# skipped both: there is no {tmp_path / 'none'}\n"


def test_a_benchmark_without_any_data_ends_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        run_benchmark((tmp_path / "gone").read_text)
    assert ended.value.code == NOTHING
    assert capsys.readouterr().err == f"nothing to measure: there is no {tmp_path / 'gone'}\n"


def test_results_of_other_names_stay(tmp_path):
    record(tmp_path / "results.json", "a", [1])
    record(tmp_path / "results.json", "b", 2)
    record(tmp_path / "results.json", "a", [3])
    record(None, "c", 4)
    assert json.loads((tmp_path / "results.json").read_text("utf-8")) == {"a": [3], "b": 2}


def test_the_pictures_say_what_the_committed_results_say(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("sys.argv", ["plots", "--out", str(tmp_path)])
    plots.main()
    assert {path.name for path in tmp_path.iterdir()} == {f"cost-{name}.svg" for name in plots.PICTURES}
    for path in tmp_path.iterdir():
        drawn, kept = (re.findall(r">([^<>]+)</text>", (folder / path.name).read_text("utf-8")) for folder in (tmp_path, ROOT / "docs/pictures"))
        assert drawn == kept != []
