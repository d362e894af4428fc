"""Which units to send (pure): the most that a budget buys of what was asked, without saying a thing twice.

A set of units is worth, for each subquestion, the chance that one of them answers it (noisy or of their relevances,
times the subquestion's worth), and for each telling word the best relevance with which one of them says it, times its
rarity: a facility location over words. Both grow with diminishing returns (monotone submodular), so that greedy choice
by gain a token, or the best single unit, is within a constant of the best choice under a knapsack (Leskovec et al.,
KDD 2007; Lin and Bilmes, ACL 2011); gains only fall, so that few are computed again (lazy greedy).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.context.units import Kind, PackUnit

SAYS = 0.02
"""What a new word of rarity one is worth beside the subquestions, which together are worth one."""


@dataclass
class UnitValue:
    """What a growing set of units is worth; `worth` is that of each subquestion, `rare` that of words."""

    worth: Sequence[float]
    rare: Mapping[str, float]
    _open: dict[int, float] = field(default_factory=dict)
    _said: dict[str, float] = field(default_factory=dict)

    def gain(self, unit: PackUnit) -> float:
        """What a unit would add."""
        asked = sum(self.worth[number] * self._open.get(number, 1.0) * relevance for number, relevance in unit.relevance.items())
        best = self._best(unit)
        words = sum(self.rare[word] * max(0.0, best - self._said.get(word, 0.0)) for word in self._telling(unit))
        return asked / (sum(self.worth) or 1.0) + SAYS * words

    def add(self, unit: PackUnit) -> None:
        """Put a unit into the set."""
        for number, relevance in unit.relevance.items():
            self._open[number] = self._open.get(number, 1.0) * (1.0 - min(relevance, 1.0))
        best = self._best(unit)
        self._said.update((word, max(best, self._said.get(word, 0.0))) for word in unit.said)

    def _telling(self, unit: PackUnit) -> list[str]:
        """The rarest of the words of a unit that were not said as well before: so many, however long it is."""
        best = self._best(unit)
        fresh = (word for word in unit.said if word in self.rare and self._said.get(word, 0.0) < best)
        return heapq.nsmallest(TELLING, fresh, key=lambda word: (-self.rare[word], word))

    def _best(self, unit: PackUnit) -> float:
        """How relevant a unit is to anything that was asked, by what that is worth."""
        most = max(self.worth, default=1.0) or 1.0
        return max((self.worth[number] * relevance / most for number, relevance in unit.relevance.items()), default=0.0)


TELLING = 40
MOST = 0.3
"""The share of a budget that one unit may take while there is choice: one long function is not worth five short ones."""
THRIFT = 0.5
"""How far the cost of a unit counts: 0 takes by gain alone, 1 by gain a token, which favours scraps."""


def choose(units: Sequence[PackUnit], value: UnitValue, budget: int, caps: Mapping[Kind, int], favour: Mapping[Kind, float]) -> list[PackUnit]:
    """Units of at most `budget` tokens together and `caps` of each kind, in the order in which they were taken.

    The most for their cost come first; `favour` multiplies the gain of a kind. `value` grows by what is taken.
    """

    def worth(unit: PackUnit) -> float:
        return value.gain(unit) * favour.get(unit.kind, 1.0) / math.pow(unit.cost, THRIFT)

    left = dict(caps)
    waiting = [(-worth(unit), number) for number, unit in enumerate(units) if unit.cost <= budget]
    heapq.heapify(waiting)
    taken: list[PackUnit] = []
    while waiting:
        _, number = heapq.heappop(waiting)
        unit = units[number]
        if unit.cost > min(budget, left.get(unit.kind, budget)) or (gain := worth(unit)) <= 0.0:
            continue
        if waiting and gain < -waiting[0][0]:
            heapq.heappush(waiting, (-gain, number))
            continue
        value.add(unit)
        taken.append(unit)
        budget -= unit.cost
        if unit.kind in left:
            left[unit.kind] -= unit.cost
    return taken
