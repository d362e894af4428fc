"""Source code in any language to a `Document`: functions, methods, classes, runs of statements, shell commands.

Python is read by its own `ast`, tolerant tree-sitter grammars read the rest, Python 2 and broken Python included; what
has no grammar is cut by its lines. Nothing is run and nothing is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node, Parser

from indexer.parsers.code import python, trees
from indexer.parsers.code.languages import get_parser, language_of, languages
from indexer.parsers.code.languages import parse as tree_of
from indexer.parsers.code.spans import LONG, CodeUnit, LineIndex, comment_text, leading, one_line, spans
from indexer.parsers.decode import decode
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId
from lineage.text.syntax import UNREADABLE

_SCRIPT = re.compile(r"[\w./-]{1,200}\.(?:py|sh|lua|jl|R)\b|-m\s+[\w.]+")
_PLAIN = {"comment", "variable_assignment", "declaration_command", "variable_assignments"}


def shell_outline(text: str, parser: Parser) -> tuple[CodeUnit, ...]:
    """One unit per top-level statement; assignments that stand together are one. May raise `TimeoutError`."""
    lines = text.split("\n")
    code_units: list[CodeUnit] = []
    for node in tree_of(parser, text.encode("utf-8", "replace")).root_node.named_children:
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


VERSION = "code@2"
_STARTS = re.compile(r"(?:function|def|class|sub|subroutine|program|module|classdef)\b[ \t]*(.{0,200})", re.IGNORECASE)
_SIGNATURE_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:\(|$|[:;{])")
_FILE = re.compile(r"\+\+\+ (?:b/)?([^\t]{1,500})")
_HUNK = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@ ?(.{0,300})")
_BEGINS = re.compile(r"diff --git |Index: |--- \S")
_NAME = re.compile(r"(?:def|class|function|struct)\s+([A-Za-z_]\w{0,100})")


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """The document of one source file; raises `ParseError` where it is no program of a known language."""
    text = decode(data)
    language = language_of(path, text.partition("\n")[0])
    if language not in languages():
        raise ParseError(Status.WRONG_TYPE, f"{path}: unknown programming language")
    units, status, detail = outline(text, language)
    code_spans = spans(units, LineIndex(text), (path,))
    return Document(work, path, text, code_spans, VERSION, "code", language, blob, status=status, detail=detail)


def outline(text: str, language: str) -> tuple[tuple[CodeUnit, ...], Status, str]:
    """Units of a program, with another status than `ok` and the reason where its first reader gave up."""
    if language == "python":
        try:
            return python.outline(text), Status.OK, ""
        except UNREADABLE as error:
            return _tolerant(text, language, f"not valid Python 3 ({_reason(error)}); read by a tolerant grammar")
    return (patch_units(text), Status.OK, "") if language == "diff" else _tolerant(text, language, "")


def _tolerant(text: str, language: str, detail: str) -> tuple[tuple[CodeUnit, ...], Status, str]:
    grammar = languages()[language]
    parser = get_parser(grammar.grammar)
    if parser is None:
        why = "no grammar could be loaded; cut by lines" if grammar.grammar else ""
        return line_units(text), Status.PARTIAL if why else Status.OK, why
    try:
        units = shell_outline(text, parser) if language == "bash" else trees.outline(text, parser, grammar)
    except TimeoutError as error:
        return line_units(text), Status.PARSE_TIMEOUT, f"{error}; cut by lines"
    return units, Status.OK_REPAIRED if detail else Status.OK, detail


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return "nested too deeply" if isinstance(error, RecursionError | MemoryError) else str(error)[:100]


def line_units(text: str) -> tuple[CodeUnit, ...]:
    """Stretches from one unindented definition to the next; what comes before the first is a run of statements."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if _STARTS.match(line)]
    code_units: list[CodeUnit] = []
    last = len(lines)
    for start in reversed(starts):
        first = leading(lines, start, 0)
        signature = one_line(lines[start - 1])
        words = comment_text(lines, first, start - 1)
        code_units.append(CodeUnit(first, max(start, last), "function", _signature_name(signature), f"{signature} · {words}" if words else signature))
        last = first - 1
    if last > 0:
        code_units.append(CodeUnit(1, last, "module"))
    return tuple(reversed(code_units))


def _signature_name(signature: str) -> str:
    """The last name before an opening bracket or the end: `function [a, b] = name(x)`."""
    signature_names = _SIGNATURE_NAME.findall(signature)
    return signature_names[0] if signature_names else ""


def patch_units(text: str) -> tuple[CodeUnit, ...]:
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
