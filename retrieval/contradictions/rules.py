"""The rules that find contradictions: what each is for, and on how many lineages it was right when it was last read.

`python -m benchmarks.rules --home HOME` counts again where they fire, `python -m benchmarks.contradictions` compares with a reader's
list. Rules that have not been right on three papers stand here with what they have: their support is of papers that were open when
they were written.
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
    Rule("stated-twice", "a value that two sections of one title state differently", 1, 1),
    Rule("miscounted", "a sentence that lists more or fewer things than it counts", 1, 1),
    Rule("table-text", "the one value that tables of the paper state, where its text states one other; fires on the demonstration", 0, 0),
    Rule("paper-followed", "a value that the paper states and the code that it says it follows has otherwise", 2, 2),
)
