"""Configuration files to a `Document`, by top-level key with its lines; nothing is interpreted, nothing runs.

YAML with templates in it, gin, ini and half-valid JSON are all read by their lines: a configuration that a strict
parser refuses still says what its values are.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import PurePosixPath
from typing import cast

from indexer.parsers.code.spans import CodeUnit, LineIndex, leading, spans
from indexer.parsers.decode import decode
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId

VERSION = "config@2"
MAX_ITEMS = 200
_LONG, _DEEPEST = 30, 4
_KEYS = {
    "yaml": re.compile(r"(?:- )?['\"]?([^\s'\"#:\-{}][^:#'\"]{0,100}?)['\"]?\s*:(?:\s|$)|- "),
    "toml": re.compile(r"\[\[?\s*([^\]]{1,120})\]|([\w.\"'-]{1,100})\s*="),
    "gin": re.compile(r"(?:([\w./]{1,120}?)\.)?[\w]{1,80}\s*="),
    "json": re.compile(r'[ \t]{0,4}"([^"]{1,100})"\s*:'),
    "docker": re.compile(r"([A-Z]{2,20})\s"),
    "make": re.compile(r"([\w./%$(){}-][^:=#\n]{0,100}?)\s*:(?!=)|(\w+)\s*[:?+]?="),
}
_LANGUAGES = {
    ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".json5": "json", ".toml": "toml", ".ini": "toml", ".cfg": "toml",
    ".conf": "toml", ".properties": "toml", ".hocon": "toml", ".gin": "gin", ".jsonnet": "json", ".libsonnet": "json",
}  # fmt: skip
_JSON_SPACE = re.compile(r"[\s,]*")


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """The document of one configuration file; raises `ParseError` for JSON that holds data rather than settings."""
    text = decode(data)
    language = _language(path)
    status, detail = Status.OK, ""
    units: tuple[CodeUnit, ...]
    if language == "json":
        units = _json(path, text)
        if not units:
            units, status, detail = _by_lines(text, _KEYS["json"]), Status.OK_REPAIRED, "not valid JSON; cut by lines"
    else:
        units = _by_lines(text, _KEYS.get(language))
        if language == "yaml":
            lines = text.split("\n")
            units = tuple(_nested(lines, unit, _DEEPEST) for unit in units)
    return Document(work, path, text, spans(units, LineIndex(text), (path,)), VERSION, "config", language, blob, status=status, detail=detail)


def _language(path: str) -> str:
    name = PurePosixPath(path).name.lower()
    if "dockerfile" in name:
        return "docker"
    if name in {"makefile", "justfile"}:
        return "make"
    return _LANGUAGES.get(PurePosixPath(name).suffix, "text")


def _by_lines(text: str, key: re.Pattern[str] | None) -> tuple[CodeUnit, ...]:
    """One unit per unindented key (or section), reaching to the next; a paragraph each where keys are unknown."""
    lines = text.split("\n")
    starts: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        match = key.match(line) if key else None
        if match:
            starts.append((number, next((group for group in match.groups() if group), "")))
        elif not key and line.strip() and (number == 1 or not lines[number - 2].strip()):
            starts.append((number, ""))
    return _units(lines, starts)


def _units(lines: list[str], starts: list[tuple[int, str]]) -> tuple[CodeUnit, ...]:
    if not starts:
        return ()
    code_units: list[CodeUnit] = []
    ends = [leading(lines, number, starts[at][0]) - 1 for at, (number, _) in enumerate(starts[1:])] + [len(lines)]
    for (start, name), end in zip(starts, ends, strict=True):
        first = code_units[-1].last + 1 if code_units else leading(lines, start, 0)
        while end > start and not lines[end - 1].strip():
            end -= 1
        code_units.append(CodeUnit(_skip_blank(lines, first, start), end, "config", name.strip().strip("'\"")))
    return tuple(code_units)


def _nested(lines: list[str], unit: CodeUnit, depth: int) -> CodeUnit:
    """A long section of YAML with the keys below it as parts, so that a piece of it is named by its path."""
    if unit.last - unit.first < _LONG or not depth:
        return unit
    inner = [(number, line) for number, line in enumerate(lines[unit.first : unit.last], unit.first + 1) if _KEYS["yaml"].match(line.lstrip())]
    depths = [len(line) - len(line.lstrip()) for _, line in inner]
    least = min((indent for indent in depths if indent), default=0)
    heads = [(number, line.strip()) for (number, line), indent in zip(inner, depths, strict=True) if indent == least and least]
    if not heads:
        return unit
    ends = [number - 1 for number, _ in heads[1:]] + [unit.last]
    names = [_KEYS["yaml"].match(line) for _, line in heads]
    parts = (CodeUnit(number, end, "config", (name and name[1]) or "") for (number, _), end, name in zip(heads, ends, names, strict=True))
    return replace(unit, parts=tuple(_nested(lines, part, depth - 1) for part in parts))


def _skip_blank(lines: list[str], first: int, start: int) -> int:
    while first < start and not lines[first - 1].strip():
        first += 1
    return first


def _json(path: str, text: str) -> tuple[CodeUnit, ...]:
    """A unit per member of the outermost object, empty if the text is no JSON object."""
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] == "[":
        return _json_list(path, text)
    if text[start : start + 1] != "{":
        return ()
    decoder = json.JSONDecoder(strict=False)
    code_units: list[CodeUnit] = []
    at, line, counted, prose = _space(text, start + 1), 1, 0, True
    try:
        while text[at : at + 1] == '"':
            name, end = cast("tuple[str, int]", scanstring(text, at + 1, False))
            colon = text.index(":", end) + 1
            value, end = decoder.raw_decode(text, _space(text, colon))
            prose = prose and isinstance(value, str)
            line += text.count("\n", counted, at)
            last = line + text.count("\n", at, end)
            first = max(line, code_units[-1].last + 1) if code_units else line
            if first <= last:
                code_units.append(CodeUnit(first, last, "config", name[:100]))
            counted, at = at, _space(text, end)
    except (ValueError, RecursionError):
        return ()
    if text[at : at + 1] != "}":
        return ()
    if len(text) > 5_000 and text.count("\n") * 1_000 < len(text) and not prose:
        raise ParseError(Status.POLICY_SKIPPED, f"{path}: data, not configuration (packed into few lines)")
    if len(code_units) > 10 * MAX_ITEMS:
        raise ParseError(Status.POLICY_SKIPPED, f"{path}: data, not configuration ({len(code_units):,} entries)")
    return tuple(code_units)


def _json_list(path: str, text: str) -> tuple[CodeUnit, ...]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if len(items) > MAX_ITEMS:
        raise ParseError(Status.POLICY_SKIPPED, f"{path}: data, not configuration (a list of {len(items):,})")
    return (CodeUnit(1, text.count("\n") + 1, "config"),)


def _space(text: str, at: int) -> int:
    match = _JSON_SPACE.match(text, at)
    return match.end() if match else at
