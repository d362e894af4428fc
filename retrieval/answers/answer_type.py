"""What kind of statement a question asks for (a count, a duration, a reason, a name), and whether a sentence makes one. Pure.

A passage that shares its words with "How many claims does the dataset contain?" is no answer unless a number stands beside
"claims". The kinds are those of factoid question answering; sentences are tested by what such statements have in common.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from lineage.text.tokens import STOP, stem

LONGEST = 2_000
_BEFORE, _AFTER = 6, 3
"""How many words before the noun, and after it, the number that counts it may stand."""
_WORD = re.compile(r"[^\W_]+(?:[-_'’.][^\W_]+)*")
_WORDS = "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty fifty hundred thousand million billion"
_NUMBER_WORDS = frozenset(_WORDS.split())
_CITED = re.compile(
    r"\[[^\[\]]{0,200}[A-Za-z][^\[\]]{0,200}\]|\b(?:Figures?|Fig\.?|Tables?|Tab\.?|Sections?|Sec\.?|Appendix|Eq\.?|Equation|Algorithm|Row|§)\s?[\dA-Z][\d.A-Z]{0,5}\w?"
)
_NUMBER = re.compile(r"(?<![\w.])[-+±≈~$]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?\s?(?:%|[kKMBT]\b|x\b|×)?")
_TIME = re.compile(
    r"\d\s?-?(?:hours?|hrs?|h|minutes?|mins?|seconds?|secs?|s|ms|days?|weeks?|months?|years?|GPU|TPU)\b|\b(?:hours|minutes|days|weeks)\b", re.I
)
_SHARE = re.compile(r"\d\s?\\?%|\d(?:\.\d+)?\s?(?:x|×|times|points?|percent)\b|\b\d+\s?(?:/|of|out of)\s?\d+\b", re.IGNORECASE)
_REASON = re.compile(
    r"\b(?:because|since|due to|owing to|thus|hence|therefore|otherwise|so that|in order to|as (?:it|they|this|we|the)|reason|caus\w+|"
    r"lead\w* to|led to|result\w* in|allow\w*|enabl\w*|prevent\w*|avoid\w*|ensur\w*|motivat\w*|mitigat\w*|would|negatively|help\w*|makes? (?:it|the)|"
    r"to (?:reduce|improve|keep|make|match|stabili[sz]e|encourage))\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![\w.])(?:[A-Z][\w-]*[A-Z0-9][\w.-]*|[a-z]+[A-Z]\w*|\w+_\w+|[A-Z][a-z]+(?:[ -][A-Z][a-z]+)*|`[^`]{1,80}`|[A-Z]{2,})")
_QUANTITIES = (
    "rate size value threshold temperature weight coefficient factor decay momentum dimension dimensionality width depth length resolution ratio"
    " score accuracy agreement kappa norm number count amount probability seed epochs epoch steps step iterations budget budgets strength dropout"
    " interval alpha beta gamma lambda epsilon k f1 fid precision recall exponent scale range"
)
_QUANTITY = frozenset(map(stem, _QUANTITIES.split()))
_STARTS = re.compile(
    r"\b(?:how (?P<how>many|long|much|large|big|high|deep|wide|often|far|small|strong|low|fast)|(?P<w>why|where|who|whose|which|what|how))\b", re.I
)
_SHARES = re.compile(
    r"\b(?:share|percentage|fraction|proportion|percent|by how much|how much (?:better|faster|less|more|smaller|larger|lower|higher))\b", re.I
)
_POLAR = re.compile(r"\A\W*(?:is|are|was|were|does|do|did|has|have|can|could|should|will)\b", re.IGNORECASE)
_ACTS = re.compile(r"\s{0,3}(?:does|do|did|happens?|happened)\b", re.IGNORECASE)
_OPENER = re.compile(r"\A\s{0,3}(?:is|are|was|were)\b", re.IGNORECASE)
_STOPS = (
    "is are was were be does do did has have had can could will would should may might must in on of at for from by with when where per used use"
    " using given trained needed required there contain contains get gets make made to that which who as into between and or works work gives gave"
    " achieves reaches helps performs"
)
_ENDS = frozenset(_STOPS.split())
_PLAIN = "value values exact default initial final total overall maximum minimum best optimal"
_QUALIFIERS = frozenset(_PLAIN.split())


class Kind(Enum):
    """The kinds of statements that questions ask for."""

    COUNT = "count"
    QUANTITY = "quantity"
    DURATION = "duration"
    SHARE = "share"
    REASON = "reason"
    NAME = "name"
    PLACE = "place"
    POLAR = "polar"
    MANNER = "manner"


NUMERIC = frozenset((Kind.COUNT, Kind.QUANTITY, Kind.DURATION, Kind.SHARE))


@dataclass(frozen=True)
class AnswerType:
    """A kind of statement, and the stems of the noun phrase that it is about ("zero-shot tasks"), its head last."""

    kind: Kind
    noun: tuple[str, ...] = ()


def answer_type(question: str) -> AnswerType:
    """What a question asks for; a manner where it asks for nothing that is told by its form."""
    question = question[:LONGEST]
    if _SHARES.search(question):
        return AnswerType(Kind.SHARE)
    start = _STARTS.search(question)
    if start is None or (_POLAR.match(question) and start.start() > 0):
        return AnswerType(Kind.POLAR if _POLAR.match(question) else Kind.MANNER)
    noun = _noun(question[start.end() :])
    if start["how"]:
        return _how_much(start["how"].lower(), noun)
    word = start["w"].lower()
    plain = {"why": Kind.REASON, "where": Kind.PLACE, "how": Kind.MANNER}
    if word in plain:
        return AnswerType(plain[word], noun)
    rest = _OPENER.sub("", question[start.end() :])
    asked = noun or _noun(rest)
    if _ACTS.match(question[start.end() :]):
        return AnswerType(Kind.MANNER)
    if asked and asked[-1] in _QUANTITY:
        return AnswerType(Kind.QUANTITY, asked)
    return AnswerType(Kind.NAME if noun or word.startswith("who") else Kind.MANNER, asked)


def _how_much(measure: str, noun: tuple[str, ...]) -> AnswerType:
    if measure == "many":
        return AnswerType(Kind.COUNT, noun)
    return AnswerType(Kind.DURATION if measure == "long" and not noun else Kind.QUANTITY, noun)


def _noun(text: str) -> tuple[str, ...]:
    """The stems of the nouns at the beginning of a text, up to a verb or preposition."""
    found: list[str] = []
    for word in _WORD.findall(text)[:12]:
        low = word.lower()
        if low in _ENDS or (found and low in STOP):
            if found:
                break
            if low not in ("of", "is", "are", "was", "were"):
                break
        elif low not in STOP and low not in _QUALIFIERS:
            found.append(stem(low))
    return tuple(found)


def states(text: str, asked: AnswerType, question: str = "") -> float:
    """How well (0..1) a text makes such a statement; .5 where its form does not tell."""
    bare = _CITED.sub(" ", text[:LONGEST])
    if asked.kind is Kind.COUNT:
        return _counts(bare, asked.noun)
    if asked.kind is Kind.QUANTITY:
        return _gives(bare, asked.noun)
    if asked.kind is Kind.DURATION:
        return 1.0 if _TIME.search(bare) else 0.3 * bool(_NUMBER.search(bare))
    if asked.kind is Kind.SHARE:
        return 1.0 if _SHARE.search(bare) else 0.3 * bool(_NUMBER.search(bare))
    if asked.kind is Kind.REASON:
        return min(1.0, 0.2 + 0.6 * len(_REASON.findall(bare)))
    if asked.kind is Kind.NAME:
        return _names(bare, question)
    return 0.5


def _words(text: str) -> list[tuple[str, bool]]:
    """The stems of a text, each with whether it is a number."""
    spans = {found.start(): found for found in _NUMBER.finditer(text)}
    words: list[tuple[str, bool]] = []
    at = 0
    for match in re.finditer(rf"{_NUMBER.pattern}|{_WORD.pattern}", text):
        if match.start() < at:
            continue
        at = match.end()
        number = match.start() in spans or match[0].lower() in _NUMBER_WORDS
        words.append((stem(match[0].lower()), number))
    return words


def _counts(text: str, noun: Sequence[str]) -> float:
    """Whether a number stands beside what is counted: shortly before the noun, or right after it."""
    words = _words(text)
    if not any(number for _, number in words):
        return 0.0
    head = noun[-1:] or ("",)
    for at, (word, _) in enumerate(words):
        if word == head[0] or (len(head[0]) > 3 and word.endswith(head[0])):
            if any(number for _, number in words[max(0, at - _BEFORE) : at]):
                return 1.0
            if any(number for _, number in words[at + 1 : at + 1 + _AFTER]):
                return 0.8
    return 0.3


def _gives(text: str, noun: Sequence[str]) -> float:
    """Whether a number stands where the noun that is asked for does."""
    words = _words(text)
    numbers = [at for at, (_, number) in enumerate(words) if number]
    if not numbers:
        return 0.0
    places = [at for at, (word, _) in enumerate(words) if word in noun]
    if not places:
        return 0.3
    near = min(abs(at - number) for at in places for number in numbers)
    return 1.0 if near <= 8 else 0.6


def _names(text: str, question: str) -> float:
    """Whether a text has a name that the question does not have."""
    asked = question.lower()
    new = {name for name in _NAME.findall(text[1:]) if name.strip("`").lower() not in asked}
    return (0.2, 0.7, 1.0)[min(2, len(new))]
