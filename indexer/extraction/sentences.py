"""Sentences and the ontology's phrases in them: names of details, nouns that count them, choices, and what does not state them (pure).

Phrases are looked up word by word, the longest at each place; a sentence remembers which of its numbers belong to a phrase
already. The walk is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

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
_WIDE = re.compile(r"[^\S\n]{40,}")
"""White space that stands in no sentence; patterns that look across it would take the square of its length."""
_BROKEN = re.compile(r"[})\]]\s{0,2}\d")
"""Where a number begins after what a bracket has closed: `\\frac{1}{\\beta}2.048` is no second beta."""
_POINT = re.compile(r"\.\d")


@dataclass(frozen=True)
class Phrase:
    """Words that name a detail, count it, are one of its choices (`spelled` where case matters), or name what a sentence may do without."""

    words: tuple[str, ...]
    term: Term
    role: str
    choice: str = ""
    spelled: str = ""


Lexicon = Mapping[str, tuple[Phrase, ...]]


@dataclass
class TokenizedSentence:
    """A sentence, where it begins, the titles above it; `taken` are the numbers that a phrase has, `said` their values by detail."""

    text: str
    line: int
    around: str
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
        rows += [
            (spelling, "choice", choice) for choice, spellings in term.values.items() for spelling in spellings if term.cues and _distinct(spelling)
        ]
        rows += [(technique, "off", value) for value, techniques in term.off.items() for technique in techniques]
        for phrase, role, choice in rows:
            words = tuple(token[0].lower() for token in TOKEN.finditer(phrase))
            spelled = phrase if role == "choice" and len(words) == 1 else ""
            if words:
                phrases_by_key.setdefault(words[0], []).append(Phrase(words, term, role, choice, spelled))
    order = {"choice": 0, "name": 1, "counted": 2, "off": 3}
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
    at, line = 0, first
    for border in (*(match.end() for match in _END.finditer(text)), len(text)):
        part = text[at:border]
        for start in range(0, len(part), _MOST):
            piece = _WIDE.sub(" ", part[start : start + _MOST].rstrip())
            tokens = list(TOKEN.finditer(piece))
            if len(tokens) > 1:
                yield TokenizedSentence(piece, line + part.count("\n", 0, start), around, tokens)
        line += part.count("\n")
        at = border


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
            numbered = size > 1 and phrase.words[-1].isdigit()
            if numbered and (_BROKEN.search(sentence.text, start, end) or _POINT.match(sentence.text, end)):
                continue
            if together and (not phrase.spelled or sentence.text[start:end] == phrase.spelled):
                length = size
                yield phrase, start, end
        at += length or 1


_UNDONE = re.compile(
    r"\bfuture (?:work|research|stud(?:y|ies))\b|\bmore common(?:ly)?\b|\bperforms? (?:similarly|equally|comparably)\b", re.IGNORECASE
)
"""What says that a sentence speaks of what was not done, or of what others do."""
_FOREGONE = re.compile(r"\b(?:rather than|instead of|in place of|as opposed to|in contrast to|unlike)\s+(?:(?!we\b)[\w-]+\s+){0,3}\Z", re.IGNORECASE)
"""What stands before that which was not taken."""
_EXAMPLE = re.compile(
    r"\b(?:such as|e\.g\.,?|for example,?|for instance,?)\s+(?:[\w-]{1,30}(?:\s[\w-]{1,30}){0,2}"
    r"(?:\s\[[^\[\]]{1,60}\])?(?:,?\s(?:and|or)\s|,\s)){0,3}\Z",
    re.IGNORECASE,
)
"""What stands before an example of something; of sets (augmentations, metrics) examples say what is used."""
_SETS = {"augmentation", "evaluation", "data"}
_SCALES = re.compile(r"\bscal\w{1,6}\b[^.;]{0,60}\Z|\b(?:size|gpus?|samples|images)\s*\Z", re.IGNORECASE)
"""What stands before "divided by 256" where that is the batch of a scaling rule."""
_COST = re.compile(
    r"\b(?:[GMTP]?FLOPs?|MACs|throughput|latency|(?:inference|generation|sampling|evaluation) (?:time|speed)|"
    r"(?:seconds?|ms) per (?:image|sample|iteration|step)|(?:images?|samples?|tokens?|img)\s?(?:/|per\s)\s?s(?:ec(?:onds?)?)?)\b",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:we|is|are|was|were|been)\s+(?:\w+\s+)?(?:pre-?|fine-?)?train(?:ed)?\b", re.IGNORECASE)
_CONDITIONS = {"batch", "hardware"}
"""Topics of which a sentence on cost tells how it was measured, unless it says that something was trained."""
_PREFIXES = frozenset(
    {"pre", "post", "re", "fine", "mini", "micro", "per", "max", "min", "semi", "non", "half", "vanilla", "standard", "nvidia", *WORDS}
)
"""Parts before a hyphen that leave the word after it what it is."""
_DENIED = re.compile(
    r"\b(?:no|nor|neither|without(?:\s+(?:any|using))?|(?:not|n't|never)\s+(?:use|used|using|apply|applied|applying|employ\w{0,3}))\s+"
    r"(?:[\w-]{1,20}(?:,?\s+(?:or|nor))?\s+)?\Z",
    re.IGNORECASE,
)
"""What stands before that which is not there."""
_BESIDE = re.compile(r"(?<!\band )(?<!\bor )\b(?![A-Z][a-z])([A-Za-z]+)[ \n]\Z")
"""The word right before a name; in "training and sampling batch sizes" it stands for another one, in "Test batch sizes of ..." it is a verb."""
_OF_A_SCHEDULE = re.compile(r"learning|rate|lr|schedul|decay|anneal|linear|constant")
_SCHEDULED = re.compile(r"\blearning[ \n-]?rates?\b|\blr\b|\bschedul|(?<!weight )(?<!weight-)\b(?:decay|anneal)", re.IGNORECASE)
_BORDER = re.compile(r"[,;:()]")
_TELLING = 2
"""Words above which a schedule's name need not have the learning rate in its own clause: "the inverse square root" of the step."""


def undone(sentence: TokenizedSentence) -> bool:
    """Whether a sentence speaks of what was not done, or of what others do."""
    return _UNDONE.search(sentence.text) is not None


def not_meant(sentence: TokenizedSentence, phrase: Phrase, start: int, kind: FactKind) -> bool:
    """Whether a phrase is the end of another word ("alignment-depth"), another's ("class dropout"), not taken, or an example."""
    ahead = sentence.text[max(0, start - 80) : start]
    joined = re.search(r"([A-Za-z]+)-\Z", ahead[-30:])
    if joined and (phrase.role == "choice" or len(phrase.words) == 1) and joined[1].lower() not in _PREFIXES:
        return True
    if phrase.role == "name" and (beside := _BESIDE.search(ahead[-30:])) and beside[1].lower() in phrase.term.unlike:
        return True
    if phrase.role == "choice" and (_DENIED.search(ahead) or _is_unscheduled(sentence, phrase, start)):
        return True
    example = phrase.role == "choice" and phrase.term.topic not in _SETS and _EXAMPLE.search(ahead)
    cost = kind == "prose" and phrase.term.topic in _CONDITIONS and _COST.search(sentence.text) and not _DONE.search(sentence.text)
    scaling = phrase.words[-1] == "by" and phrase.term.name == "lr_decay_factor" and _SCALES.search(ahead)
    return bool(example or cost or scaling or _FOREGONE.search(ahead))


def _is_unscheduled(sentence: TokenizedSentence, phrase: Phrase, start: int) -> bool:
    """Whether the bare name of a schedule stands in a clause that speaks of none: "multi-step" is said of much."""
    if phrase.term.type != "schedule" or any(_OF_A_SCHEDULE.match(word) for word in phrase.words):
        return False
    if len(phrase.words) > _TELLING:
        return not _SCHEDULED.search(sentence.text)
    before = _BORDER.split(sentence.text[max(0, start - 120) : start])[-1]
    return not _SCHEDULED.search(before + _BORDER.split(sentence.text[start : start + 120])[0])


def says_otherwise(sentence: TokenizedSentence, phrase: Phrase, end: int) -> bool:
    """Whether the word after a choice makes it another thing: features that begin as Gaussian noise say nothing of weights."""
    after = TOKEN.search(sentence.text, end)
    return after is not None and after[0].lower() in phrase.term.unlike
