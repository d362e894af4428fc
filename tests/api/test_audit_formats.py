"""How an audit is written for code hosts and pull requests, when it fails, and the action and hook that run it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from api.cli import audit
from api.cli.app import app
from api.operations import Service
from lineage.results import Audit, AuditFinding

ROOT = Path(__file__).parents[2]
WRONG = AuditFinding("experiment", "learning_rate", "learning rate", "deviation", "0.1", "0.2", "a b/train.py#L3-L4", severity=0.8, why="stated")
LACKING = AuditFinding("method", "ema_decay", "EMA decay", "missing", "0.999", why="stated")
AGREES = AuditFinding("method", "encoder", "Encoder|x", "match", "an encoder")
MADE = Audit("folder", "arxiv-2401.00001", "g1", (WRONG, LACKING, AGREES), 0.5)

# what section 3 of the SARIF 2.1.0 standard demands of the parts that are written
KINDS = {"notApplicable", "pass", "fail", "review", "open", "informational"}
LEVELS = {"none", "note", "warning", "error"}


def check_sarif(log):
    assert log["version"] == "2.1.0"
    for run in log["runs"]:  # 3.13.4
        rules = run["tool"]["driver"]["rules"]  # 3.14.6, 3.18
        assert run["tool"]["driver"]["name"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]  # 3.27.5, 3.27.6
            assert result["kind"] in KINDS  # 3.27.9
            assert result["level"] in LEVELS  # 3.27.10
            assert result["kind"] == "fail" or result["level"] == "none"
            assert result["message"]["text"]  # 3.27.11
            assert 0 <= result["rank"] <= 100  # 3.27.25
            assert all(isinstance(mark, str) for mark in result["partialFingerprints"].values())  # 3.27.17
            for location in result["locations"]:  # 3.28, 3.29, 3.30
                place = location["physicalLocation"]
                assert " " not in place["artifactLocation"]["uri"]
                region = place.get("region", {"startLine": 1})
                assert 1 <= region["startLine"] <= region.get("endLine", region["startLine"])


def test_what_fails_is_a_result_with_its_place_and_rule():
    log = audit.to_sarif(MADE)
    check_sarif(log)
    wrong, lacking = log["runs"][0]["results"]
    assert (wrong["ruleId"], wrong["level"], lacking["ruleId"], lacking["level"]) == (
        "experiment/learning_rate",
        "error",
        "method/ema_decay",
        "warning",
    )
    assert wrong["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/train.py"},
        "region": {"startLine": 3, "endLine": 4},
    }


def test_all_verdicts_may_be_written():
    log = audit.to_sarif(replace(MADE, findings=(*MADE.findings, replace(WRONG, verdict="cannot judge"))), audit.shown(everything=True))
    check_sarif(log)
    assert [result["kind"] for result in log["runs"][0]["results"]] == ["fail", "fail", "pass", "open"]


def test_markdown_keeps_cells_whole():
    text = audit.markdown(MADE, everything=True)
    assert "| ok | Encoder\\|x | an encoder |" in text
    assert "### Settings of the experiments" in text


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--fail-on", "deviation"), 5),
        (("--fail-on", "missing"), 5),
        (("--min-score", "0.5"), 0),
        (("--min-score", "0.6"), 5),
        (("--fail-under", "0.6"), 5),
        (("--fail-on", "other"), 2),
    ],
)
def test_thresholds_are_exit_codes(options, code, monkeypatch, tmp_path):
    monkeypatch.setattr(Service, "audit", lambda *_, **__: replace(MADE, findings=MADE.findings[:2]))
    assert CliRunner().invoke(app, ["audit", str(tmp_path), *options]).exit_code == code


def test_what_is_only_missing_fails_if_asked_to(monkeypatch, tmp_path):
    monkeypatch.setattr(Service, "audit", lambda *_, **__: replace(MADE, findings=(LACKING,)))
    codes = [CliRunner().invoke(app, ["audit", str(tmp_path), "--fail-on", on]).exit_code for on in ("deviation", "missing")]
    assert codes == [0, 5]


@pytest.mark.parametrize("form", ["sarif", "json"])
def test_formats_for_programs_are_json(form, monkeypatch, tmp_path):
    monkeypatch.setattr(Service, "audit", lambda *_, **__: MADE)
    made = json.loads(CliRunner().invoke(app, ["audit", str(tmp_path), "--format", form]).stdout)
    assert made.get("version") == "2.1.0" or made["data"]["counts"]["deviation"] == 1


def options_of(command):
    """The options that a command of the program has."""
    return {option for parameter in typer.main.get_command(app).get_command(None, command).params for option in parameter.opts}


def named_options(text):
    return {word.split("=")[0].strip("()") for word in shlex.split(text) if word.strip("()").startswith("--")}


def test_the_action_uses_options_that_there_are():
    action = yaml.safe_load((ROOT / "integrations/audit-action/action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    steps = [step for step in action["runs"]["steps"] if "run" in step]
    assert all(step["shell"] == "bash" and "${{" not in step["run"] for step in steps)  # inputs reach the shell as variables only
    script = steps[-1]["run"]
    assert named_options(script.split("lineage build")[0]) <= options_of("audit")
    assert {"--quiet"} <= options_of("build")
    used = {
        value.split("inputs.")[1].split(" ")[0]
        for step in action["runs"]["steps"]
        for value in (*step.get("env", {}).values(), *step.get("with", {}).values())
        if "inputs." in value
    }
    assert used == set(action["inputs"])


def test_the_hook_runs_a_command_that_there_is():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language"} <= set(hook)
    program, command, folder, *options = shlex.split(hook["entry"])
    assert (program, command, folder) == ("lineage", "audit", ".")
    assert named_options(" ".join(options)) <= options_of("audit")
