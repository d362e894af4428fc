"""The details that a question names, those whose value it asks for, and the value that the target's chain of inheritance points to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lineage.insight import Held
from lineage.ontology import Ontology
from lineage.tokens import STOP
from retrieval.consensus import consensus
from retrieval.holders import Holders

MOST = 3
_WORD = re.compile(r"[A-Za-z_][\w.-]{0,60}")
_SPOKEN = re.compile(r"[A-Za-z_][\w.@-]{0,60}|[,;?]")
_LONGEST = 4
_NUMBERS = frozenset(("number", "integer", "fraction"))
_WHAT = frozenset(("what", "which"))
_MEASURES = frozenset(("many", "much", "large", "long", "big", "high", "often", "far", "deep", "wide", "small", "strong", "low"))
_IS = frozenset(("is", "are", "was", "were"))
_JOINS = frozenset(("and", "or", ","))
_LEFT = (
    "is are was were does do did has have had can could will would should may might must be get gets of for in on at to from by with when where"
    " how that per after before during without into between than as what which ? ;"
)
_ENDS = frozenset(_LEFT.split())
"""A verb, a preposition or the next question ends the nouns whose value is asked for."""
_QUALIFIED = "default value values maximum minimum max min exact initial fixed specific"
_PASSED = STOP | frozenset(_QUALIFIED.split())
_SHARE = 0.4
_VAGUE = frozenset(("model", "models", "data", "dataset", "datasets", "method", "task", "loss", "training", "train", "name", "type", "used", "size"))


def named_details(question: str, known: Ontology) -> tuple[str, ...]:
    """Names of details in the order of the question; the longest phrase that is a name counts, its parts do not."""
    return tuple(dict.fromkeys(name for name, _ in _named(question, known)))


def _named(question: str, known: Ontology) -> list[tuple[str, int]]:
    """The same with how many words each takes."""
    words = [word.rstrip(".-") for word in _WORD.findall(question)][:200]
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(words):
        size, name = next(((size, name) for size in range(_LONGEST, 0, -1) if (name := _name(words[at : at + size], size, known))), (1, ""))
        found += [(name, size)] if name else []
        at += size
    return found


def asked_details(question: str, known: Ontology) -> tuple[str, ...]:
    """Names of the details whose value a question asks for: "which optimiser ...", "how many epochs ...", or nothing but names of numbers.

    "which parameters are excluded from weight decay?" names one and asks for something else, as "activation" alone may.
    """
    asked = [name for phrase in _interrogated(question) if (name := known.name_of(" ".join(phrase)))]
    if not asked and _asks_for(question, known, 1.0):
        asked = [name for name in named_details(question, known) if known.terms[name].type in _NUMBERS]
    return tuple(dict.fromkeys(asked))


def _interrogated(question: str) -> list[list[str]]:
    """The nouns right after "what", "which" or "how many", up to the verb or preposition; what "and" joins to them, apart."""
    words = _SPOKEN.findall(question)[:200]
    found: list[list[str]] = []
    at = 0
    while at < len(words):
        start = _after_interrogative([word.lower() for word in words[at : at + 3]])
        at += start or 1
        if not start:
            continue
        phrases: list[list[str]] = [[]]
        while at < len(words) and (word := words[at].lower()) not in _ENDS and len(phrases[-1]) < _LONGEST:
            if word in _JOINS:
                phrases.append([])
            elif word not in _PASSED:
                phrases[-1].append(words[at])
            at += 1
        found += filter(None, phrases)
    return found


def _after_interrogative(words: Sequence[str]) -> int:
    """How many of the next words ask for what follows them; 0 if none."""
    if words[0] in _WHAT:
        return 2 if words[1:2] and words[1] in _IS else 1
    return 2 if words[0] == "how" and words[1:2] and words[1] in _MEASURES else 0


def _asks_for(question: str, known: Ontology, share: float = _SHARE) -> bool:
    """Whether details are what is asked for: so many of the words that tell are their names."""
    telling = [word for word in _WORD.findall(question) if word.lower() not in _VAGUE | _PASSED]
    return sum(size for _, size in _named(question, known)) >= share * len(telling)


def _name(words: list[str], size: int, known: Ontology) -> str:
    if len(words) < size or words[0].lower() in STOP or words[-1].lower() in STOP or (size == 1 and words[0].lower() in _VAGUE):
        return ""
    return known.name_of(" ".join(words)) or ""


def held_for(question: str, holders: Holders, known: Ontology) -> tuple[Held, ...]:
    """For each detail that the question asks for, the first holder of its best value; at most `MOST`."""
    found = []
    for name in named_details(question, known) if _asks_for(question, known) else ():
        if holders.of(name):
            values = consensus(holders, name, known).values
            found += [value.held[0] for value in values[:1] if value.held and value.held[0].fact.literal]
    return tuple(found[:MOST])
