"""The rules that find contradictions: what each is for, and on how many lineages it was right when it was last read.

`python -m benchmarks.rules --home HOME` counts again where they fire. The rules here compare by a general mechanism; none has been
right on three papers yet, which is what a rule needs to earn its place.
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
    lineages: int = 10


RULES = (
    Rule("paper-code", "a value that the paper states and no value of its own code for the same experiment and scope agrees with", 1, 1),
    Rule(
        "paper-code-file",
        "a value that the paper states for the run of one file (told apart by its name), and that file has otherwise",
        1,
        1,
    ),
    Rule("table-text", "a value that a table of the paper states and its text has otherwise; fires on the demonstration", 0, 0),
    Rule("paper-followed", "a value that the paper states and the code that it says it follows has otherwise", 2, 2),
    Rule("code-upstream", "a value that was changed in a function that one repository took from another", 3, 1),
)
