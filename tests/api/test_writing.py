"""`lineage context` and `lineage answer`: what is printed, counted and refused."""

from __future__ import annotations

import json
import sys

import pytest

from api.cli import exit_codes
from api.cli.app import app


@pytest.fixture
def said(monkeypatch, capsys, built):
    """Runs a command line over the demonstration; gives exit code, stdout and stderr."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["lineage", *words, "--home", str(built.home)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            exit_codes.run(app)
        return ended.value.code, *capsys.readouterr()

    return run


TASK = "write the pre-training of the masked autoencoder: masking, loss, optimizer and schedule"


def test_a_pack_is_markdown_on_stdout_and_its_count_goes_to_stderr(said):
    code, out, err = said("context", TASK, "--tokens", "3000")
    assert code == 0
    assert out.startswith("# Context: write the pre-training of the masked autoencoder")
    assert "\n## What the target says\n" in out
    assert "untrusted\n" in out
    assert " of 3000 tokens (granite-embedding-30m tokenizer), " in err


def test_planning_gives_settings_that_can_be_read_with_a_source_each(said):
    code, out, _ = said("context", "Reproduce the paper", "--stage", "planning", "--tokens", "6000", "--json")
    data = json.loads(out)["data"]
    assert code == 0
    assert (data["stage"], data["allowed"]) == ("planning", 6000)
    assert 0 < data["used"] <= 6000
    file = next(item for item in data["items"] if item["kind"] == "config")
    start, end = file["span"]
    lines = [line for line in data["text"][start:end].splitlines() if line.startswith("  ")]
    assert len(lines) >= 5
    assert all(": UNSPECIFIED" in line or "  # " in line for line in lines)
    assert all({"chunk", "citation", "license", "trust"} <= set(hit) for item in data["items"] for hit in item["evidence"])


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--tokens", "20"), "holds no whole piece of evidence"),
        (("--stage", "dreaming"), "there is no stage 'dreaming'"),
        (("--tokens", "0"), "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_packed_ends_with_2_and_says_why(said, words, part):
    code, out, err = said("context", TASK, *words)
    assert (code, out) == (2, "")
    assert part in err


def test_an_answer_ties_each_quotation_to_numbered_evidence(said):
    code, out, _ = said("answer", "which mask ratio is used in pre-training?")
    assert code == 0
    assert "\n[1] " in out
    found = json.loads(said("answer", "which mask ratio is used in pre-training?", "--json")[1])["data"]
    assert (found["supported"], bool(found["sentences"] or found["quotes"])) == (True, True)
    assert all(one["evidence"] for one in (*found["sentences"], *found["quotes"]))


def test_nothing_supported_ends_with_3_after_the_nearest_misses(said):
    code, out, err = said("answer", "what is the capital of France?")
    assert code == 3
    assert "nothing in this lineage supports an answer" in out
    assert "nearest evidence:" in out
    assert err.startswith("error: nothing in this lineage supports an answer")
