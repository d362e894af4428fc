"""Sentences and the ontology's phrases in them: names of details, nouns that count them, choices, and what does not state them (pure).

Phrases are looked up word by word, the longest at each place; a sentence remembers which of its numbers belong to a phrase
already. The walk is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from indexer.extraction.quantity import WORDS
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import Term
from lineage.records import FactKind

TOKEN = re.compile(r"[^\W_]+")
_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z(\[\"“])|\n\s*\n|\n\s*(?=[-*•]\s)")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "constant orthogonal zeros ones precision accuracy unigram uniform softmax sigmoid recall lion normal moses none linear step tanh cutout",
    )
)
_MOST = 4_000
_BREAK = "\n\n"
_WIDE = re.compile(r"[^\S\n]{40,}")
"""White space that stands in no sentence; patterns that look across it would take the square of its length."""


@dataclass(frozen=True)
class Phrase:
    """Words that name a detail, count it, or are one of its choices (`spelled` where case matters)."""

    words: tuple[str, ...]
    term: Term
    role: str
    choice: str = ""
    spelled: str = ""


Lexicon = Mapping[str, tuple[Phrase, ...]]


@dataclass
class TokenizedSentence:
    """A sentence, where it begins, the titles above it, and with those beside it (`near`).

    `taken` are the numbers that a phrase has, `said` their values by detail.
    """

    text: str
    line: int
    around: str
    near: str
    tokens: list[re.Match[str]]
    taken: list[tuple[int, int]] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The words in lower case."""
        return [token[0].lower() for token in self.tokens]

    def row(self, at: int) -> int:
        """The line of an offset of the sentence."""
        return self.line + self.text.count("\n", 0, at)

    def free(self, start: int, end: int) -> bool:
        """Whether no number inside has been given to another phrase."""
        return not any(a < end and start < b for a, b in self.taken)


@lru_cache(maxsize=4)
def lexicon(ontology: Ontology) -> Lexicon:
    """Phrases by their first word, longest first."""
    phrases_by_key: dict[str, list[Phrase]] = {}
    for term in ontology.terms.values():
        rows = [(phrase, "name", "") for phrase in term.prose] + [(noun, "counted", "") for noun in term.counted]
        spelled_choices = [(spelling, choice) for choice, spellings in term.values.items() for spelling in spellings if term.cues]
        rows += [(spelling, "choice", choice) for spelling, choice in spelled_choices if _distinct(spelling)]
        for phrase, role, choice in rows:
            words = tuple(token[0].lower() for token in TOKEN.finditer(phrase))
            spelled = phrase if role == "choice" and len(words) == 1 else ""
            if words:
                phrases_by_key.setdefault(words[0], []).append(Phrase(words, term, role, choice, spelled))
    order = {"choice": 0, "name": 1, "counted": 2}
    return {
        word: tuple(sorted(phrases_of_key, key=lambda entry: (-len(entry.words), order[entry.role])))
        for word, phrases_of_key in phrases_by_key.items()
    }


def _distinct(spelling: str) -> bool:
    """Whether a spelling means its choice in running text too."""
    if " " in spelling or ("-" in spelling and spelling.lower() != spelling.upper()):
        return True
    return (
        spelling.lower() not in _COMMON
        and "_" not in spelling
        and (spelling.lower() != spelling or any(c.isdigit() for c in spelling))
        and not spelling.isdigit()
    )


def sentences(text: str, first: int, around: str) -> Iterator[TokenizedSentence]:
    """The sentences of a text whose first line has the number `first`; a long one in pieces."""
    line = first
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        near = f"{'' if before.endswith(_BREAK) else before[-_MOST:]}{part[:_MOST]}{'' if part.endswith(_BREAK) else after[:_MOST]}"
        for start in range(0, len(part), _MOST):
            piece = _WIDE.sub(" ", part[start : start + _MOST].rstrip())
            tokens = list(TOKEN.finditer(piece))
            if len(tokens) > 1:
                yield TokenizedSentence(piece, line + part.count("\n", 0, start), around, near, tokens)
        line += part.count("\n")


def hits(words: Sequence[str], sentence: TokenizedSentence, phrases: Lexicon, role: str) -> Iterator[tuple[Phrase, int, int]]:
    """Phrases of a role with their offsets, the longest at each place."""
    at = 0
    while at < len(words):
        length = 0
        for phrase in phrases.get(words[at], ()):
            size = len(phrase.words)
            if phrase.role != role or size < length or tuple(words[at : at + size]) != phrase.words:
                continue
            start, end = sentence.tokens[at].start(), sentence.tokens[at + size - 1].end()
            together = size == 1 or end - start <= 2 * sum(map(len, phrase.words)) + 8
            if together and (not phrase.spelled or sentence.text[start:end] == phrase.spelled):
                length = size
                yield phrase, start, end
        at += length or 1


_EXAMPLE = re.compile(
    r"\b(?:such as|e\.g\.,?|for example,?|for instance,?)\s+(?:[\w-]{1,30}(?:\s[\w-]{1,30}){0,2}"
    r"(?:\s\[[^\[\]]{1,60}\])?(?:,?\s(?:and|or)\s|,\s)){0,3}\Z",
    re.IGNORECASE,
)
"""What stands before an example of something; of sets (augmentations, metrics) examples say what is used."""
_SETS = {"augmentation", "evaluation", "data"}
_COST = re.compile(
    r"\b(?:[GMTP]?FLOPs?|MACs|throughput|latency|fps|speed|(?:inference|generation|sampling|evaluation) time|time (?:required|taken|needed)|"
    r"(?:seconds?|ms) per (?:image|sample|iteration|step)|(?:frames?|images?|samples?|tokens?|img)\s?(?:/|per\s)\s?s(?:ec(?:onds?)?)?)\b",
    re.IGNORECASE,
)
_TRAINED = re.compile(r"\b(?:(?:pre-?|fine-?)?(?:trained|tuned)|we (?:pre-?|fine-?)?train|epochs?)\b", re.IGNORECASE)
_CONDITIONS = {"batch_size", "gpus", "gpu_type", "precision", "image_size"}
"""Details of which sentences on cost tell how it was measured, unless one says that something was trained."""
_PREFIXES = frozenset(
    {"pre", "post", "re", "fine", "mini", "micro", "per", "max", "min", "semi", "non", "half", "vanilla", "standard", "nvidia", *WORDS}
)
"""Parts before a hyphen that leave the word after it what it is."""


def not_meant(sentence: TokenizedSentence, phrase: Phrase, start: int, kind: FactKind) -> bool:
    """Whether a phrase is the end of another word ("alignment-depth"), an example, or a condition of measuring cost."""
    ahead = sentence.text[max(0, start - 80) : start]
    joined = re.search(r"([A-Za-z]+)-\Z", ahead[-30:])
    if joined and (phrase.role == "choice" or len(phrase.words) == 1) and joined[1].lower() not in _PREFIXES:
        return True
    example = phrase.role == "choice" and phrase.term.topic not in _SETS and _EXAMPLE.search(ahead)
    cost = kind == "prose" and phrase.term.name in _CONDITIONS and _COST.search(sentence.near) and not _TRAINED.search(sentence.near)
    return bool(example or cost)
