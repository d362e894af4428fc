"""The few lines inside a hit that answer (pure).

A window of consecutive lines is worth the rarity of the question's words in it, each word once, less a price
per line; the best of all windows of 1 to 15 lines wins. Comments and docstrings count like code: they are
often the only place where prose and code use one vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lineage.model import Focus
from lineage.tokens import terms, tokens

MOST = 15
PRICE = 0.12


def rarity(frequency: Mapping[str, int], documents: int) -> dict[str, float]:
    """Inverse document frequency of each term (Robertson and Spärck Jones, never negative)."""
    return {term: math.log(1 + (documents - count + 0.5) / (count + 0.5)) for term, count in frequency.items()}


def focus(question: str, text: str, first_line: int, worth: Mapping[str, float]) -> Focus | None:
    """The lines of `text` (whose first is `first_line`) that answer best; None if no word of the question is in it.

    `worth` is the rarity of the question's terms; a term that is missing counts nothing.
    """
    wanted = {term: worth[term] for term in terms(question) if worth.get(term, 0.0) > 0}
    lines = [frozenset(token for token in tokens(line) if token in wanted) for line in text.split("\n")]
    if not wanted or not any(lines):
        return None
    start, end = _best_window(lines, wanted, PRICE * max(wanted.values()))
    return Focus(first_line + start, first_line + end)


def _best_window(lines: Sequence[frozenset[str]], wanted: Mapping[str, float], price: float) -> tuple[int, int]:
    best, place = -math.inf, (0, 0)
    for start, line in enumerate(lines):
        if not line:
            continue
        seen: set[str] = set()
        gain = 0.0
        for end in range(start, min(len(lines), start + MOST)):
            gain += sum(wanted[token] for token in lines[end] - seen)
            seen |= lines[end]
            if lines[end] and gain - price * (end - start) > best:
                best, place = gain - price * (end - start), (start, end)
    return place
