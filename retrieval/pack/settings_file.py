"""A `config.yaml` of which every value has its source in a comment (pure), and what is left UNSPECIFIED.

A value that the target states is the target's. Where it is silent, the best-supported value of its lineage stands with
its confidence; where nobody says anything the value is the word UNSPECIFIED, so that the one who writes the code has to
decide it knowingly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from lineage.cite import pinpoint
from lineage.insight import Gap, Held, Specification
from lineage.model import Hit
from lineage.tokens import terms
from retrieval.pack.markdown import inline, inline_path

UNSPECIFIED = "UNSPECIFIED"
_PLAIN = re.compile(r"-?\d[\d.]{0,20}(?:[eE][+-]?\d{1,3})?\Z|true\Z|false\Z|[A-Za-z][A-Za-z0-9_./-]{0,60}\Z")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")
_EXPONENT = re.compile(r"(?<![\w.])(\d+)(\.\d*)?[eE]([+-]?)(\d+)(?!\w)")
_QUOTE, _LONGEST = 110, 200
_LIKELY = 0.5
"""Confidence from which what others have is written as a setting; below it is more likely wrong than right."""
_COMPONENTS = "method"
"""The topic of what has no value: the parts of a method."""
_WORDS = 5
_KEY = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True)
class Entry:
    """One line of the file: its `section`, how much a reproduction depends on it, and the evidence of its value."""

    section: str
    line: str
    weight: float
    evidence: tuple[Hit, ...] = ()


def entries(gaps: Sequence[Gap]) -> list[Entry]:
    """A line for every setting, those on which most depends first; a detail of several settings has a line for each."""
    found: dict[str, Entry] = {}
    for gap in (gap for gap in gaps if gap.detail.topic != _COMPONENTS):
        for name, entry in _entries(gap):
            found.setdefault(name, entry)
    return sorted(found.values(), key=lambda entry: -entry.weight)


def _entries(gap: Gap) -> Iterable[tuple[str, Entry]]:
    """What the target states by value, else in words; else the best of its lineage where that is likely; else UNSPECIFIED."""
    name, section, weight = _key(gap.detail.name), _key(gap.detail.topic) or "other", gap.detail.weight
    if gap.facts and gap.state is not Specification.UNSPECIFIED:
        for fact, some in _by_name(gap.facts).items():
            key = name if len(_by_name(gap.facts)) == 1 else fact
            line = f"{key}: {scalar(some[0].fact.value)}  # {_unit(some[0].fact.unit)}stated: {_cited(some[0].evidence)}{_others(some)}"
            yield key, Entry(section, line, weight, (some[0].evidence,))
        return
    best = next((one for one in gap.suggestions if one.value and one.held), None)
    if gap.stated and gap.state is Specification.SPECIFIED:
        line = f"{name}: {json.dumps(quoted(gap), ensure_ascii=False)}  # stated in words: {_cited(gap.stated[0])}"
        yield name, Entry(section, line, weight, gap.stated[:1])
    elif best:
        said = f"lineage, confidence {best.confidence:.2f}: {_cited(best.held[0].evidence)}"
        likely = f"{scalar(best.value)}  # {_unit(best.unit)}not stated by the target; {said}"
        sure = best.confidence >= _LIKELY or best.held[0].evidence.from_target
        line = likely if sure else f"{UNSPECIFIED}  # perhaps {inline(best.value, 60)}: {said}"
        yield name, Entry(section, f"{name}: {line}", weight, (best.held[0].evidence,))
    else:
        where = f"  # spoken of: {_cited(gap.stated[0])}" if gap.stated else ""
        yield name, Entry(section, f"{name}: {UNSPECIFIED}{where}", weight, gap.stated[:1])


def _by_name(facts: Sequence[Held]) -> dict[str, list[Held]]:
    found: dict[str, list[Held]] = {}
    for held in facts:
        found.setdefault(_key(held.fact.name), []).append(held)
    return found


def quoted(gap: Gap) -> str:
    """The sentence of the target that states a detail, shortened: that which has most of its words, numbers before others."""
    hit = gap.stated[0]
    lines = hit.chunk.text.split("\n")
    if hit.focus:
        lines = lines[max(0, hit.focus.start_line - hit.chunk.start_line) : hit.focus.end_line - hit.chunk.start_line + 1] or lines
    said = set(terms(f"{gap.detail.title} {gap.detail.question} {gap.why.removeprefix('a sentence states')}"))
    sentences = [sentence for line in lines for sentence in _SENTENCE.split(line) if sentence.strip()]
    whole = [sentence for sentence in sentences if len(sentence.split()) > _WORDS] or sentences
    best = max(whole, key=lambda one: len(said & set(terms(one))) + (0.5 if any(c.isdigit() for c in one) else 0.0), default="")
    return inline(best, _QUOTE)


def yaml(chosen: Sequence[Entry]) -> str:
    """The file: sections in the order in which their weightiest entry comes."""
    order = {section: at for at, section in reversed(list(enumerate(entry.section for entry in chosen)))}
    rows: list[str] = []
    for section, group in groupby(sorted(chosen, key=lambda entry: order[entry.section]), key=lambda entry: entry.section):
        rows += [f"{section}:", *(f"  {entry.line}" for entry in group)]
    if any(f": {UNSPECIFIED}" in row for row in rows):
        rows.insert(0, f"# {UNSPECIFIED}: neither the target nor anything in its lineage says; decide knowingly")
    return "\n".join(rows)


def scalar(value: str) -> str:
    """A value as YAML reads it back: numbers, plain words, lists and mappings as they are, everything else quoted."""
    text = inline_path(value)
    if _PLAIN.match(text):
        return _pointed(text)
    try:
        read = json.loads(text)
    except ValueError:
        return json.dumps(text[:_LONGEST], ensure_ascii=False)
    whole = json.dumps(read, ensure_ascii=False)
    return whole if '"' in whole else _pointed(whole)


def _pointed(text: str) -> str:
    """With a point and a sign in every number that has an exponent: YAML 1.1 takes `1e-8` for a word."""
    return _EXPONENT.sub(lambda found: f"{found[1]}{found[2] or '.0'}e{found[3] or '+'}{found[4]}", text)


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
