"""Where a value stands: the passage as evidence, and the line, sentence or command of it that says the value. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from lineage.records import Chunk, Focus, Hit
from lineage.results import FactOccurrence
from lineage.text.sentences import sentences

if TYPE_CHECKING:
    from retrieval.search.work_relations import WorkRelations

_POLICY = re.compile(
    r"(?:\A|/)(?:LICEN[CS]E|COPYING|NOTICE|CODE[_-]OF[_-]CONDUCT|CONTRIBUTING|SECURITY|CHANGELOG|CITATION)[^/]{0,20}\Z", re.IGNORECASE
)
BEGINS = 12
"""Characters of what was read by which its sentence is known: it may go on over the sentence's end."""


def evidence(chunk: Chunk, kinship: WorkRelations, line: int = 0) -> Hit:
    """A passage as evidence, with how its work is related to the target; its focus is the line of the file, if one is given."""
    kin = kinship.of(chunk.work)
    focus = Focus(line, line) if line else None
    return Hit(1, 1.0, chunk, kin.work, focus=focus, reference=kin.reference, paper=kin.paper, from_target=kin.from_target, file=kinship.file(chunk))


def is_own_code(occurrence: FactOccurrence) -> bool:
    """Whether the target's own code holds a value."""
    return occurrence.evidence.from_target and occurrence.evidence.work.kind == "code"


def is_policy(hit: Hit) -> bool:
    """Whether a passage is of the terms of a repository, which say nothing of what is done in it: a licence, rules for contributors."""
    return hit.work.kind == "code" and hit.chunk.kind != "code" and _POLICY.search(hit.chunk.path) is not None


def line_at(chunk: Chunk, line: int) -> str:
    """A line of a file as a passage has it, "" for one outside of it."""
    lines = chunk.text.split("\n")
    return lines[line - chunk.start_line] if 0 <= line - chunk.start_line < len(lines) else ""


def sentences_of(occurrence: FactOccurrence) -> tuple[list[str], int]:
    """The sentences of the line that a value was read from, and which of them says it; -1 if none does."""
    said = sentences(line_at(occurrence.evidence.chunk, occurrence.fact.line))
    return said, next((n for n, text in enumerate(said) if occurrence.fact.said and occurrence.fact.said[:BEGINS] in text), -1)


def command_of(occurrence: FactOccurrence) -> str:
    """The command that a line belongs to, in one line."""
    chunk = occurrence.evidence.chunk
    first = last = occurrence.fact.line
    while line_at(chunk, first - 1).rstrip().endswith("\\"):
        first -= 1
    while line_at(chunk, last).rstrip().endswith("\\"):
        last += 1
    return " ".join(line_at(chunk, line) for line in range(first, last + 1))


def by_value(name: str, occurrences: Iterable[FactOccurrence], same: Callable[[str, str, str], bool]) -> list[list[FactOccurrence]]:
    """Holders of one detail by its value, in the order in which the values come."""
    groups: dict[str, list[FactOccurrence]] = {}
    for occurrence in occurrences:
        key = next((known for known in groups if known == occurrence.fact.value or same(name, known, occurrence.fact.value)), occurrence.fact.value)
        groups.setdefault(key, []).append(occurrence)
    return list(groups.values())


def sentence_of(value: FactOccurrence) -> str:
    """The sentence that a value was read from."""
    sentences, at = sentences_of(value)
    return sentences[at] if at >= 0 else value.fact.said
