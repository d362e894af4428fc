"""Whose value comes first: one order of sources for gaps, consensus and packs. Pure.

A source is asked by what the target takes from it: the ancestor of the detail's part (of the loss for a loss, of the training for a
learning rate) before other ancestors, these before what is only cited, by role and rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lineage.records import Hit, Role, WorkId
from lineage.references.signals import Ancestor, Part

ROLES = {Role.BASE: 1.0, Role.SETUP: 0.9, Role.METHOD: 0.7, Role.BASELINE: 0.4, Role.DATA: 0.3, Role.METRIC: 0.2, Role.BACKGROUND: 0.15}
"""How much a role of a reference speaks for taking over its settings."""
_UNSAID, _CITED = 0.1, 0.2
"""What a reference without a role counts, and the least of one without a rank."""
_ANOTHER = 0.4
"""What being the ancestor of another part counts for this one."""
_ELSEWHERE, _APART = 0.5, 0.25
"""What the role of a work counts for a part that is not taken from it while others are: such as go with it, and such as do not."""
_PROGRAM = frozenset(Part) - {Part.EVALUATION}
"""Parts of one program: who takes one from a work may take another; by what it is evaluated says nothing of them."""
_BAND = 0.25
"""Ancestry that differs by less is the same."""
_TRAINING = ("optimizer", "schedule", "regularization", "batch", "precision", "training length", "augmentation", "reproducibility", "seeds")
_PARTS: Mapping[str, tuple[Part, ...]] = {
    **dict.fromkeys(("architecture", "model", "language model", "retrieval"), (Part.MODEL,)),
    **dict.fromkeys(("diffusion", "sampling", "decoding"), (Part.SAMPLING, Part.MODEL)),
    **dict.fromkeys(_TRAINING, (Part.TRAINING,)),
    "initialization": (Part.CHECKPOINT, Part.MODEL),
    "loss": (Part.LOSS, Part.MODEL),
    "data": (Part.DATA,),
    "preprocessing": (Part.DATA,),
    "evaluation": (Part.EVALUATION,),
}


@dataclass(frozen=True)
class Precedence:
    """The ancestors of a generation by work: how surely each part is taken from it (0..1)."""

    ancestors: Mapping[WorkId, Mapping[Part, float]] = field(default_factory=dict)

    @classmethod
    def of_meta(cls, meta: Mapping[str, Any]) -> Precedence:
        """As the catalogue's meta has them; empty for a generation that was built before there were any."""
        return cls.of(map(Ancestor.from_meta, meta.get("ancestors", ())))

    @classmethod
    def of(cls, ancestors: Iterable[Ancestor]) -> Precedence:
        """From the list of ancestors by part."""
        parts_by_work: dict[WorkId, dict[Part, float]] = defaultdict(dict)
        for ancestor in ancestors:
            parts_by_work[ancestor.work][ancestor.part] = ancestor.score
        return cls({work: dict(parts) for work, parts in parts_by_work.items()})

    def inherited(self, hit: Hit, topic: str) -> float:
        """0..1: how surely the target takes the part that a detail's topic belongs to from the work that a piece of evidence is of."""
        direct, any_part = self._taken(works_of(hit), topic)
        return max(direct, _ANOTHER * any_part)

    def _taken(self, works: AbstractSet[WorkId], topic: str) -> tuple[float, float]:
        """How surely the part of a topic, and how surely any part that goes with it, is taken from works."""
        wanted, beside = _parts(topic)
        scores = [(part, score) for work in works & self.ancestors.keys() for part, score in self.ancestors[work].items() if part in beside]
        return max((score for part, score in scores if part in wanted), default=0.0), max((score for _, score in scores), default=0.0)

    def band(self, hit: Hit, topic: str) -> int:
        """The same in few steps, for an order in which other things decide between equals."""
        return round(self.inherited(hit, topic) / _BAND)

    def weight(self, hit: Hit, topic: str) -> float:
        """0..2: how much a source that is not the target's own speaks for its value: role and rank by distance, and what is inherited.

        A role is that of a whole work: a method that the evaluation is taken from says little of training.
        """
        cited = role(hit) * (_CITED + (1 - _CITED) * hit.reference.score) / hit.reference.distance if hit.reference else 0.0
        if (works := works_of(hit)).isdisjoint(self.ancestors):
            return cited
        direct, any_part = self._taken(works, topic)
        if not direct:
            cited *= _ELSEWHERE if any_part else _APART
        return cited + max(direct, _ANOTHER * any_part)


@lru_cache(maxsize=64)
def _parts(topic: str) -> tuple[frozenset[Part], frozenset[Part]]:
    """The parts that a topic belongs to, and these with those that go with them."""
    wanted = frozenset(_PARTS.get(topic, Part))
    return wanted, wanted if _PROGRAM.isdisjoint(wanted) else wanted | _PROGRAM


def part_of(topic: str) -> str:
    """The part of the target that details of a topic belong to; empty for those of none."""
    return _PARTS[topic][0].value if topic in _PARTS else ""


def role(hit: Hit) -> float:
    """How much the roles of a piece of evidence's work speak for taking over its settings."""
    return max((ROLES[verdict.role] for verdict in hit.reference.roles), default=_UNSAID) if hit.reference else 0.0


def role_name(hit: Hit) -> str:
    """The role that `role` is made from, or the empty string."""
    roles = hit.reference.roles if hit.reference else ()
    return max(roles, key=lambda verdict: ROLES[verdict.role]).role.value if roles else ""


def works_of(hit: Hit) -> frozenset[WorkId]:
    """The works as which the holder of a value may be cited."""
    return frozenset({hit.work.id, *({hit.paper.id} if hit.paper else ()), *({hit.reference.cited} if hit.reference else ())})
