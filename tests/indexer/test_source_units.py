"""Source without a grammar, patches and Markdown: units by what their lines look like."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.chunking import pieces
from indexer.chunking.pieces import Piece, SourceText, cut, packed
from indexer.parsers.code import parser
from indexer.parsers.code.spans import CodeUnit, LineIndex, comment_text, labelled, leading, one_line, spans
from indexer.parsers.plain import LONG, is_rule, with_blocks
from lineage.records import Span

MATLAB = """x = 1;
% Adds two numbers.
function c = add(a, b)
c = a + b;
end

function [s, t] = pair(a)
s = a;
"""
PATCH = """A patch for the trainer.
diff --git a/train.py b/train.py
--- a/train.py
+++ b/train.py
@@ -1,3 +1,4 @@ def main(args):
+import os
 x
@@ -9 +10 @@
-y
diff --git a/new.py b/new.py
+++ b/new.py\t2020
@@ -0,0 +1 @@
+class A: pass
"""


def test_definitions_begin_units_and_their_comments_go_with_them() -> None:
    units = parser.line_units(MATLAB)
    assert [(unit.first, unit.last, unit.role, unit.name) for unit in units] == [
        (1, 1, "module", ""),
        (2, 6, "function", "add"),
        (7, 9, "function", "pair"),
    ]
    assert units[1].header == "function c = add(a, b) · Adds two numbers."
    assert parser.line_units("x = 1\n") == (CodeUnit(1, 2, "module"),)
    assert [unit.name for unit in parser.line_units("sub main {\n}\nPROGRAM hello\n")] == ["main", "hello"]


def test_a_hunk_names_its_file_and_function() -> None:
    units = parser.patch_units(PATCH)
    assert [(unit.first, unit.last, unit.name, unit.header) for unit in units] == [
        (1, 1, "", ""),
        (5, 7, "main", "changes train.py · def main(args):"),
        (8, 9, "", "changes train.py"),
        (12, 14, "", "changes new.py"),
    ]
    assert parser.patch_units("no patch\nat all") == (CodeUnit(1, 2, "module"),)
    bare = parser.patch_units("@@ -1 +1 @@\n--- a comment\n+x\n")
    assert [(unit.first, unit.last, unit.role) for unit in bare] == [(1, 4, "function")]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["def f(x):", "    y", "# words", "", "@@ -1 +1 @@ def g", "+++ b/x", "diff --git a b", "function h"]), max_size=12).map(
        "\n".join
    )
)
def test_units_of_any_text_lie_in_order_within_its_lines(text: str) -> None:
    count = text.count("\n") + 1
    for outline in (parser.line_units(text), parser.patch_units(text)):
        assert all(1 <= unit.first <= unit.last <= count for unit in outline)
        assert all(one.last < other.first for one, other in pairwise(outline))


def test_comments_lead_up_to_a_definition_without_a_gap() -> None:
    text = ["x", "# one", "", "// two", "/* three", " * four", "def f"]
    assert [leading(text, 7, floor) for floor in (0, 4, 6)] == [4, 5, 7]
    assert leading(["# a", "f"], 2, 0) == 1
    assert comment_text(["#####", "# ok", "# The words here"], 1, 3) == "The words here"
    assert comment_text(["% x"], 1, 1) == ""
    assert (one_line(" a\n  b "), one_line("x" * 300, 10)) == ("a b", "x" * 9 + "…")


def test_units_become_spans_with_what_stands_around_them() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\nx = 2"
    unit = CodeUnit(1, 3, "class", "A", "class A", (CodeUnit(2, 3, "method", "f", "def f(self)", (CodeUnit(3, 3, "block"),)),))
    found = spans([unit, CodeUnit(5, 99, "module")], LineIndex(text), ("a.py",))
    assert [(text[span.start : span.end], span.path, span.header) for span in found] == [
        ("class A:\n    def f(self):\n        return 1", ("A",), "a.py · class A"),
        ("    def f(self):\n        return 1", ("A", "f"), "a.py · class A · def f(self)"),
        ("        return 1", ("A", "f"), ""),
        ("x = 2", (), "a.py"),
    ]
    assert {span.label for span in labelled(found, "cell 3")} == {"cell 3"}


TABLE = "| lr | batch |\n|---|:-:|\n| 0.1 | 32 |\n| 0.2 | 64 |"


def blocks(text: str) -> list[tuple[str, str]]:
    section = Span(0, len(text), "text", ("S",), header="README · S")
    return [(span.role, text[span.start : span.end]) for span in with_blocks(text, [section])[1:]]


def test_a_long_section_lists_paragraphs_fences_and_tables() -> None:
    words, fence = "word " * (LONG // 5), "~~~\ncode\n\n```\nmore\n~~~"
    text = f"{words}\n\nSettings of **all** [runs](x):\n{TABLE}\nafter\n\n{fence}\n\n\n"
    assert blocks(text) == [("block", words), ("block", "Settings of **all** [runs](x):"), ("table", TABLE), ("block", "after"), ("block", fence)]
    (table,) = [span for span in with_blocks(text, [Span(0, len(text), "text", header="README")]) if span.role == "table"]
    assert table.header == "README · Settings of all runs:"
    assert blocks("short\n\ntext") == []


def test_bars_without_a_rule_or_rows_are_no_table_and_an_open_fence_goes_to_the_end() -> None:
    words = "word " * (LONG // 5)
    assert [role for role, _ in blocks(f"{words}\n\n| a |\n|---|\n")] == ["block", "block"]
    assert [role for role, _ in blocks(f"{words}\n\n| a |\n| b |\n| c |\n")] == ["block", "block"]
    assert blocks(f"{words}\n```\na\n\nb\n")[1] == ("block", "```\na\n\nb")


@pytest.mark.parametrize(("line", "rule"), [("|---|:-:|", True), (" --- | --- ", True), ("|a|-|", False), ("---", False), ("| |", False)])
def test_the_rule_below_the_heads_of_columns(line: str, rule: bool) -> None:
    assert is_rule(line) is rule


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.sampled_from(["words of a line", "", "```", "~~~~", "| a | b |", "|---|---|", "    x", "# head"]), min_size=60, max_size=90).map(
        "\n".join
    )
)
def test_blocks_lie_in_order_and_hold_every_line_with_words(text: str) -> None:
    found = with_blocks(text, [Span(0, len(text), "text")])[1:]
    assert all(one.end <= other.start for one, other in pairwise(found))
    if found:
        covered = set().union(*(range(span.start, span.end) for span in found))
        assert all(at in covered for at, char in enumerate(text) if not char.isspace())


TEXTS = st.lists(st.sampled_from(["a b c.", "    indented = 1", "", ")", "x" * 50, "word; word. word"]), min_size=1, max_size=30).map("\n".join)


@settings(max_examples=25, deadline=None)
@given(TEXTS, st.integers(1, 8), st.integers(10, 120))
def test_what_is_cut_is_small_enough_and_loses_no_word(text: str, lines: int, chars: int) -> None:
    view = SourceText(text)
    whole = Piece(0, len(text))
    parts = [part for part in cut(view, whole, lines, chars) if part.end > part.start]
    assert all(view.fits(part, lines, chars) for part in parts)
    assert all(one.end <= other.start for one, other in pairwise(parts))
    assert "".join("".join(text[part.start : part.end].split()) for part in parts) == "".join(text.split())


@settings(max_examples=25, deadline=None)
@given(TEXTS, st.integers(2, 8), st.integers(60, 200))
def test_neighbours_are_packed_in_order_and_none_is_lost(text: str, lines: int, chars: int) -> None:
    view = SourceText(text)
    each = [Piece(view.starts[n], view.end(n)) for n in range(len(view.starts)) if view.row(n).strip()]
    found = list(packed(view, each, lines, chars))
    assert all(view.fits(part, lines, chars) for part in found)
    assert [piece.start for piece in each if any(piece.start == part.start for part in found)] == [part.start for part in found]
    assert all(any(part.start <= piece.start and piece.end <= part.end for part in found) for piece in each)


@given(st.text(alphabet="ab\n", max_size=30))
def test_lines_of_a_text_are_found_by_their_offsets(text: str) -> None:
    view = SourceText(text)
    split = text.split("\n")
    assert [view.row(n) for n in range(len(view.starts))] == split
    assert [view.line(at) for at in range(len(text))] == [text[:at].count("\n") for at in range(len(text))]


def test_parts_of_a_table_are_read_with_its_heads_and_their_group() -> None:
    lines = ["Model | BLEU |", "| En | De", "Base | 27.3 | 1", *[f"| {n} | {'x' * 60}" for n in range(20)], "Big | 28.4 | 2"]
    text = "A caption.\n" + "\n".join(lines)
    start = len("A caption.\n")
    table = Span(start, len(text), "table", label="Table 2", header="Table 2: Results")
    piece = Piece(0, len(text), (table, Span(0, start - 1, "caption")))
    view = SourceText(text)
    parts = list(pieces.table_parts(view, piece))
    assert (parts[0].start, parts[-1].end, len(parts) > 1) == (0, len(text), True)
    assert all(part.end - part.start <= pieces.MOST_CHARS + start for part in parts)
    assert pieces.table_head(view, parts[0]) == "Table 2: Results"
    assert pieces.table_head(view, parts[1]) == "A caption. · Table 2: Results · Model | BLEU | · | En | De · Base"
    assert pieces.table_head(view, Piece(0, 5)) == ""
    assert list(pieces.table_parts(view, Piece(0, 5))) == [Piece(0, 5)]
