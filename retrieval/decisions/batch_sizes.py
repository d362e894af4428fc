"""What the batches of a program come to: a paper counts all samples of a step, code those of one device and one pass. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from lineage.hyperparameters.values import number
from lineage.results import FactOccurrence


def whole(batches: Sequence[FactOccurrence], devices: Iterable[FactOccurrence], passes: Iterable[FactOccurrence]) -> list[FactOccurrence]:
    """The batches times every number of devices, of accumulated passes, and of both, that anybody gives."""
    times = {a * b for a, b in product(_counts(devices), _counts(passes))} - {1}
    sizes = ((occurrence, number(occurrence.fact.value)) for occurrence in batches)
    return [
        replace(occurrence, fact=replace(occurrence.fact, value=str(size * factor))) for occurrence, size in sizes if size for factor in sorted(times)
    ]


def whole_of_run(batches: Sequence[FactOccurrence], devices: Iterable[FactOccurrence], passes: Iterable[FactOccurrence]) -> list[FactOccurrence]:
    """The same with the passes of a batch's own file, where it gives any: another run's accumulation is none of it."""
    devices, passes = list(devices), list(passes)
    found = []
    for batch in batches:
        path = batch.evidence.chunk.path
        beside = [occurrence for occurrence in passes if occurrence.evidence.chunk.path == path]
        found += whole([batch], devices, beside or passes)
    return found


def _counts(some: Iterable[FactOccurrence]) -> set[int]:
    """The whole numbers above 1 that are given, and 1."""
    found = (number(occurrence.fact.value) for occurrence in some)
    return {1, *(int(one) for one in found if one and one > 1 and one == int(one))}
