"""Results show in notebooks: the example runs cell by cell, and what third parties wrote stays text."""

from __future__ import annotations

import ast
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from api.local import Lineage
from tests.fakes import small_lineage

CELLS = json.loads((Path(__file__).resolve().parents[2] / "examples" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]


def run(cell, names):
    """The value of a cell's last expression, as a notebook would show it."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def test_the_example_runs_and_shows_hits_gaps_and_graph(built, tmp_path, monkeypatch):
    shutil.copytree(built.home, tmp_path / ".demo")
    monkeypatch.chdir(tmp_path)
    names = {}
    shown = [run(cell, names) for cell in CELLS if cell["cell_type"] == "code"]
    pages = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert [re.match(r"<\w+", page)[0] for page in pages] == ["<table", "<h3", "<svg"]
    assert "lr_sched.py" in pages[0]
    assert "batch size" in pages[1]
    assert "TinyMask" in pages[2]


@pytest.fixture
def lineage(tmp_path):
    small_lineage.build(tmp_path)
    with Lineage(tmp_path) as opened:
        yield opened


def test_markup_in_a_source_is_shown_and_its_addresses_are_not_links(lineage):
    found = lineage.search("entropy", k=1)
    hit = found.hits[0]
    text = "\n".join("<script>alert(1)</script>" for _ in hit.text.splitlines())
    source = replace(hit.source, url="javascript:alert(1)")
    page = replace(found, hits=(replace(hit, text=text, source=source),), query="<img src=x>")._repr_html_()
    assert "&lt;script&gt;" in page
    assert "&lt;img" in page
    assert not re.search(r"<script|<img|href=", page)


def test_a_title_in_the_graph_is_text(lineage):
    view = lineage.graph("small")
    page = replace(view, nodes=tuple({**node, "title": "</title><script>", "label": "<b>"} for node in view.nodes))._repr_html_()
    assert not re.search(r"<script|<b>", page)
