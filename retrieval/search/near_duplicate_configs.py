"""Files of one work that set the same names: a configuration a data set, fifty times over (pure).

All of them share their words with a question for any of the names, and fill a list with one answer. Which of them is meant
the question does not say; two show what there is, and others have their place.
"""

from __future__ import annotations

import re
from collections import defaultdict

from lineage.records import Chunk

MOST = 2
_NAME = re.compile(r"^[ \t]*(?:[-+][ \t]+)?[\"']?([A-Za-z_][\w.-]{0,80})[\"']?[ \t]*(?::(?!:)|=(?!=))", re.MULTILINE)
_FEWEST, _SHARE, _ALIKE = 4, 0.5, 0.7


def names_set(text: str) -> frozenset[str]:
    """The names that a text sets, where most of its lines set one; else none."""
    names = _NAME.findall(text)
    lines = sum(1 for line in text.split("\n") if line.strip())
    return frozenset(names) if len(names) >= max(_FEWEST, _SHARE * lines) else frozenset()


class Families:
    """Counts what was shown of each family as a list is made."""

    def __init__(self) -> None:
        self._shown: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)

    def admits(self, chunk: Chunk) -> bool:
        """Whether fewer than `MOST` other files of its work were admitted that set the same names, for the most part."""
        names = names_set(chunk.text)
        shown = self._shown[chunk.work]
        alike = {path for path, others in shown if path != chunk.path and names and len(names & others) >= _ALIKE * len(names | others)}
        admitted = len(alike) < MOST
        if names and admitted:
            shown.append((chunk.path, names))
        return admitted
