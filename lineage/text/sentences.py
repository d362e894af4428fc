"""Sentences of plain scholarly prose."""

from __future__ import annotations

import re

_BREAK = re.compile(r"(?<=[.!?])\s+(?=[A-Z⟦(\[\"“])")
_ABBREVIATED = re.compile(r"(?:\b(?:al|e\.g|i\.e|cf|Fig|Eq|Sec|Tab|vs|etc|resp|approx|Dr|No)|\b[A-Z])\.$")


def sentences(text: str) -> list[str]:
    """Sentences of plain text; an abbreviation or initial does not end one."""
    parts: list[str] = []
    for piece in _BREAK.split(text):
        if parts and _ABBREVIATED.search(parts[-1]):
            parts[-1] += " " + piece
        else:
            parts.append(piece)
    return parts
