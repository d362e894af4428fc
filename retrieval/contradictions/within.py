"""Two places of the paper that disagree: one setting of one experiment with two values, and a list that is longer than its count. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from lineage.hyperparameters.terms import fold
from lineage.results import FactOccurrence
from retrieval.decisions.experiments import telling
from retrieval.decisions.target_text import DONE, TargetSentence

Same = Callable[[str, str, str], bool]
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: n for n, word in enumerate(_WORDS, 2)}
_LIST = re.compile(
    rf"\b(?P<count>{'|'.join(_NUMBERS)})\s(?P<what>(?:[a-z-]+\s){{0,4}}[a-z-]+s)\s?(?:--|---|–|—|:|,\s(?:namely|including|i\.e\.,?)|\(|\s-\s)\s?"
    r"(?P<items>[A-Z][^.;:()]{5,300}?)(?:\s?(?:--|---|–|—|\))|[.;:]|,\s(?:each|which|where|with)\b|\Z)"
)
_JOINT = re.compile(r",\s*(?:and\s+|&\s*)?|\s+and\s+|\s+&\s+")
_ITEM = re.compile(r"(?:our\s|the\s)?[A-Z][\w$^{}\\.+-]*(?:[\s-][\w.+-]+){0,2}(?:\s?\[[^\]]*\])?\Z")
_OPEN = re.compile(r"\b(?:etc|e\.g|such as|among|other)\b", re.IGNORECASE)


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
    single = [some for some in by_section.values() if all(same(name, some[0].fact.value, one.fact.value) for one in some)]
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
