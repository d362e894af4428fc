"""A `config.yaml` of which every value has its source in a comment (pure), and what is left UNSPECIFIED.

A value that the target states is the target's. Where it is silent, the best-supported value of its lineage stands with
its confidence; where nobody says anything the value is the word UNSPECIFIED, so that the one who writes the code has to
decide it knowingly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from lineage.cite import pinpoint
from lineage.insight import Gap, Held, Specification
from lineage.model import Hit
from retrieval.pack.markdown import inline, inline_path

UNSPECIFIED = "UNSPECIFIED"
_PLAIN = re.compile(r"-?\d[\d.]{0,20}(?:[eE][+-]?\d{1,3})?\Z|true\Z|false\Z|[A-Za-z][A-Za-z0-9_./-]{0,60}\Z")
_KEY = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True)
class Entry:
    """One line of the file: its `section`, how much a reproduction depends on it, and the evidence of its value."""

    section: str
    line: str
    weight: float
    evidence: tuple[Hit, ...] = ()


def entries(gaps: Sequence[Gap]) -> list[Entry]:
    """A line for every detail, those on which most depends first."""
    return sorted((_entry(gap) for gap in gaps), key=lambda entry: -entry.weight)


def _entry(gap: Gap) -> Entry:
    name, section = _key(gap.detail.name), _key(gap.detail.topic) or "other"
    if gap.facts and gap.state is not Specification.UNSPECIFIED:
        held = gap.facts[0]
        return Entry(section, f"{name}: {_value(held)}  # stated: {_cited(held.evidence)}{_others(gap.facts)}", gap.detail.weight, (held.evidence,))
    best = next((one for one in gap.suggestions if one.value and one.held), None)
    if best:
        said = f"not stated by the target; lineage, confidence {best.confidence:.2f}: {_cited(best.held[0].evidence)}"
        return Entry(section, f"{name}: {scalar(best.value)}  # {_unit(best.unit)}{said}", gap.detail.weight, (best.held[0].evidence,))
    if gap.stated:
        return Entry(section, f"{name}: {UNSPECIFIED}  # spoken of without a value: {_cited(gap.stated[0])}", gap.detail.weight, gap.stated[:1])
    return Entry(section, f"{name}: {UNSPECIFIED}  # nobody in the lineage says", gap.detail.weight)


def yaml(chosen: Sequence[Entry]) -> str:
    """The file: sections in the order in which their weightiest entry comes."""
    order = {section: at for at, section in reversed(list(enumerate(entry.section for entry in chosen)))}
    rows: list[str] = []
    for section, group in groupby(sorted(chosen, key=lambda entry: order[entry.section]), key=lambda entry: entry.section):
        rows += [f"{section}:", *(f"  {entry.line}" for entry in group)]
    return "\n".join(rows)


def scalar(value: str) -> str:
    """A value as YAML reads it back: numbers and plain words as they are, everything else quoted."""
    text = inline(value, 120)
    return text if _PLAIN.match(text) else json.dumps(text, ensure_ascii=False)


def _value(held: Held) -> str:
    return scalar(held.fact.value)


def _unit(unit: str) -> str:
    return f"{inline(unit, 20)}; " if unit else ""


def _cited(hit: Hit) -> str:
    return inline_path(pinpoint(hit))


def _others(facts: Sequence[Held]) -> str:
    """Further values that the target states itself, which contradict or qualify the first."""
    first = facts[0].fact.value
    rest = dict.fromkeys(f"{inline(one.fact.value, 40)} ({inline(one.fact.scope, 30) or 'elsewhere'})" for one in facts if one.fact.value != first)
    return f"; also {', '.join(list(rest)[:3])}" if rest else ""


def _key(text: str) -> str:
    return _KEY.sub("_", text).strip("_").lower()
