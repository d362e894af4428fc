"""What is observed of a reference, as the rank weighs it, and which part the target takes from it. Pure.

One such signal is made here: whether other sources of the target cite the work too.

Bibliographic coupling within one lineage (Kessler 1963): a work that several of the target's sources rest on as well is
common ground of the field they share. It needs no service, only the bibliographies of the papers that were fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from lineage.records import WorkId


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
