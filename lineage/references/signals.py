"""What is observed of a reference, as the rank weighs it, and which part the target takes from it. Pure.

One such signal is made here: whether other sources of the target cite the work too.

Bibliographic coupling within one lineage (Kessler 1963): a work that several of the target's sources rest on as well is
common ground of the field they share. It needs no service, only the bibliographies of the papers that were fetched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from lineage.ids import arxiv_id, doi_id, normal_title
from lineage.records import BibEntry, Reference, Work, WorkId

_TITLE = 16
"""Letters from which on a title names one work."""


class Part(StrEnum):
    """What of a work another can take over."""

    MODEL = "model"
    CHECKPOINT = "checkpoint"
    TRAINING = "training"
    LOSS = "loss"
    DATA = "data"
    EVALUATION = "evaluation"
    SAMPLING = "sampling"


@dataclass(frozen=True)
class Ancestor:
    """A work that the target takes a part from: how surely (0..1), and the sentence or fact that says so."""

    part: Part
    work: WorkId
    score: float
    reason: str

    def as_meta(self) -> dict[str, Any]:
        """In the form that a catalogue keeps."""
        return asdict(self)

    @classmethod
    def from_meta(cls, row: Mapping[str, Any]) -> Ancestor:
        """What `as_meta` gave."""
        return cls(Part(row["part"]), WorkId(row["work"]), float(row["score"]), str(row["reason"]))


@dataclass(frozen=True)
class Signal:
    """One observation about a reference: `value` in 0..1 and what to say of it."""

    name: str
    value: float
    words: str


def counted(n: int, thing: str) -> str:
    """`1 word`, `2 words`."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


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
