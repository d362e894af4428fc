"""`lineage eval`: a lineage measured on questions whose answers are known."""

from __future__ import annotations

import json

import pytest

from api.cli.display_files import evaluation
from api.cli.files import lineage_of
from lineage.errors import UsageError
from tests.demo import DEMO, NAME


def test_the_demonstration_answers_its_own_questions(built):
    found = built.service.evaluate(DEMO / "questions.jsonl", lineage=NAME)
    assert found.lineage == NAME
    assert found.all.count == 14
    assert found.all.recall[5] >= 0.85
    assert found.all.recall[1] <= found.all.recall[5] <= found.all.recall[20]
    assert 0 < found.p50 <= found.p95
    assert [row.id for row in found.rows][:2] == ["initialization", "schedule"]


def test_lines_of_other_lineages_are_passed_over(built, tmp_path):
    gold = {"path": "plainvit/encoder.py", "start": 69, "end": 82}
    rows = [{"id": "a", "query": "how is the encoder initialized?", "gold": gold, "lineage": name} for name in (NAME, "another")]
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert built.service.evaluate(file, lineage=NAME).all.count == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": 1, "query": "?", "gold": {"path": "a", "start": 1, "end": 2}}\n{"id"', "line 2: not JSON"),
        ("[1]", "line 1: a JSON object is expected"),
        ('{"id": 1, "query": "?"}', "line 1: gold is lines"),
        ("", "has no question for"),
    ],
)
def test_a_file_that_cannot_be_judged_is_refused_with_its_line(built, tmp_path, text, said):
    file = tmp_path / "gold.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=said):
        built.service.evaluate(file, lineage=NAME)


def test_gold_that_the_lineage_does_not_hold_is_named(built, tmp_path):
    here = {"path": "plainvit/encoder.py", "start": 69, "end": 82}
    gold = [here, {"path": "nope.py", "repo": "a/b"}, {"work": "arxiv:1234.56789", "quote": "x"}, "c_00000000", {"quote": "anywhere"}]
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(json.dumps({"id": n, "query": "encoder", "gold": one}) for n, one in enumerate(gold)), "utf-8")
    found = built.service.evaluate(file, lineage=NAME)
    assert [(one.id, one.gold) for one in found.astray] == [("1", "a/b:nope.py"), ("2", "arxiv:1234.56789"), ("3", "c_00000000")]
    assert "3 answers name no file, work or chunk of this lineage, and count as not found:\n  1: a/b:nope.py" in evaluation(found)


def test_a_file_that_names_its_lineage_is_asked_of_it(tmp_path):
    file = tmp_path / "gold.jsonl"
    rows = [{"query": "?", "gold": "c_1", "lineage": name} for name in ("one", "one", "two")]
    file.write_text("\n".join(map(json.dumps, rows[:2])), "utf-8")
    assert lineage_of(file) == "one"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert lineage_of(file) == ""
