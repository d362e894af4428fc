"""A model of the lines that answer learns from passages whose lines are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from benchmarks import focus
from benchmarks.focus import asked, fitted, measured, of_wheels, read
from benchmarks.models.asked import Row
from lineage.model import Focus

TEXT = "def f(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x"


def test_rows_are_read_and_what_lies_beyond_a_passage_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    rows = (
        '{"package": "p", "text": "a\\nb", "lines": [2, 2], "question": "b?"}',
        '{"package": "p", "text": "a", "lines": [2, 3], "question": "a?"}',
    )
    path.write_text("\n".join(rows) + "\n")
    (one,) = asked(read(path))
    assert (one.package, one.first, one.last, one.question, one.held_out) == ("p", 1, 1, "b?", False)
    assert list(one.worth) == ["b"]


def test_of_wheels_only_questions_about_lines_of_code_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    code = Row("p", "p/f.py", "p/f.py", ((1, 4),), (("A", 3, 3, "is a negative x rejected?"), ("D", 1, 4, "We reject what is negative.")))
    prose = Row("p", "p/f.py", "p > f", ((1, 1),), (("P", 0, 0, "why?"),))
    monkeypatch.setattr(focus, "passages", lambda _: [(code, TEXT), (prose, "f")])
    assert list(of_wheels(Path())) == [("p", TEXT, (3, 3), "is a negative x rejected?")]


def test_what_answers_is_learned() -> None:
    one = asked([("p", TEXT, (3, 3), "is a negative x rejected?")])[0]
    other = replace(one, first=3, last=3, question="what is returned for x")
    weights = fitted([one, other])
    assert weights["signature"] < 0 < weights["asked raises"]


def test_a_focus_is_measured_by_what_is_right_in_it() -> None:
    one = asked([("p", TEXT, (2, 3), "negative")])[0]
    assert measured([one], lambda _: Focus(2, 2)) == "right 1.000  of the right 0.500  lines 1.0"
    assert measured([one], lambda _: None) == "right 0.000  of the right 0.000  lines 0.0"
