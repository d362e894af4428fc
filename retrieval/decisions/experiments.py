"""What the place of a value says: the words that tell one place from others, and whether a value is only a function's default. Pure."""

from __future__ import annotations

import re

from lineage.results import FactOccurrence
from lineage.text.tokens import STOP, parts, stem

_PROGRAM = re.compile(r"arg|pars(?:e|er)|option|flag|config|cfg|setting|param|main|cli\b", re.IGNORECASE)
_SAY_NOTHING = (
    "experiment experiments experimental setup set up settings setting details detail implementation training train trained hyper parameters"
    " hyperparameters parameter search additional further more main results result evaluation method methods approach model models modeling"
    " appendix configuration configurations config protocol general overview data datasets dataset baseline baselines default ours proposed"
    " final system args arguments options params get run code module network supplementary optimization procedure"
)
_GENERAL = frozenset(stem(word) for word in _SAY_NOTHING.split())


def telling(text: str) -> frozenset[str]:
    """The words of a title, scope or path that say which one is meant: "Implementation details" and numbers say nothing."""
    found: set[str] = set()
    for word in re.findall(r"[^\W_]+", text):
        pieces = [stem(piece) for piece in parts(word) if piece not in STOP and len(piece) > 1 and not piece[0].isdigit()]
        said = [piece for piece in pieces if piece not in _GENERAL]
        found.update(said, [stem(word.lower())] if said and len(parts(word)) > 1 else [])  # `SciFact` is `scifact` to others
    return frozenset(found)


def is_parameter(occurrence: FactOccurrence) -> bool:
    """Whether a value is what a function or class of a library takes if its caller says nothing; programs and settings are no library."""
    root = re.split(r"[.:]", occurrence.fact.scope)[0]
    if occurrence.fact.kind != "default" or not root or _PROGRAM.search(root):
        return False
    chunk = occurrence.evidence.chunk
    return root in chunk.symbol.split(".") or bool(re.search(rf"\b(?:class|def)\s+{re.escape(root)}\b", chunk.text))
