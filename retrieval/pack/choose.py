"""Which units to send (pure): the most that a budget buys of what was asked, without saying a thing twice.

A set of units is worth, for each subquestion, the chance that one of them answers it (noisy or of their relevances,
times the subquestion's worth), and for each telling word the best relevance with which one of them says it, times its
rarity: a facility location over words. Both grow with diminishing returns (monotone submodular), so that greedy choice
by gain a token, or the best single unit, is within a constant of the best choice under a knapsack (Leskovec et al.,
KDD 2007; Lin and Bilmes, ACL 2011); gains only fall, so that few are computed again (lazy greedy).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.pack.units import Unit

SAYS = 0.5
"""Weight of the words beside the subquestions, both scaled to one."""
_TELLING = 24
"""The rarest words of a unit that count for it."""


@dataclass
class Value:
    """What a growing set of units is worth; `worth` is that of each subquestion, `rare` that of words."""

    worth: Sequence[float]
    rare: Mapping[str, float]
    says: float = SAYS
    _open: dict[int, float] = field(default_factory=dict)
    _said: dict[str, float] = field(default_factory=dict)

    def gain(self, unit: Unit) -> float:
        """What a unit would add."""
        asked = sum(self.worth[number] * self._open.get(number, 1.0) * relevance for number, relevance in unit.relevance.items())
        best = max(unit.relevance.values(), default=0.0)
        words = sum(self.rare[word] * max(0.0, best - self._said.get(word, 0.0)) for word in self._telling(unit))
        return asked / (sum(self.worth) or 1.0) + self.says * words / self._scale

    def add(self, unit: Unit) -> None:
        """Put a unit into the set."""
        for number, relevance in unit.relevance.items():
            self._open[number] = self._open.get(number, 1.0) * (1.0 - min(relevance, 1.0))
        best = max(unit.relevance.values(), default=0.0)
        for word in self._telling(unit):
            self._said[word] = max(best, self._said.get(word, 0.0))

    def _telling(self, unit: Unit) -> list[str]:
        return sorted((word for word in unit.said if word in self.rare), key=lambda word: (-self.rare[word], word))[:_TELLING]

    @property
    def _scale(self) -> float:
        return 100.0 * max(self.rare.values(), default=1.0) or 1.0


def choose(units: Sequence[Unit], value: Value, budget: int) -> list[Unit]:
    """Units of at most `budget` tokens together, in the order in which they were taken (the most for a token first).

    `value` grows by what is taken.
    """
    waiting = [(-value.gain(unit) / max(unit.cost, 1), number) for number, unit in enumerate(units) if unit.cost <= budget]
    heapq.heapify(waiting)
    taken: list[Unit] = []
    left = budget
    while waiting:
        _, number = heapq.heappop(waiting)
        unit = units[number]
        if unit.cost > left:
            continue
        gain = value.gain(unit) / max(unit.cost, 1)
        if gain <= 0.0:
            continue
        if waiting and gain < -waiting[0][0]:
            heapq.heappush(waiting, (-gain, number))
            continue
        value.add(unit)
        taken.append(unit)
        left -= unit.cost
    return taken
