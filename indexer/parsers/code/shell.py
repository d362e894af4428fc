"""Commands of a shell script, each with its flags, continuation lines and leading comment."""

from __future__ import annotations

import re

from tree_sitter import Node, Parser

from indexer.parsers.code.languages import parse
from indexer.parsers.code.spans import LONG, CodeUnit, comment_text, leading, one_line

_SCRIPT = re.compile(r"[\w./-]{1,200}\.(?:py|sh|lua|jl|R)\b|-m\s+[\w.]+")
_PLAIN = {"comment", "variable_assignment", "declaration_command", "variable_assignments"}


def outline(text: str, parser: Parser) -> tuple[CodeUnit, ...]:
    """One unit per top-level statement; assignments that stand together are one. May raise `TimeoutError`."""
    lines = text.split("\n")
    code_units: list[CodeUnit] = []
    for node in parse(parser, text.encode("utf-8", "replace")).root_node.named_children:
        unit = _unit(node, lines, code_units[-1].last if code_units else 0)
        if unit and unit.role == "module" and code_units and code_units[-1].role == "module" and unit.first <= code_units[-1].last + 1:
            code_units[-1] = CodeUnit(code_units[-1].first, unit.last, "module")
        elif unit:
            code_units.append(unit)
    return tuple(code_units)


def _unit(node: Node, lines: list[str], floor: int) -> CodeUnit | None:
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    if node.end_point[1] == 0:
        last = max(first, last - 1)
    if node.type == "comment" or last <= floor:
        return None
    start = leading(lines, first, floor)
    if node.type in _PLAIN:
        return CodeUnit(start, last, "module")
    role = "function" if node.type == "function_definition" else "command"
    words = comment_text(lines, start, first - 1)
    name = _name(lines[first - 1 : last], role)
    return CodeUnit(start, last, role, name, f"{name} · {words}" if words else name, _steps(node, lines) if last - start >= LONG else ())


def _steps(node: Node, lines: list[str]) -> tuple[CodeUnit, ...]:
    inner = [child for body in node.named_children if body.type in {"do_group", "compound_statement"} for child in body.named_children]
    units = (_unit(child, lines, child.start_point[0]) for child in inner)
    return tuple(CodeUnit(unit.first, unit.last, "block") for unit in units if unit)


def _name(lines: list[str], role: str) -> str:
    """What a command runs (`python train.py`), or what a function is called."""
    text = " ".join(line.strip(" \t\\") for line in lines[:40])
    if role == "function":
        return one_line(text.removeprefix("function ").partition("(")[0].partition("{")[0], 60).strip()
    script = _SCRIPT.search(text)
    words = text.split()
    return one_line(f"{words[0]} {script[0]}" if script and words and script[0] != words[0] else " ".join(words[:2]), 80)
