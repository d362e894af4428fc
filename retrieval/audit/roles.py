"""Which configurations of a repository are of which experiment of a paper, told by what agrees: an assignment, one to one. Pure.

`tokenizer_l.yaml` and `tokenizer_xl.yaml` are one family. Where a paper describes as many experiments as a repository has
families, and one assignment has more agreeing details than any other, a value of a family is compared with its experiment alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from lineage.results import FactOccurrence
from retrieval.audit.expectations import NOT_IN_CODE, Expectation, agree
from retrieval.audit.inputs import Paper, Repository

_LEAST, _MOST = 3, 4
"""Details that make an experiment or a family, and the most of them that are assigned."""
_SIZE = re.compile(r"(?:[_.-](?:tiny|small|base|large|huge|xs|s|b|m|l|xl|xxl|h|g|\d{1,4}[kmb]?))+\Z", re.IGNORECASE)
Section = tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """The section that each family of configurations belongs to; none where it cannot be told."""

    sections: Mapping[str, Section] = field(default_factory=dict)

    @classmethod
    def of(cls, paper: Paper, repository: Repository) -> Roles:
        """The one assignment of families to sections with the most agreeing details."""
        stated, found = _by_section(paper), _by_family(repository)
        if len(stated) != len(found) or not 1 < len(found) <= _MOST:
            return cls()
        agreeing = {
            (family, section): sum(_is_met(expectations, found[family], paper) for expectations in stated[section].values())
            for family in found
            for section in stated
        }
        ordered = sorted(((sum(agreeing[pair] for pair in zip(found, order, strict=True)), order) for order in permutations(stated)), reverse=True)
        (most, best), (second, _) = ordered[:2]
        return cls(dict(zip(found, best, strict=True))) if most > second else cls()

    def _section(self, set_: FactOccurrence) -> Section | None:
        return self.sections.get(_family(set_.evidence.chunk.path)) if set_.evidence.chunk.kind == "config" else None

    def is_sure(self, stated: FactOccurrence, set_: FactOccurrence) -> bool:
        """Whether a value of the repository belongs to the section of a stated one."""
        return self._section(set_) == stated.evidence.chunk.section

    def differ(self, stated: FactOccurrence, set_: FactOccurrence) -> bool:
        """Whether a value of the repository belongs to another of the sections."""
        section = stated.evidence.chunk.section
        return self._section(set_) not in (None, section) and section in self.sections.values()


def _family(path: str) -> str:
    """The path without the size at the end of its name."""
    return _SIZE.sub("", path.rpartition(".")[0])


def _by_section(paper: Paper) -> dict[Section, dict[str, list[Expectation]]]:
    """What the paper states, by section and detail, of the sections that state several."""
    sections: dict[Section, dict[str, list[Expectation]]] = defaultdict(lambda: defaultdict(list))
    for name in sorted(set(paper.held) - NOT_IN_CODE):
        for expectation in paper.stated(name):
            sections[expectation.value.evidence.chunk.section][name].append(expectation)
    return {section: details for section, details in sections.items() if len(details) >= _LEAST}


def _by_family(repository: Repository) -> dict[str, list[FactOccurrence]]:
    """What configurations set, by family, of those that set several details."""
    families: dict[str, list[FactOccurrence]] = defaultdict(list)
    for name in sorted(repository.held):
        for occurrence in repository.set_values(name):
            if occurrence.evidence.chunk.kind == "config":
                families[_family(occurrence.evidence.chunk.path)].append(occurrence)
    return {family: some for family, some in families.items() if len({occurrence.fact.name for occurrence in some}) >= _LEAST}


def _is_met(expectations: Sequence[Expectation], set_: Sequence[FactOccurrence], paper: Paper) -> bool:
    return any(agree(expectation.value, value, paper.same) for expectation in expectations for value in set_)
