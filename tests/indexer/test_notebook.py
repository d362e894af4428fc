"""Notebooks: sources only, on the lines of the file where that can be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from indexer.parsers import notebook
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId


def parse(data: str | bytes) -> Document:
    return notebook.parse("demo.ipynb", data if isinstance(data, bytes) else data.encode(), WorkId("w"), "b")


def cell(kind: str, *lines: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": list(lines), **more}


BOOK = {
    "cells": [
        cell("markdown", "# Training\n", "We use *Adam*."),
        cell("code", "def step(x):\n", '    return "é" + x', outputs=[{"data": {"image/png": "A" * 5000, "text/html": ["<b>no</b>"]}}]),
        cell("code"),
        cell("code", "%matplotlib inline\n", "step('a')"),
    ],
    "metadata": {"kernelspec": {"language": "python"}},
    "nbformat": 4,
}


def test_each_line_of_source_keeps_its_line_in_the_file() -> None:
    raw = json.dumps(BOOK, indent=1, ensure_ascii=False)
    document = parse(raw)
    assert document.text.count("\n") == raw.count("\n")
    lines = raw.split("\n")
    for number, line in enumerate(document.text.split("\n")):
        assert not line or json.dumps(line, ensure_ascii=False).strip('"') in lines[number]
    assert [(span.role, span.label, document.text[span.start : span.end]) for span in document.spans] == [
        ("text", "cell 1", "# Training\nWe use *Adam*."),
        ("cell", "cell 2", 'def step(x):\n    return "é" + x'),
        ("cell", "cell 4", "%matplotlib inline\nstep('a')"),
    ]
    assert document.spans[1].path == ("step",)
    assert document.spans[0].header == "demo.ipynb · cell 1 · Training"


def test_outputs_never_reach_the_text() -> None:
    document = parse(json.dumps(BOOK, indent=1))
    assert "AAAA" not in document.text
    assert "<b>" not in document.text


def test_a_notebook_on_one_line_gives_its_cells_one_after_another_and_says_so() -> None:
    document = parse(json.dumps(BOOK))
    assert document.text == "# Training\nWe use *Adam*.\n\ndef step(x):\n    return \"é\" + x\n\n%matplotlib inline\nstep('a')\n"
    assert document.detail == "line numbers count the sources of cells one after another"


def test_version_3_keeps_its_cells_in_worksheets() -> None:
    book = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"], "outputs": []}]}], "nbformat": 3}
    assert parse(json.dumps(book, indent=1)).text.split() == ["x", "=", "1", "y", "=", "2"]


@pytest.mark.parametrize("data", ["", "{", "[1]", "null", '"cells"', "[" * 100_000])
def test_what_is_no_notebook_is_a_parse_error(data: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(data)
    assert caught.value.status is Status.PARSE_ERROR


@pytest.mark.parametrize("book", [{}, {"cells": None}, {"cells": [1, None, {"source": 3}]}, {"cells": [{"source": [1, {}]}]}, {"worksheets": [3]}])
def test_a_notebook_without_sources_is_empty(book: dict[str, Any]) -> None:
    with pytest.raises(ParseError) as caught:
        parse(json.dumps(book))
    assert caught.value.status is Status.EMPTY


def test_a_long_cell_lists_its_statements_magics_notwithstanding() -> None:
    lines = ["%time\n", *(f"x{n} = {n}\n" for n in range(60)), "!ls"]
    document = parse(json.dumps({"cells": [cell("code", *lines)]}, indent=1))
    assert [span.role for span in document.spans][:3] == ["cell", "module", "block"]
