"""Whether two statements of code decide the same: the same functions called, or the same option set, with the same literals. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lineage.hyperparameters.terms import fold
from lineage.hyperparameters.values import number
from lineage.records import Fact

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
