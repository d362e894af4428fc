"""From which works the target takes its model, checkpoint, training, loss, data, evaluation and sampling. Pure.

For each part the works that the text says it is taken from (`lineage.references.inheritance`), helped by code that is shared with them or loads
their checkpoints, weighed with their rank among all references. What nobody says anything of has no ancestor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lineage.ids import arxiv_id, doi_id, normal_title
from lineage.records import BibEntry, Mention, Reference, Role, Work, WorkId
from lineage.references.inheritance import Takeover, by_part, takeovers
from lineage.references.ranking import own_name
from lineage.references.signals import Ancestor, Part, Signal, counted

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
_TITLE = 16
"""Letters from which on a title names one work."""


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


def cocitation_signals(
    references: Sequence[Reference], works: Mapping[WorkId, Work], lists: Mapping[WorkId, Sequence[BibEntry]]
) -> dict[WorkId, tuple[Signal, ...]]:
    """For each reference that others cite too the signal of that: by one .2, by three .4, by seven .6.

    `lists` are bibliographies by citing work, those of the target's references; a work never counts for itself.
    """
    named = {name: r.cited for r in references for name in _names(works.get(r.cited))}
    citing: dict[WorkId, set[WorkId]] = defaultdict(set)
    for other, entries in lists.items():
        for cited in {named[name] for entry in entries for name in _entry_names(entry) if name in named}:
            citing[cited] |= {other} - {cited}
    return {cited: (_signal(len(others), len(lists)),) for cited, others in citing.items() if others}


def _signal(count: int, of: int) -> Signal:
    return Signal("cocited", min(1.0, count.bit_length() / 5), f"cited by {count} of the {counted(of, 'fetched paper')} too")


def _names(work: Work | None) -> Iterator[str]:
    if work:
        yield from (work.id, *work.aliases)
        yield from _title(work.title)


def _entry_names(entry: BibEntry) -> Iterator[str]:
    if entry.arxiv and (id_and_version := arxiv_id(entry.arxiv)):
        yield id_and_version[0]
    if entry.doi and (doi := doi_id(entry.doi)):
        yield doi
    yield from _title(entry.title)


def _title(title: str) -> Iterator[str]:
    words = normal_title(title)
    if len(words) >= _TITLE:
        yield words
