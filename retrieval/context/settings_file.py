"""A `config.yaml` whose values each have their source in a comment, and what is left UNSPECIFIED (pure).

A value that the target states is the target's; where it has several, for as many experiments, they are listed. Where it is silent the
best value that is offered stands, its own code's before its lineage's, with its grade. Sentences are remarks. Where nobody says anything
the value is the word UNSPECIFIED, so that the one who writes the code has to decide it knowingly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from lineage.citation import pinpoint
from lineage.records import Hit
from lineage.results import FactOccurrence, Gap, Specification, Suggestion
from retrieval.context.markdown import inline, inline_path, place

UNSPECIFIED = "UNSPECIFIED"
_PLAIN = re.compile(r"-?\d[\d.]{0,20}(?:[eE][+-]?\d{1,3})?\Z|true\Z|false\Z|[A-Za-z][A-Za-z0-9_./-]{0,60}\Z")
_EXPONENT = re.compile(r"(?<![\w.])(\d+)(\.\d*)?[eE]([+-]?)(\d+)(?!\w)")
_LONGEST = 200
_REMARK = "# "
"""What a line begins with that sets nothing."""
_ASIDE = 0.5
"""What a line without a value is worth beside one that has it."""
_LISTED, _ALSO = 6, 3
"""Values of as many experiments that are told, and further ones beside the one that is chosen."""
_KEY = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True)
class ConfigLine:
    """One line of the file: its `section`, how much a reproduction depends on it, and the evidence of its value."""

    section: str
    line: str
    weight: float
    evidence: tuple[Hit, ...] = ()
    is_open: bool = False


class _Setting(NamedTuple):
    """A setting's name, its line of the file, the evidence of its value, and whether its value is UNSPECIFIED."""

    name: str
    line: str
    evidence: tuple[Hit, ...]
    is_open: bool = False


def entries(gaps: Sequence[Gap]) -> list[ConfigLine]:
    """A line for every setting, those on which most depends first; a detail of several settings has a line for each."""
    config_lines_by_key: dict[str, ConfigLine] = {}
    for gap in gaps:
        for name, line, evidence, is_open in _lines(gap):
            weight = gap.detail.weight * (_ASIDE if is_open or line.startswith(_REMARK) else 1.0)
            config_lines_by_key.setdefault(name, ConfigLine(_key(gap.detail.topic) or "other", line, weight, evidence, is_open))
    return sorted(config_lines_by_key.values(), key=lambda entry: -entry.weight)


def _lines(gap: Gap) -> Iterable[_Setting]:
    """What the target states by value; else what it states in words; else the best that is offered."""
    stated = _by_name(gap.facts) if gap.state is not Specification.UNSPECIFIED else {}
    return [_line(name, some) for name, some in stated.items()] or [_silent(gap)]


def _line(name: str, stated: Sequence[FactOccurrence]) -> _Setting:
    """One setting: the value of the target, or a remark that lists those of its experiments."""
    key, first = _key(name), _chosen(stated)
    if first:
        value, comment = scalar(first.fact.value), f"stated: {_cited(first.evidence)}{_others(first, stated)}"
        return _Setting(key, f"{key}: {value}  # {_unit(first.fact.unit)}{comment}", (first.evidence,))
    return _Setting(key, f"{_REMARK}{key}: one for each model or experiment: {_listed(stated)}", (stated[0].evidence,))


def _chosen(stated: Sequence[FactOccurrence]) -> FactOccurrence | None:
    """The one value that is stated, or the one that is stated of nothing in particular; none of several."""
    open_ = {occurrence.fact.value: occurrence for occurrence in reversed(stated) if not occurrence.fact.scope} or {
        occurrence.fact.value: occurrence for occurrence in reversed(stated)
    }
    return next(iter(open_.values())) if len(open_) == 1 else None


def _silent(gap: Gap) -> _Setting:
    """A detail of which the target has no value that is known by its name."""
    name = _key(gap.detail.name.rpartition(":")[2])
    if gap.stated and gap.state is Specification.SPECIFIED:
        return _Setting(name, f"{_REMARK}{name}: stated in words: {_cited(gap.stated[0])}", gap.stated[:1])
    if offer := best(gap):
        return _offered(name, offer)
    where = f"  # spoken of: {_cited(gap.stated[0])}" if gap.stated else ""
    return _Setting(name, f"{name}: {UNSPECIFIED}{where}", gap.stated[:1], is_open=True)


def best(gap: Gap) -> Suggestion | None:
    """The best offered value of a detail; a statement of code does not count."""
    return next((suggestion for suggestion in gap.suggestions if suggestion.value and suggestion.held and not suggestion.held[0].fact.end_line), None)


def _offered(name: str, best: Suggestion) -> _Setting:
    """The best value that is offered; one of others is a remark where it is unlikely."""
    evidence, value = best.held[0].evidence, f"{name}: {scalar(best.value)}  # {_unit(best.unit)}"
    if evidence.from_target:
        return _Setting(name, f"{value}own code: {_cited(evidence)}, not stated", (evidence,))
    note = f"lineage, {best.grade} evidence: {place(evidence)}"
    if best.grade != "weak":
        return _Setting(name, value + note, (evidence,))
    return _Setting(name, f"{name}: {UNSPECIFIED}  # perhaps {inline(best.value, 60)}: {note}", (evidence,), is_open=True)


def _listed(some: Sequence[FactOccurrence]) -> str:
    """Values with what each is for, and where the first stands."""
    values = dict.fromkeys(_for(occurrence, occurrence.fact.scope) for occurrence in some)
    return f"{', '.join(list(values)[:_LISTED])}: {_cited(some[0].evidence)}"


def _for(occurrence: FactOccurrence, scope: str) -> str:
    """A value with what it is for."""
    return inline(occurrence.fact.value, 40) + (f" ({inline(scope, 30)})" if scope else "")


def _by_name(facts: Sequence[FactOccurrence]) -> dict[str, list[FactOccurrence]]:
    occurrences_by_key: dict[str, list[FactOccurrence]] = {}
    for occurrence in facts:
        occurrences_by_key.setdefault(occurrence.fact.name, []).append(occurrence)
    return occurrences_by_key


def yaml(chosen: Sequence[ConfigLine]) -> str:
    """The file: sections in the order in which their weightiest entry comes."""
    order = {section: at for at, section in reversed(list(enumerate(entry.section for entry in chosen)))}
    rows: list[str] = []
    for section, group in groupby(sorted(chosen, key=lambda entry: order[entry.section]), key=lambda entry: entry.section):
        rows += [f"{section}:", *(f"  {entry.line}" for entry in group)]
    if any(entry.is_open for entry in chosen):
        rows.insert(0, f"# {UNSPECIFIED}: neither the target nor anything in its lineage says; decide knowingly")
    return "\n".join(rows)


def scalar(value: str) -> str:
    """A value as YAML reads it back: numbers, plain words, lists and mappings as they are, everything else quoted."""
    text = inline_path(value)
    if _PLAIN.match(text):
        return text if text[0].isalpha() else _pointed(text)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps(text[:_LONGEST], ensure_ascii=False)
    whole = json.dumps(read, ensure_ascii=False)
    return whole if '"' in whole else _pointed(whole)


def _pointed(text: str) -> str:
    """With a point and a sign in every number that has an exponent: YAML 1.1 takes `1e-8` for a word."""
    return _EXPONENT.sub(lambda match: f"{match[1]}{match[2] or '.0'}e{match[3] or '+'}{match[4]}", text)


def _unit(unit: str) -> str:
    return f"{inline(unit, 20)}; " if unit else ""


def _cited(hit: Hit) -> str:
    return inline_path(pinpoint(hit))


def _others(first: FactOccurrence, facts: Sequence[FactOccurrence]) -> str:
    """Further values that the target states itself, which contradict or qualify the first."""
    rest = dict.fromkeys(_for(other, inline(other.fact.scope) or "elsewhere") for other in facts if other.fact.value != first.fact.value)
    return f"; also {', '.join(list(rest)[:_ALSO])}" if rest else ""


def _key(text: str) -> str:
    return _KEY.sub("_", text).strip("_").lower()
