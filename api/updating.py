"""What changed in a lineage since new versions and commits: works and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineage.catalog.reader import Catalog

if TYPE_CHECKING:
    from lineage.results import Gaps

ASKED = ("export.arxiv.org", "api.github.com")
"""Hosts that know of new versions and commits."""


@dataclass(frozen=True)
class Change:
    """A statement before and after; "" where there was or is none."""

    of: str
    before: str
    after: str


@dataclass(frozen=True)
class Updated:
    """A lineage before and after: its generation, the versions and commits of its works, the values that details get.

    `note` says why a lineage could not be updated.
    """

    lineage: str
    generation: str
    works: tuple[Change, ...] = ()
    values: tuple[Change, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Sayings:
    """What a generation states, by subject."""

    generation: str
    works: Mapping[str, str]
    values: Mapping[str, str]

    @classmethod
    def of(cls, catalog: Catalog, gaps: Gaps) -> Sayings:
        """Read from a catalog and its report."""
        works = {str(work.id): str(work.meta.get("commit") or work.meta.get("version") or "") for work in catalog.works()}
        values = {gap.detail.title: _value(f"{offer.value} {offer.unit}" for offer in gap.suggestions[:1]) or gap.state.value for gap in gaps.gaps}
        return cls(gaps.generation, works, values)

    def since(self, before: Sayings, lineage: str) -> Updated:
        """The differences from an earlier generation."""
        return Updated(lineage, self.generation, _changes(before.works, self.works), _changes(before.values, self.values))


def _value(parts: Iterable[str]) -> str:
    return " / ".join(part.strip() for part in parts)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    every = sorted(before.keys() | after.keys())
    return tuple(Change(name, before.get(name, ""), after.get(name, "")) for name in every if before.get(name, "") != after.get(name, ""))
