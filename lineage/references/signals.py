"""What is observed of a reference, as the rank weighs it, and which part the target takes from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lineage.records import Reference, Work, WorkId
from lineage.sealed import Kept


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
class Ancestor(Kept):
    """A work that the target takes a part from: how surely (0..1), and the sentence or fact that says so."""

    part: Part
    work: WorkId
    score: float
    reason: str


@dataclass(frozen=True)
class TitledAncestor(Ancestor):
    """A work that the target takes a part from (model, checkpoint, training, loss, data, evaluation, sampling), with the sentence that says so."""

    title: str = ""

    @classmethod
    def titled(cls, row: Mapping[str, Any], works: Mapping[WorkId, Work]) -> TitledAncestor:
        """A row of the catalogue with the title of its work."""
        ancestor = Ancestor.from_meta(row)
        return cls(**vars(ancestor), title=works[ancestor.work].title if ancestor.work in works else "")


def by_part(ancestors: Sequence[Ancestor]) -> list[dict[str, Any]]:
    """Ancestors as rows of the catalogue, part by part."""
    return [ancestor.as_meta() for part in Part for ancestor in ancestors if ancestor.part is part]


def inherited(references: Sequence[Reference], ancestors: Sequence[Ancestor]) -> tuple[Reference, ...]:
    """References, those to ancestors first in the order of these."""
    first = list(dict.fromkeys(ancestor.work for ancestor in ancestors))
    return tuple(sorted(references, key=lambda edge: first.index(edge.cited) if edge.cited in first else len(first)))


@dataclass(frozen=True)
class RankSignal:
    """One observation about a reference: `value` in 0..1 and what to say of it."""

    name: str
    value: float
    words: str


def own_name(work: Work | None) -> str:
    """The name that a title gives its work before the colon, "" for none."""
    head, colon, _ = (work.title if work else "").partition(":")
    return head.strip() if colon and len(head.split()) <= 2 else ""
