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
_VAGUE = frozenset(("model", "models", "data", "dataset", "datasets", "method", "task", "loss", "training", "train", "name", "type", "used", "size"))


def named_details(question: str, known: Ontology) -> tuple[str, ...]:
    """Names of details in the order of the question; the longest phrase that is a name counts, its parts do not."""
    words = [word.rstrip(".-") for word in _WORD.findall(question)][:200]
    found: list[str] = []
    at = 0
    while at < len(words):
        size, name = next(((size, name) for size in range(_LONGEST, 0, -1) if (name := _name(words[at : at + size], size, known))), (1, ""))
        found += [name] if name else []
        at += size
    return tuple(dict.fromkeys(found))


def _name(words: list[str], size: int, known: Ontology) -> str:
    if len(words) < size or words[0].lower() in STOP or words[-1].lower() in STOP or (size == 1 and words[0].lower() in _VAGUE):
        return ""
    return known.name_of(" ".join(words)) or ""


def held_for(question: str, holders: Holders, known: Ontology) -> tuple[Held, ...]:
    """For each detail that the question names, the first holder of its best value; at most `MOST`."""
    found = []
    for name in named_details(question, known):
        if holders.of(name):
            values = consensus(holders, name, known).values
            found += [value.held[0] for value in values[:1] if value.held and value.held[0].fact.literal]
    return tuple(found[:MOST])
