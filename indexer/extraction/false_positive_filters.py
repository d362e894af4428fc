"""What stands in a sentence and is not stated by it: plans, examples, what was not taken, parts of other words (pure).

All patterns are bounded.
"""

from __future__ import annotations

import re

from indexer.extraction.quantity import WORDS
from indexer.extraction.sentences import TOKEN, Phrase, TokenizedSentence
from lineage.records import FactKind

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
