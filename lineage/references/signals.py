"""What is observed of a reference, as the rank weighs it, and which part the target takes from it. Pure.

One such signal is made here: whether other sources of the target cite the work too.

Bibliographic coupling within one lineage (Kessler 1963): a work that several of the target's sources rest on as well is
common ground of the field they share. It needs no service, only the bibliographies of the papers that were fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lineage.records import WorkId
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
class Signal:
    """One observation about a reference: `value` in 0..1 and what to say of it."""

    name: str
    value: float
    words: str
