"""Units of a source file that no grammar reads: cut by what its lines look like."""

from __future__ import annotations

import re

from indexer.parsers.code.units import CodeUnit, comment_text, leading, one_line

_STARTS = re.compile(r"(?:function|def|class|sub|subroutine|program|module|classdef)\b[ \t]*(.{0,200})", re.IGNORECASE)
_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:\(|$|[:;{])")


def outline(text: str) -> tuple[CodeUnit, ...]:
    """Stretches from one unindented definition to the next; what comes before the first is a run of statements."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if _STARTS.match(line)]
    code_units: list[CodeUnit] = []
    last = len(lines)
    for start in reversed(starts):
        first = leading(lines, start, 0)
        signature = one_line(lines[start - 1])
        words = comment_text(lines, first, start - 1)
        code_units.append(CodeUnit(first, max(start, last), "function", _name(signature), f"{signature} · {words}" if words else signature))
        last = first - 1
    if last > 0:
        code_units.append(CodeUnit(1, last, "module"))
    return tuple(reversed(code_units))


def _name(signature: str) -> str:
    """The last name before an opening bracket or the end: `function [a, b] = name(x)`."""
    signature_names = _NAME.findall(signature)
    return signature_names[0] if signature_names else ""
