"""Where a value stands: the passage as evidence, the line or sentence that says the value, and what its place says of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from lineage.records import Chunk, Focus, Hit
from lineage.text.phrases import sentences
from lineage.text.tokens import STOP, parts, stem

if TYPE_CHECKING:
    from lineage.results import FactOccurrence
    from retrieval.search.work_relations import WorkRelations

_POLICY = re.compile(
    r"(?:\A|/)(?:LICEN[CS]E|COPYING|NOTICE|CODE[_-]OF[_-]CONDUCT|CONTRIBUTING|SECURITY|CHANGELOG|CITATION)[^/]{0,20}\Z", re.IGNORECASE
)
BEGINS = 12
"""Characters of what was read by which its sentence is known: it may go on over the sentence's end."""
TRIED = re.compile(
    r"\b(?:search(?:ed|ing)?|sweeps?|swept|grid|experiment(?:ed)? with|tr(?:y|ied)|var(?:y|ied|ying)|explor(?:e|ed)|candidates?"
    r"|ranging|range(?:s|d)? from|chosen from|selected from|ablat\w{1,5}|sensitiv\w{1,6})\b",
    re.IGNORECASE,
)
"""Words of a sentence that tells what was tried, not what was taken."""
_PROGRAM = re.compile(r"arg|pars(?:e|er)|option|flag|config|cfg|setting|param|main|cli\b", re.IGNORECASE)
_SAY_NOTHING = (
    "experiment experiments experimental setup set up settings setting details detail implementation training train trained hyper parameters"
    " hyperparameters parameter search additional further more main results result evaluation method methods approach model models modeling"
    " appendix configuration configurations config protocol general overview data datasets dataset baseline baselines default ours proposed"
    " final system args arguments options params get run code module network supplementary optimization procedure"
)
_GENERAL = frozenset(stem(word) for word in _SAY_NOTHING.split())


def evidence(chunk: Chunk, relations: WorkRelations, line: int = 0) -> Hit:
    """A passage as evidence, with how its work is related to the target; its focus is the line of the file, if one is given."""
    return replace(relations.of(chunk.work).hit(chunk, Focus(line, line) if line else None), file=relations.file(chunk))


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
    of_line = sentences(line_at(occurrence.evidence.chunk, occurrence.fact.line))
    return of_line, next((n for n, text in enumerate(of_line) if occurrence.fact.said and occurrence.fact.said[:BEGINS] in text), -1)


def by_value(name: str, occurrences: Iterable[FactOccurrence], same: Callable[[str, str, str], bool]) -> list[list[FactOccurrence]]:
    """Holders of one detail by its value, in the order in which the values come."""
    groups: dict[str, list[FactOccurrence]] = {}
    first: dict[str, str] = {}
    for occurrence in occurrences:
        value = occurrence.fact.value
        if value not in first:
            first[value] = next((known for known in groups if known == value or same(name, known, value)), value)
        groups.setdefault(first[value], []).append(occurrence)
    return list(groups.values())


def sentence_of(value: FactOccurrence) -> str:
    """The sentence that a value was read from."""
    sentences, at = sentences_of(value)
    return sentences[at] if at >= 0 else value.fact.said


def telling(text: str) -> frozenset[str]:
    """The words of a title, scope or path that say which one is meant: "Implementation details" and numbers say nothing."""
    words: set[str] = set()
    for word in re.findall(r"[^\W_]+", text):
        pieces = [stem(piece) for piece in parts(word) if piece not in STOP and len(piece) > 1 and not piece[0].isdigit()]
        telling_pieces = [piece for piece in pieces if piece not in _GENERAL]
        words.update(telling_pieces, [stem(word.lower())] if telling_pieces and len(parts(word)) > 1 else [])  # `SciFact` is `scifact` to others
    return frozenset(words)


def is_parameter(occurrence: FactOccurrence) -> bool:
    """Whether a value is what a function or class of a library takes if its caller says nothing; programs and settings are no library."""
    root = re.split(r"[.:]", occurrence.fact.scope)[0]
    if occurrence.fact.kind != "default" or not root or _PROGRAM.search(root):
        return False
    chunk = occurrence.evidence.chunk
    return root in chunk.symbol.split(".") or bool(re.search(rf"\b(?:class|def)\s+{re.escape(root)}\b", chunk.text))
