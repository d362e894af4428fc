"""Contradictions of what the paper tells rather than sets: techniques without a trace in its code, and two places of its own text. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lineage.hyperparameters.ontology import Same
from lineage.hyperparameters.terms import fold
from lineage.records import Chunk, Fact, FactKind, Hit
from lineage.results import Conflict, FactOccurrence
from retrieval.contradictions.techniques import MissingTechnique, missing
from retrieval.decisions.experiments import telling
from retrieval.decisions.target_text import DONE, TargetSentence, TargetText, hit

_SAID = 160
_SURE, _LIKELY, _POSSIBLE = 0.85, 0.7, 0.5
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: n for n, word in enumerate(_WORDS, 2)}
_LIST = re.compile(
    rf"\b(?P<count>{'|'.join(_NUMBERS)})\s(?P<what>(?:[a-z-]+\s){{0,4}}[a-z-]+s)\s?(?:--|---|–|—|:|,\s(?:namely|including|i\.e\.,?)|\(|\s-\s)\s?"
    r"(?P<items>[A-Z][^.;:()]{5,300}?)(?:\s?(?:--|---|–|—|\))|[.;:]|,\s(?:each|which|where|with)\b|\Z)"
)
_JOINT = re.compile(r",\s*(?:and\s+|&\s*)?|\s+and\s+|\s+&\s+")
_ITEM = re.compile(r"(?:our\s|the\s)?[A-Z][\w$^{}\\.+-]*(?:[\s-][\w.+-]+){0,2}(?:\s?\[[^\]]*\])?\Z")
_OPEN = re.compile(r"\b(?:etc|e\.g|such as|among|other)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Reading:
    """What was read of the target: its text, the passages of its own code with the mechanisms they state, and a line of one as evidence."""

    text: TargetText
    code: Sequence[Chunk]
    evidence: Callable[[Chunk, int], Hit]
    mechanisms: Sequence[Fact] = ()

    def conflicts(
        self, paper: Mapping[str, Sequence[FactOccurrence]], title: Callable[[str], str], same: Callable[[str, str, str], bool]
    ) -> Iterator[Conflict]:
        """Everything that the text claims and the code has no sign of, and what the text says twice in two ways."""
        for one in missing(self.text.sentences, self.code, self.mechanisms):
            yield self._missing(one)
        for left, right in stated_twice(paper, same):
            why = "likely: two sections of one title state it differently"
            yield Conflict(left.fact.name, title(left.fact.name), "within", (left, right), _LIKELY, why, "stated-twice")
        for sentence, counted, listed, what in miscounted(self.text.sentences):
            sides = (self._said(sentence, what, str(counted)), self._said(sentence, what, f"{listed} listed"))
            why = "sure: the sentence lists more or fewer than it counts"
            yield Conflict(f"number of {what}", f"Number of {what}", "within", sides, _SURE, why, "miscounted")

    def _missing(self, missing: MissingTechnique) -> Conflict:
        place = self.evidence(missing.chunk, missing.line)
        kind: FactKind = "config" if missing.chunk.kind == "config" else "call"
        line = next(iter(missing.chunk.text.split("\n")[missing.line - missing.chunk.start_line :]), "").strip()
        value = missing.instead or f"no {missing.technique.name}"
        claimed = f"without {missing.technique.name}" if missing.denied else missing.technique.name
        other = FactOccurrence(
            Fact(missing.kind.name, value, "", missing.chunk.work, missing.chunk.id, kind, missing.line, missing.kind.name, line[:_SAID]), place
        )
        why = f"likely: its own code has {missing.instead} there" if missing.instead else "possible: no file of its own code has a sign of it"
        severity = _LIKELY if missing.instead else _POSSIBLE
        sides = (self._said(missing.said, missing.kind.name, claimed), other)
        return Conflict(missing.kind.name, missing.kind.name.capitalize(), "paper-code", sides, severity, why, "technique")

    def _said(self, sentence: TargetSentence, name: str, value: str) -> FactOccurrence:
        fact = Fact(name, value, "", self.text.work.id, sentence.chunk.id, "prose", sentence.line, name, " ".join(sentence.text.split())[:_SAID])
        return FactOccurrence(fact, hit(sentence, self.text.work))


def stated_twice(paper: Mapping[str, Sequence[FactOccurrence]], same: Same) -> Iterator[tuple[FactOccurrence, FactOccurrence]]:
    """Values of one setting, called by one name, in two sections of one title."""
    for name, some in paper.items():
        places: dict[tuple[str, str, str], list[FactOccurrence]] = defaultdict(list)
        for occurrence in some:
            section = occurrence.evidence.chunk.section
            if len(section) > 1 and len(telling(section[-1])) > 1 and " " in occurrence.fact.written and occurrence.fact.value[:1] != "[":
                places[fold(section[-1]), fold(occurrence.fact.written), occurrence.fact.scope].append(occurrence)
        for alike in places.values():
            yield from _differing(name, alike, same)


def _differing(name: str, alike: Sequence[FactOccurrence], same: Same) -> Iterator[tuple[FactOccurrence, FactOccurrence]]:
    """One pair of values where each of two sections has a single one."""
    by_section: dict[tuple[str, ...], list[FactOccurrence]] = defaultdict(list)
    for occurrence in alike:
        by_section[occurrence.evidence.chunk.section].append(occurrence)
    single = [some for some in by_section.values() if all(same(name, some[0].fact.value, occurrence.fact.value) for occurrence in some)]
    for one, other in pairwise(single):
        if not same(name, one[0].fact.value, other[0].fact.value):
            yield one[0], other[0]


def miscounted(sentences: Iterable[TargetSentence]) -> Iterator[tuple[TargetSentence, int, int, str]]:
    """Sentences that count things and list more or fewer: the sentence, the count, the number of items, and what is counted."""
    for sentence in sentences:
        if sentence.table or sentence.quoted or sentence.weight < DONE:
            continue
        for match in _LIST.finditer(sentence.text):
            items = [item.strip() for item in _JOINT.split(match["items"]) if item.strip()]
            if len(items) > 2 and all(_ITEM.match(item) for item in items) and not _OPEN.search(match[0]) and len(items) != _NUMBERS[match["count"]]:
                yield sentence, _NUMBERS[match["count"]], len(items), match["what"]
