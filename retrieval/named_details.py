"""The details that a question names, with the value of each that the target's chain of inheritance points to."""

from __future__ import annotations

import re

from lineage.insight import Held
from lineage.ontology import Ontology
from lineage.tokens import STOP
from retrieval.consensus import consensus
from retrieval.holders import Holders

MOST = 3
_WORD = re.compile(r"[A-Za-z_][\w.-]{0,60}")
_LONGEST = 4
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


def _asks_for(question: str, known: Ontology) -> bool:
    """Whether details are what is asked for: most of the words that tell are their names."""
    telling = [word for word in _WORD.findall(question) if word.lower() not in STOP | _VAGUE]
    return sum(size for _, size in _named(question, known)) >= _SHARE * len(telling)


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
