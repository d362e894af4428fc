"""Hunks of a patch, each with the file and the function it changes: how much code that builds on another's is published."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from indexer.parsers.code.units import CodeUnit, one_line

_FILE = re.compile(r"\+\+\+ (?:b/)?([^\t]{1,500})")
_HUNK = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@ ?(.{0,300})")
_BEGINS = re.compile(r"diff --git |Index: |--- \S")
_NAME = re.compile(r"(?:def|class|function|struct)\s+([A-Za-z_]\w{0,100})")


def outline(text: str) -> tuple[CodeUnit, ...]:
    """One unit a hunk, its header naming file and function; what stands before the files is a run of statements."""
    lines = text.split("\n")
    code_units = tuple(_hunks(lines))
    heads = (number - 1 for number, line in enumerate(lines, 1) if _BEGINS.match(line))
    before = min(next(heads, len(lines)), code_units[0].first - 1) if code_units else len(lines)
    return (CodeUnit(1, before, "module"), *code_units) if before else code_units


def _hunks(lines: list[str]) -> Iterator[CodeUnit]:
    """From each `@@` to the next, or to the head of the next file."""
    file = ""
    marks = [(number, line) for number, line in enumerate(lines, 1) if line.startswith(("@@ -", "diff --git ", "Index: ", "+++ "))]
    for (number, line), (following, _) in pairwise([*marks, (len(lines) + 1, "")]):
        if named := _FILE.match(line):
            file = named[1].strip()
        elif hunk := _HUNK.match(line):
            name = _NAME.search(hunk[1])
            yield CodeUnit(
                number, following - 1, "function", name[1] if name else "", one_line(" · ".join(filter(None, (f"changes {file}", hunk[1]))))
            )
