"""The rules that find contradictions: what each is for, and on how many lineages it was right when it was last read.

`python -m benchmarks.rules --home HOME` counts again where they fire, `python -m benchmarks.contradictions` compares with a reader's
list.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A rule: its name in `Conflict.rule`, its purpose, on how many of `lineages` it fired, and on how many of these rightly."""

    name: str
    purpose: str
    fired: int
    right: int
    lineages: int = 14


RULES = (
    Rule("paper-code-run", "a value that the paper states and its run has otherwise, chosen by words and other values, or all runs", 7, 7),
    Rule("technique", "a technique that the paper claims and that its own code has no sign of, or another of its kind instead", 7, 6),
)
