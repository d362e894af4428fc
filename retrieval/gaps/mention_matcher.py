"""Whether a text gives a setting that code names its own way: its name in words beside any value, or its value beside a part of its name. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lineage.hyperparameters.values import number
from lineage.text.phrases import Word
from lineage.text.tokens import parts, stem
from retrieval.decisions.setting_words import setting_words
from retrieval.decisions.target_text import TargetSentence

_SPREAD = 3
"""Words that may stand between the parts of a name."""
_PERCENT = re.compile(r"\s?(?:\\%|per ?cent\b)")
_SHORTEST = 3
"""Letters from which on a part may be the beginning of a word: `prob` of "probability"."""
_PLAIN = 10
"""Whole numbers up to this stand in every text and prove nothing."""


@dataclass(frozen=True)
class Spoken:
    """Sentences, indexed by the parts of their words."""

    sentences: tuple[TargetSentence, ...]

    @cached_property
    def pieces(self) -> list[list[str]]:
        """The parts of each sentence's words, in order; a line of a table has its columns' heads before it."""
        return [parts(f"{sentence.header} {sentence.text}") for sentence in self.sentences]

    @cached_property
    def places(self) -> Mapping[str, Mapping[int, Sequence[int]]]:
        """Where each part stands: by sentence, by place in it."""
        positions: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for sentence, pieces in enumerate(self.pieces):
            for at, piece in enumerate(pieces):
                positions[piece][sentence].append(at)
        return positions

    @cached_property
    def numbers(self) -> list[dict[int | float, int]]:
        """The numbers of each sentence."""
        counts = ([(_number(sentence, word), n) for n, word in enumerate(sentence.words) if word.number] for sentence in self.sentences)
        return [{value: n for value, n in pairs if value is not None} for pairs in counts]

    def of_part(self, part: str) -> Mapping[int, Sequence[int]]:
        """The places of words that a part of a name stands for: itself, an inflection, what it abbreviates."""
        positions: dict[int, list[int]] = defaultdict(list)
        for word, places in self.places.items():
            if _stands_for(part, word):
                for sentence, at in places.items():
                    positions[sentence] += at
        return positions

    def naming(self, name: str) -> list[int]:
        """The sentences in which all parts of a name stand close together."""
        wanted = [self.of_part(part) for part in dict.fromkeys(parts(name))]
        if not wanted:
            return []
        both = set(wanted[0]).intersection(*wanted[1:])
        return sorted(index for index in both if _close([places[index] for places in wanted]))

    def gives(self, name: str, value: str) -> bool:
        """Whether some sentence gives a setting: all of its name and a number or the value, or a value of its own and a telling part."""
        wanted = number(value)
        if wanted is None or value.startswith("["):
            return self._gives_words(name, value)
        if any(wanted in self.numbers[index] or (len(parts(name)) > 1 and self.numbers[index]) for index in self.naming(name)):
            return True
        rare = isinstance(wanted, float) or abs(wanted) > _PLAIN
        return rare and any(wanted in self.numbers[index] for index in self._telling(name))

    def _gives_words(self, name: str, value: str) -> bool:
        """The same for a word or a list: a value of several words is given wherever they stand together, one beside a telling part."""
        valued = set(self.naming(value)) if value[:1] != "[" else set()
        if valued and (len(parts(value)) > 1 or not valued.isdisjoint(self._telling(name))):
            return True
        return len(parts(name)) > 1 and any(self.numbers[index] for index in self.naming(name))

    def _telling(self, name: str) -> set[int]:
        """The sentences in which any telling part of a name stands."""
        return {index for part in telling_parts(name) for index in self.of_part(part)}


def _number(sentence: TargetSentence, word: Word) -> float | int | None:
    """A number of a sentence, per cent as a fraction."""
    value = number(word.text)
    return value / 100 if value is not None and _PERCENT.match(sentence.text, word.end) else value


def _stands_for(part: str, word: str) -> bool:
    if word == part or word in setting_words().spoken.get(part, ()):
        return True
    return len(part) >= _SHORTEST and not part.isdigit() and (word.startswith(part) or stem(word) == stem(part))


def _close(places: Sequence[Sequence[int]]) -> bool:
    """Whether one place of each can be chosen so that all lie within a few words."""
    reach = len(places) + _SPREAD
    return any(all(any(abs(at - first) < reach for at in some) for some in places[1:]) for first in places[0])


def telling_parts(name: str) -> Iterable[str]:
    """The parts of a name that tell it from others."""
    return (part for part in parts(name) if part not in setting_words().generic and len(part) > 1)
