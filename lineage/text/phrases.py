"""Find many phrases in a text at once, whatever the hyphens and capitals; split plain prose into sentences. Pure.

`fine-tuned`, "fine tuned" and `fine_tuned` are the same two words; `1e-4`, `4,096`, `150k` and `224x224` are one word each. Each
position of the text is looked up once in a table of first words, so that a list of a thousand phrases costs no more
than the text is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Phrase = tuple[str, ...]
Tag = TypeVar("Tag")
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
_SIZE = r"\d{1,5}(?:\s?[x×]\s?\d{1,5}){1,2}"
_WORD = re.compile(rf"(?P<number>(?:{_SIZE}|(?:{_NUMBER}|(?<!\w)\.\d+)(?:[kKmMbB](?![^\W_]))?%?)(?![^\W_]))|\\?[^\W_]+(?:[./'@][^\W_]+){{0,4}}")


@dataclass(frozen=True)
class Word:
    """A word in lower case with its place in the text; `number` where it is one."""

    text: str
    start: int
    end: int
    number: bool = False


def words(text: str) -> list[Word]:
    """The words of a text, in order."""
    return [Word(match[0].lower(), match.start(), match.end(), match["number"] is not None) for match in _WORD.finditer(text.replace("’", "'"))]


def phrase(text: str) -> Phrase:
    """The words of a phrase, without their places."""
    return tuple(word.text for word in words(text))


class Phrases(Generic[Tag]):
    """A table of phrases, each with what it stands for."""

    def __init__(self, phrases: Mapping[Phrase, Tag]) -> None:
        self._starts: dict[str, list[Phrase]] = {}
        for phrase_words in sorted(phrases, key=len, reverse=True):
            if phrase_words:
                self._starts.setdefault(phrase_words[0], []).append(phrase_words)
        self._tags = dict(phrases)

    def places(self, text: Sequence[Word]) -> Iterator[tuple[int, int, Tag]]:
        """(first, one after the last, tag) of every phrase that stands in the words, in order; overlapping ones too."""
        for at, word in enumerate(text):
            for candidate in self._starts.get(word.text, ()):
                if len(candidate) == 1 or tuple(other.text for other in text[at : at + len(candidate)]) == candidate:
                    yield at, at + len(candidate), self._tags[candidate]

    def found(self, text: Sequence[Word]) -> Iterator[Tag]:
        """The tags of the phrases that stand in the words."""
        return (tag for _, _, tag in self.places(text))


_BREAK = re.compile(r"(?<=[.!?])\s+(?=[A-Z⟦(\[\"“])")
_ABBREVIATED = re.compile(r"(?:\b(?:al|e\.g|i\.e|cf|Fig|Eq|Sec|Tab|vs|etc|resp|approx|Dr|No)|\b[A-Z])\.$")


def sentences(text: str) -> list[str]:
    """Sentences of plain text; an abbreviation or initial does not end one."""
    parts: list[str] = []
    for piece in _BREAK.split(text):
        if parts and _ABBREVIATED.search(parts[-1]):
            parts[-1] += " " + piece
        else:
            parts.append(piece)
    return parts
