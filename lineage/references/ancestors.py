"""From which works the target takes its model, checkpoint, training, loss, data, evaluation and sampling. Pure.

For each part the works that the text says it is taken from (`lineage.references.inheritance`), helped by code that is shared with them or loads
their checkpoints, weighed with their rank among all references. What nobody says anything of has no ancestor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lineage.records import Mention, Reference, Role, Work, WorkId
from lineage.references.inheritance import Takeover, by_part, takeovers
from lineage.references.ranking import own_name
from lineage.references.signals import Ancestor, Part, Signal

VERSION = "ancestors@6"
MOST = 3
"""Ancestors named for one part."""
LEAST = 0.1
_SENTENCE = 300
_CODE = {
    "reuse": ((Part.MODEL, 0.5), (Part.TRAINING, 0.5), (Part.DATA, 0.2), (Part.EVALUATION, 0.2)),
    "checkpoint": ((Part.CHECKPOINT, 0.7), (Part.MODEL, 0.3)),
}
_ROLES = {Role.DATA: Part.DATA, Role.METRIC: Part.EVALUATION}
_BY_ROLE = 0.5


def ancestors(
    references: Sequence[Reference], named: Mapping[WorkId, Sequence[Mention]], more: Mapping[WorkId, Sequence[Signal]], target: Work
) -> tuple[Ancestor, ...]:
    """The ancestors of each part of the target, best first, the parts in the order of `Part`; references come with their scores."""
    own = own_name(target)
    candidate_ancestors = [
        ancestor for r in references for ancestor in _of(r, list(takeovers([*r.mentions, *named.get(r.cited, ())], own)), more.get(r.cited, ()))
    ]
    supported_ancestors = (
        ancestor
        for part in Part
        for ancestor in sorted((ancestor for ancestor in candidate_ancestors if ancestor.part is part), key=lambda ancestor: -ancestor.score)[:MOST]
    )
    return tuple(ancestor for ancestor in supported_ancestors if ancestor.score >= LEAST)


def _of(reference: Reference, takeover_statements: Sequence[Takeover], signals: Sequence[Signal]) -> Iterator[Ancestor]:
    """What one work gives, by part."""
    by_text, by_code = by_part(takeover_statements), dict(_by_code(signals))
    by_role = {_ROLES[verdict.role]: verdict for verdict in reversed(reference.roles) if verdict.role in _ROLES}
    for part in Part:
        code, words = by_code.get(part, (0.0, ""))
        role = by_role.get(part)
        text = max(by_text.get(part, 0.0), _BY_ROLE * role.score if role else 0.0)
        value = 1 - (1 - text) * (1 - code)
        if value:
            reason = _sentence(part, takeover_statements) or words or (role.sentence if role else "")
            yield Ancestor(part, reference.cited, round(value * (0.4 + 0.6 * reference.score), 4), reason[:_SENTENCE])


def _by_code(signals: Sequence[Signal]) -> Iterator[tuple[Part, tuple[float, str]]]:
    for signal in signals:
        for part, weight in _CODE.get(signal.name, ()):
            yield part, (weight * signal.value, signal.words)


def _sentence(part: Part, takeover_statements: Sequence[Takeover]) -> str:
    """The sentence that says most clearly that a part is taken over."""
    clear = [(takeover.weight * dict(takeover.parts).get(part, 0.0), takeover) for takeover in takeover_statements]
    best = max(clear, key=lambda pair: pair[0], default=None)
    return " ".join(best[1].mention.sentence.replace(" ⟦T⟧", "").split()) if best and best[0] > 0.1 else ""
