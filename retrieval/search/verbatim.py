"""How much of a question stands in a passage in the question's own order: who quotes a sentence or a setting wants its place (pure).

Words are compared in pairs of neighbors, without those that carry no subject; a word or two may be missing between them, so that
a sentence is known again of which the asker left some words out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from lineage.text.tokens import STOP, tokens

FEWEST = 4
"""Words from which on a question may be a quotation; with a number among them it may be one of fewer."""
_REACH, _LEAST = 4, 0.6
_WEIGHT = 0.5
"""What a word counts that the index does not know the rarity of."""
_OUTRIGHT = frozenset(
    [
        "how",
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "when",
        "where",
        "why",
        "does",
        "do",
        "did",
        "is",
        "are",
        "was",
        "were",
        "can",
        "could",
        "should",
        "has",
        "have",
    ]
)


def sequence(text: str) -> tuple[str, ...]:
    """The words of a text in order, without those that carry no subject."""
    return tuple(token for token in tokens(text) if token not in STOP)


def is_quotation(question: str) -> bool:
    """Whether a question may be words of the lineage: not asked outright, and long enough or with a number."""
    words = question.split()
    if not words or question.rstrip().endswith("?") or words[0].lower().strip("\"'`") in _OUTRIGHT:
        return False
    return len(words) >= FEWEST or (len(words) > 1 and any(character.isdigit() for character in question))


def is_telling(words: Sequence[str]) -> bool:
    """Whether some words in order tell a passage although others lie between them: enough of them, or a number."""
    return len(words) > FEWEST or (len(words) > 1 and any(character.isdigit() for word in words for character in word))


def share_in_order(words: Sequence[str], passage: Sequence[str], worth: Mapping[str, float]) -> float:
    """How far beyond 60% is the share of the pairs of neighboring words that a passage has in the same order, by their rarity; 0 to 1."""
    places: dict[str, list[int]] = defaultdict(list)
    wanted = frozenset(words)
    for at, word in enumerate(passage):
        if word in wanted:
            places[word].append(at)
    total = have = 0.0
    for one, other in pairwise(words):
        weight = worth.get(one, _WEIGHT) + worth.get(other, _WEIGHT)
        total += weight
        have += weight if any(0 < then - now <= _REACH for now in places.get(one, ()) for then in places.get(other, ())) else 0.0
    share = have / total if total else 0.0
    return max(0.0, share - _LEAST) / (1.0 - _LEAST)
