"""Whether two statements of code decide the same (one call or option, the same literals), and what the batches of a program come to. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from lineage.hyperparameters.terms import fold
from lineage.hyperparameters.values import number
from lineage.records import Fact
from lineage.results import FactOccurrence

_NAMED = frozenset(("option", "keyword", "assignment", "config", "parameter"))
"""How statements are recognized that give one name a value."""
_CALLED = re.compile(r"([A-Za-z_]\w{0,60})\s*\(")
_LITERAL = re.compile(r"(?<![\w.])(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w)|\b(?:True|False|None|true|false)\b|[\"'][^\"']{0,40}[\"']")
_GIVEN = r"\b{}\W{{0,3}}?\s*[=:]\s*([^,)]{{1,60}})"
_DEFAULT = re.compile(r"\bdefault\s*=\s*([^,)]{1,60})")
_ALIKE = 0.5
"""Share of called functions from which on two statements do the same."""


@dataclass(frozen=True)
class Essence:
    """What a statement comes down to: the names that it calls or sets, and its literals; `is_named`: it gives one name a value."""

    names: frozenset[str]
    literals: frozenset[str]
    is_named: bool

    def agrees(self, other: Essence) -> bool:
        """Whether both decide the same; a name that is set to no literal decides nothing."""
        if self.is_named != other.is_named or self.literals != other.literals or not (self.names and other.names):
            return False
        if self.is_named:
            return bool(self.literals) and self.names == other.names
        return len(self.names & other.names) >= _ALIKE * len(self.names | other.names)


def agree(one: Fact, other: Fact) -> bool:
    """Whether two statements of one kind decide the same."""
    return essence(one).agrees(essence(other))


@lru_cache(maxsize=1 << 14)
def essence(fact: Fact) -> Essence:
    """What a statement comes down to."""
    written = fact.written.rpartition(".")[2]
    if fact.said in _NAMED:
        given = _DEFAULT.search(fact.value) if fact.said == "option" else re.search(_GIVEN.format(re.escape(written)), fact.value)
        return Essence(frozenset({fold(written)}), frozenset(_literals(given[1] if given else "")), True)
    if fact.said == "definition":
        return Essence(frozenset({fold(written)}), frozenset(), False)
    return Essence(frozenset(map(fold, _CALLED.findall(fact.value))), frozenset(_literals(fact.value)), False)


def _literals(text: str) -> Iterator[str]:
    """The literals of a statement, numbers by their value."""
    for literal in _LITERAL.findall(text):
        value = number(literal)
        yield literal.strip("\"'").lower() if value is None else str(float(value))


def whole(batches: Sequence[FactOccurrence], devices: Iterable[FactOccurrence], passes: Iterable[FactOccurrence]) -> list[FactOccurrence]:
    """The batches times every number of devices, of accumulated passes, and of both, that anybody gives."""
    times = {a * b for a, b in product(_counts(devices), _counts(passes))} - {1}
    sizes = ((occurrence, number(occurrence.fact.value)) for occurrence in batches)
    return [
        replace(occurrence, fact=replace(occurrence.fact, value=str(size * factor))) for occurrence, size in sizes if size for factor in sorted(times)
    ]


def whole_of_run(batches: Sequence[FactOccurrence], devices: Iterable[FactOccurrence], passes: Iterable[FactOccurrence]) -> list[FactOccurrence]:
    """The same with the passes of a batch's own file, where it gives any: another run's accumulation is none of it."""
    devices, passes = list(devices), list(passes)
    found = []
    for batch in batches:
        path = batch.evidence.chunk.path
        beside = [occurrence for occurrence in passes if occurrence.evidence.chunk.path == path]
        found += whole([batch], devices, beside or passes)
    return found


def _counts(some: Iterable[FactOccurrence]) -> set[int]:
    """The whole numbers above 1 that are given, and 1."""
    found = (number(occurrence.fact.value) for occurrence in some)
    return {1, *(int(one) for one in found if one and one > 1 and one == int(one))}
