"""The picture of the README shows contradictions that a reader had listed, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

from docs.contradictions_picture import svg

ROOT = Path(__file__).resolve().parent.parent
PICTURE = (ROOT / "docs" / "pictures" / "contradictions.svg").read_text(encoding="utf-8")
LISTED = [json.loads(line) for line in (ROOT / "benchmarks" / "contradictions.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_place_in_the_picture_is_one_that_a_reader_listed():
    listed = {row["code"] for row in LISTED if row["arxiv"] == "2004.14974"}
    drawn = re.findall(r">([\w/.]+), line (\d+)<", PICTURE)
    assert len(drawn) == 5
    assert {f"verisci/training/{path}:{line}" for path, line in drawn} <= listed


def test_a_report_is_drawn_with_its_text_escaped():
    def side(kind, value, citation):
        source = {"title": "A <b> paper", "path": "src/train.py"}
        fact = {"name": "learning_rate", "value": value, "scope": "<i>"}
        return {"fact": fact, "citation": citation, "evidence": {"kind": kind, "source": source, "focus": {"start_line": 7}}}

    sides = [side("paper", "0.0001", "arXiv:1#A.2"), side("code", "cosine", "x")]
    drawn = svg({"conflicts": [{"sides": sides}, {"sides": sides[:1]}]})
    assert drawn.count("train.py, line 7") == 1
    assert "1e-4 (&lt;i&gt;)" in drawn
    assert "A.2" in drawn
    assert "<b>" not in drawn
