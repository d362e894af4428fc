"""Every fact of a generation with the evidence that holds it, and what a repository's own settings override.

A default is what holds where nobody says otherwise. Within one repository a configuration that sets the same option says
otherwise, and a command line says otherwise than both: default < config < command. What is overridden stays to be seen with
what overrides it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath

from lineage.catalog.reader import Catalog
from lineage.file_roles import ASIDE, named_roles
from lineage.hyperparameters.terms import fold
from lineage.records import Chunk, Fact, FactKind, FileRole, Hit, Tier, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.decisions.precedence import Precedence
from retrieval.decisions.provenance import evidence
from retrieval.search.work_relations import WorkRelations

_MOST = 4
_ORDER: Mapping[FactKind, int] = {"default": 0, "config": 1, "command": 2}


@dataclass(frozen=True)
class FactIndex:
    """Facts with their evidence by name, each list in the order of the catalogue.

    `target` is the lineage's own work, `precedence` says whose value comes first.
    """

    lineage: str
    generation: str
    target: Work
    held: Mapping[str, tuple[FactOccurrence, ...]]
    precedence: Precedence = field(default_factory=Precedence)

    def of(self, name: str) -> tuple[FactOccurrence, ...]:
        """Who holds a detail, by its normalized name."""
        return self.held.get(name, ())


def holders(
    catalog: Catalog, relations: WorkRelations, lineage: str, generation: str, target: WorkId, names: Sequence[str] | None = None
) -> FactIndex:
    """All facts of a generation, or those of some details; what overrides others says so in `overridden`."""
    facts = catalog.facts() if names is None else [fact for name in names for fact in catalog.facts(name)]
    chunks = catalog.chunks_of(fact.chunk for fact in facts)
    by_name: dict[str, list[FactOccurrence]] = defaultdict(list)
    for fact in facts:
        if chunk := chunks.get(fact.chunk):
            by_name[fact.name].append(_held(fact, chunk, relations))
    occurrences_by_key = {name: tuple(_resolved(some)) for name, some in by_name.items()}
    return FactIndex(lineage, generation, relations.of(target).work, occurrences_by_key, Precedence.of_meta(catalog.meta()))


def _held(fact: Fact, chunk: Chunk, relations: WorkRelations) -> FactOccurrence:
    """A fact with its chunk as a hit, whose focus is the fact's own line."""
    hit = evidence(chunk if chunk.work == fact.work else replace(chunk, work=fact.work), relations, fact.line)
    return FactOccurrence(fact, hit, since(hit.work), mentioned=relations.of(fact.work).tier is Tier.MENTIONED)


def standing(some: Sequence[FactOccurrence]) -> list[FactOccurrence]:
    """Holders of one detail, without what the same repository overrides."""
    overridden = {_place(fact) for occurrence in some for fact in occurrence.overridden}
    return [occurrence for occurrence in some if _place(occurrence.fact) not in overridden]


def _place(fact: Fact) -> tuple[str, str, int, str]:
    return fact.work, fact.chunk, fact.line, fact.value


def since(work: Work) -> str:
    """From when a work holds what it says: the day of its commit, the year of a paper, "" if nobody says."""
    day = str(work.meta.get("commit_date") or "")[:10]
    return day or (str(work.year) if work.year else "")


def is_vendored(hit: Hit) -> bool:
    """Whether a hit stands in a copy of somebody else's package."""
    return FileRole.VENDORED in hit.roles


def is_low_evidence_path(occurrence: FactOccurrence) -> bool:
    """Whether a fact says little of what was run: it stands in tests, examples or other people's code."""
    file, chunk = occurrence.evidence.chunk.path.lower().rpartition("/")[2], occurrence.evidence.chunk
    written = chunk.kind == "docs" and occurrence.fact.kind in {"table", "prose"} and not file.startswith("readme")
    return written or not ASIDE.isdisjoint(occurrence.evidence.roles)


def is_eval_script(occurrence: FactOccurrence) -> bool:
    """Whether a fact stands in a file, or is said to a program, that is named after trying a model and not after training it."""
    said_to = occurrence.fact.scope if occurrence.fact.kind == "command" else ""
    return FileRole.EVALUATION in (named_roles(said_to) if said_to else occurrence.evidence.roles)


def _resolved(occurrences: Sequence[FactOccurrence]) -> Iterable[FactOccurrence]:
    """The same facts, those that override others with what they override, weakest first."""
    by_option: dict[tuple[WorkId, str], list[FactOccurrence]] = defaultdict(list)
    for occurrence in occurrences:
        if occurrence.fact.kind in _ORDER:
            by_option[occurrence.fact.work, fold(occurrence.fact.written)].append(occurrence)
    options = {key: _Overrides(some) for key, some in by_option.items()}
    for occurrence in occurrences:
        rivals = options[occurrence.fact.work, fold(occurrence.fact.written)] if occurrence.fact.kind in {"config", "command"} else None
        distinct = [fact for fact in rivals.overridden(occurrence).values() if fact.value != occurrence.fact.value] if rivals else []
        yield replace(occurrence, overridden=tuple(distinct[:_MOST])) if distinct else occurrence


class _Overrides:
    """Facts of one option of one repository."""

    def __init__(self, some: Sequence[FactOccurrence]) -> None:
        self._weaker = sorted((holder for holder in some if holder.fact.kind != "command"), key=lambda holder: _ORDER[holder.fact.kind])
        self._paths = {holder.evidence.chunk.path: PurePosixPath(holder.evidence.chunk.path) for holder in self._weaker}

    def overridden(self, occurrence: FactOccurrence) -> Mapping[tuple[FactKind, str], Fact]:
        """The facts that an occurrence overrides, by kind and value."""
        if occurrence.fact.kind == "command":
            return self._by_command(occurrence)
        # a setting written in a program's text is no configuration file of it
        return self._defaults if occurrence.evidence.chunk.kind == "config" else {}

    @cached_property
    def _defaults(self) -> Mapping[tuple[FactKind, str], Fact]:
        """Those that a configuration may set."""
        code = (holder.fact for holder in self._weaker if holder.fact.kind == "default" and holder.evidence.chunk.kind == "code")
        return {(fact.kind, fact.value): fact for fact in code if _open(fact)}

    def _by_command(self, occurrence: FactOccurrence) -> Mapping[tuple[FactKind, str], Fact]:
        command, script = _command(occurrence.evidence), occurrence.evidence.chunk.text if not occurrence.fact.scope else ""
        named = {path for path, pure in self._paths.items() if _names(command, pure)}
        run = {path for path, pure in self._paths.items() if path not in named and script and _names(script, pure)}
        dotted, facts = "." in occurrence.fact.written, {}
        for weaker in self._weaker:
            fact, path = weaker.fact, weaker.evidence.chunk.path
            if path in named or (fact.kind == "config" and dotted) or (fact.kind == "default" and path in run):
                facts[fact.kind, fact.value] = fact
        return facts


def _names(text: str, path: PurePosixPath) -> bool:
    """Whether a command or script names a file: `pie/run.py` is none of `commongen/`."""
    if path.name not in text:
        return False
    for match in re.finditer(rf"(?<![\w./-])[\w./-]{{0,200}}?(?<![\w-]){re.escape(path.name)}(?![\w-])", text):
        parts = [part for part in match[0].split("/") if part not in {"", ".", ".."}]
        shared = min(len(parts), len(path.parts))
        if tuple(parts[-shared:]) == path.parts[-shared:]:
            return True
    return False


def _command(hit: Hit) -> str:
    """The command line that a hit points at, with its continuation lines."""
    lines = hit.chunk.text.split("\n")
    at = (hit.focus.start_line if hit.focus else hit.chunk.start_line) - hit.chunk.start_line
    if not 0 <= at < len(lines):
        return hit.chunk.text
    first = last = at
    while first and lines[first - 1].rstrip().endswith("\\"):
        first -= 1
    while last + 1 < len(lines) and lines[last].rstrip().endswith("\\"):
        last += 1
    return "\n".join(lines[first : last + 1])


def _open(fact: Fact) -> bool:
    """Whether a default may be set from outside: an option of a command line or a field of a settings class."""
    return not fact.scope or fact.scope.lower().endswith(("config", "args", "arguments", "settings", "options", "params", "hparams"))
