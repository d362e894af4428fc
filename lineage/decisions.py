"""What was decided on details that a paper leaves open, and the lines of its log: sealed JSON, one entry a line, never rewritten. Pure.

A later entry on a name replaces an earlier one, a withdrawal takes it out; both stay in the log. Entries are numbered, so that a
line that is gone is noticed like one that was altered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from lineage.records import UNKNOWN, Provenance
from lineage.sealed import adapter, sealed, unsealed
from lineage.text.hidden_text import inline, literal

Support = Literal["stated", "unsupported", "unresolved"]
LONGEST = 2_000
"""Characters of any one text of a decision."""
_TOLD = 8
_SUPPORT = {"stated": "", "unsupported": "the cited lines do not state it", "unresolved": "its citation no longer resolves"}


@dataclass(frozen=True)
class Decision:
    """A detail (`name`) has a `value`, because of the lines at `citation`, which `quote` begins with.

    `support` is whether those lines state it, checked in `generation`. `at` is UTC in ISO 8601, `from_target_code` says that the lines are
    of the target's own code, `origin` names the bundle that the decision came with. `withdrawn` ends an earlier decision on the name.
    """

    name: str
    value: str = ""
    citation: str = ""
    quote: str = ""
    support: Support = "stated"
    by: str = ""
    at: str = ""
    generation: str = ""
    title: str = ""
    note: str = ""
    from_target_code: bool = False
    origin: str = ""
    withdrawn: bool = False
    number: int = 0

    @property
    def who(self) -> str:
        """By whom and on which day, and what speaks against it, in one line."""
        doubts = (f"imported from {self.origin}" if self.origin else "", _SUPPORT[self.support])
        return inline("; ".join(filter(None, (f"{self.by or 'nobody named'}, {self.at[:10]}", *doubts))))


@dataclass(frozen=True)
class Decisions:
    """The decisions of a lineage that are in force, as its `generation` supports them; `notes` say what of the log cannot be read."""

    lineage: str
    generation: str
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class DecisionLog:
    """The entries of a log in order, what is wrong with it, and the number of the next entry."""

    entries: tuple[Decision, ...] = ()
    problems: tuple[str, ...] = ()
    next: int = 1

    @property
    def in_force(self) -> tuple[Decision, ...]:
        """The last entry on each name, unless it is a withdrawal."""
        last = {entry.name: entry for entry in self.entries}
        return tuple(entry for entry in last.values() if not entry.withdrawn)


def line(decision: Decision) -> bytes:
    """The sealed line of an entry."""
    return sealed(asdict(decision), None)


def bounded(decision: Decision) -> Decision:
    """The decision, which has a name and texts of bounded length; raises `ValueError` for another."""
    if any(isinstance(text, str) and len(text) > LONGEST for text in vars(decision).values()) or not decision.name:
        raise ValueError("no decision")
    return decision


def parsed(content: bytes) -> DecisionLog:
    """Parse the log in a file's bytes; unreadable entries are reported and skipped."""
    entries, damaged, lacking, number = list[Decision](), list[str](), list[str](), 0
    for place, row in enumerate(filter(None, content.split(b"\n")), 1):
        number += 1
        try:
            entry = bounded(adapter(Decision).validate_json(json.dumps(unsealed(row + b"\n", None)), strict=True))
        except ValueError:
            damaged.append(str(place))
            continue
        if entry.number != number:
            lacking.append(str(entry.number))
        entries.append(entry)
        number = entry.number
    faults = {"lines of the decision log that are not what was written": damaged, "the decision log lacks entries before numbers": lacking}
    problems = tuple(f"{words}: {', '.join(some[:_TOLD])}{' ...' * (len(some) > _TOLD)}" for words, some in faults.items() if some)
    return DecisionLog(tuple(entries), problems, number + 1)


def markdown(decisions: Decisions) -> str:
    """The decisions as a file for people, `DECISIONS.md`."""
    rows = [f"# Decisions on {decisions.lineage}", f"Generation {decisions.generation}; {len(decisions.decisions)} decisions."]
    rows += [f"> {literal(inline(note))}" for note in decisions.notes]
    return "\n\n".join([*rows, *map(_section, decisions.decisions)]) + "\n"


def _section(decision: Decision) -> str:
    quote = "\n".join(f"    {inline(text)}" for text in decision.quote.split("\n"))
    about = [f"- decided by {literal(decision.who)}", f"- because of {_code(decision.citation)}"]
    about += [f"- {literal(inline(decision.note))}"] if decision.note else []
    return f"## {literal(inline(decision.title or decision.name))}: {_code(decision.value)}\n\n" + "\n".join(about) + f"\n\n{quote}"


def _code(text: str) -> str:
    return f"`{inline(text).replace('`', chr(39))}`"


def titles(decisions: Iterable[Decision]) -> str:
    """Their names and values in one line."""
    return inline(", ".join(f"{decision.name} = {decision.value}" for decision in decisions))
