"""Whether what was found supports an answer at all: a note for questions that the lineage has nothing to say on.

A ranking always has a first place. The floor is the similarity under which the nearest chunk to a development set's own
questions hardly ever falls (2 of 878, neither of them answered within five), while that of questions from outside of the
field mostly does (21 of 24). Questions of other papers of the same field lie above it: similarity cannot tell those
apart, so the note is silent there. The scale is the model's own, so the floor is known by model only.
"""

from __future__ import annotations

from collections.abc import Iterable

FLOORS = {"granite-30m-int8": 0.6}


def support(embedder: str, similarities: Iterable[float]) -> tuple[str, ...]:
    """A note where nothing found comes near the question, () where something does or where the model's scale is not known."""
    floor, best = FLOORS.get(embedder.partition("@")[0]), max(similarities, default=None)
    if floor is None or best is None or best >= floor:
        return ()
    return (f"nothing in this lineage supports an answer well: these are the nearest misses (similarity {best:.2f}, floor {floor:.2f})",)
