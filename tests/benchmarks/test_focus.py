"""A model of the lines that answer learns from passages whose lines are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.optimize import check_grad

from benchmarks import focus
from benchmarks.focus import _counts, _loss, _right, asked, fitted, measured, of_wheels, read
from benchmarks.models.asked import Row
from lineage.records import Focus

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
    assert list(of_wheels(Path())) == [("p", TEXT, (3, 3), "is a negative x rejected?", "A")]


def test_what_answers_is_learned() -> None:
    one = asked([("p", TEXT, (3, 3), "is a negative x rejected?", "A")])[0]
    other = replace(one, first=3, last=3, question="what is returned for x")
    weights = fitted([one, other])
    assert weights["signature"] < 0 < weights["asked raises"]


def test_the_slope_is_that_of_the_loss() -> None:
    some = [asked([("p", TEXT, (at, at), "is a negative x rejected?", style)])[0] for at, style in ((3, "A"), (2, "A"), (4, "C"))]
    rng = np.random.default_rng(0)
    table, right = rng.normal(size=(12, 3)), np.concatenate([_right(one) for one in some])
    given = table, right, np.array([0, 4, 8]), _counts(some)
    assert check_grad(lambda x: _loss(x, *given)[0], lambda x: _loss(x, *given)[1], rng.normal(size=4)) < 1e-5


def test_a_style_counts_as_much_as_another_and_hints_twice() -> None:
    counts = _counts([asked([("p", TEXT, (3, 3), "x?", style)])[0] for style in "AABC"])
    assert counts.tolist() == [0.5, 0.5, 1.0, 2.0]


def test_a_focus_is_measured_by_what_is_right_in_it() -> None:
    one = asked([("p", TEXT, (2, 3), "negative", "C")])[0]
    assert measured([one], lambda _: Focus(2, 2)) == "right 1.000  of the right 0.500  lines 1.0"
    assert measured([one], lambda _: None) == "right 0.000  of the right 0.000  lines 0.0"
