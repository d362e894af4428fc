"""Kinds of mechanisms: what an engineer decides in code beside the values of settings, and how each is recognized. Pure.

The list is data (`data/mechanisms.json`, with its provenance). A kind is recognized by what is called, by the names of options and
keywords, by what is defined, and by the form of a statement; none of it is of one repository.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from lineage.tables import packaged
from lineage.text.phrases import Phrase, phrase


@dataclass(frozen=True)
class MechanismKind:
    """One kind: its title, topic and weight (0..1), how code shows it, where it applies and how prose states it.

    `calls` are last names of functions (or dotted ends), `names` folded names of options, `functions` and `code` patterns of definitions and
    statements (written in `defined` and `written`). `applies` are phrases one of which the target must use (none: all that train), of `only`
    where those are too common, `states` phrases by which it is stated, `covers` the details of the checklist that it answers, and (`settled`)
    that leave nothing open once they are stated.
    """

    name: str
    title: str
    topic: str
    weight: float
    calls: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    defined: str = ""
    written: str = ""
    applies: tuple[Phrase, ...] = ()
    only: tuple[Phrase, ...] = ()
    states: tuple[Phrase, ...] = ()
    covers: tuple[str, ...] = ()
    settled: bool = False

    @cached_property
    def functions(self) -> re.Pattern[str] | None:
        """What definitions are called, compiled when it is first looked for, as a build does and a question does not."""
        return re.compile(self.defined) if self.defined else None

    @cached_property
    def code(self) -> re.Pattern[str] | None:
        """What statements look like."""
        return re.compile(self.written) if self.written else None

    @property
    def wanted(self) -> tuple[Phrase, ...]:
        """The phrases one of which the target must use."""
        return self.only or self.applies


@cache
def kinds() -> tuple[MechanismKind, ...]:
    """All kinds, in the order of the list."""
    return kinds_of(packaged("mechanisms"))


def kinds_of(table: Mapping[str, Any]) -> tuple[MechanismKind, ...]:
    """The kinds of a table of the packaged form."""
    return tuple(
        MechanismKind(
            name=row["name"],
            title=row["title"],
            topic=row["topic"],
            weight=float(row["weight"]),
            calls=tuple(row.get("calls", ())),
            names=frozenset(row.get("names", ())),
            defined=row.get("functions", ""),
            written=row.get("code", ""),
            applies=tuple(map(phrase, row.get("applies", ()))),
            only=tuple(map(phrase, row.get("only", ()))),
            states=tuple(map(phrase, row.get("states", ()))),
            covers=tuple(row.get("covers", ())),
            settled=bool(row.get("settled", False)),
        )
        for row in table["kinds"]
    )


@cache
def by_call() -> dict[str, tuple[tuple[str, MechanismKind], ...]]:
    """Kinds by the last name of a call, each with the dotted end that it wants."""
    table: dict[str, list[tuple[str, MechanismKind]]] = {}
    for kind in kinds():
        for call in kind.calls:
            table.setdefault(call.rpartition(".")[2], []).append((call, kind))
    return {last: tuple(wanted) for last, wanted in table.items()}


@cache
def by_name() -> dict[str, tuple[MechanismKind, ...]]:
    """Kinds by the folded name of an option."""
    table: dict[str, list[MechanismKind]] = {}
    for kind in kinds():
        for name in kind.names:
            table.setdefault(name, []).append(kind)
    return {name: tuple(wanted) for name, wanted in table.items()}
