"""How many steps a paper's training takes where it counts in tokens: all of them by those of one batch. Pure.

"The batch size is set to 4M tokens and each model is trained on a total of 200B tokens" is 50,000 steps, whatever the own code
calls them. Powers of two hide in round numbers, so that only a count that is far from every setting says anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lineage.insight import Held
from lineage.values import number
from retrieval.experiments import settings_of, telling
from retrieval.places import line_at

NEAR = 1.3
"""Factor within which two counts of steps are one."""
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12}
_TOTAL = re.compile(
    r"\b(?:train(?:ed|ing|s)?|total(?:s|ing)?)\s(?:[\w-]{1,20}\s){0,6}?(?P<count>\d{1,4}(?:\.\d{1,3})?)\s?(?P<scale>[kmbt]|thousand|million|billion|trillion)\s"
    r"(?:[\w-]{1,20}\s)?tokens\b",
    re.IGNORECASE,
)


def pairs(batches: Sequence[Held], steps: Sequence[Held]) -> Iterator[tuple[Held, list[Held]]]:
    """(steps that the paper's tokens make, settings of the own code) where no setting is near; `batches` are what the paper says of a batch."""
    for one in batches:
        counted = _steps(one)
        code = _of_one(counted, settings_of(steps)) if counted else []
        if counted and code and not any(_near(counted, other) for other in steps):
            yield counted, code


def _steps(batch: Held) -> Held | None:
    """The steps of a training whose paragraph gives one length in tokens, beside a batch in tokens."""
    size = number(batch.fact.value)
    totals = {float(one["count"]) * _SCALES[one["scale"].lower()] for one in _TOTAL.finditer(_paragraph(batch))}
    if batch.fact.unit != "tokens" or not size or size <= 1 or len(totals) != 1:
        return None
    fact = replace(batch.fact, name="steps", value=str(round(totals.pop() / size)), unit="", written="tokens")
    return replace(batch, fact=fact)


def _paragraph(one: Held) -> str:
    return line_at(one.evidence.chunk, one.fact.line)


def _of_one(paper: Held, code: Sequence[Held]) -> list[Held]:
    """The settings whose files the paragraph names, all where it names none."""
    said = telling(_paragraph(paper))
    named = [one for one in code if telling(one.evidence.chunk.path) & said]
    return named or list(code)


def _near(one: Held, other: Held) -> bool:
    left, right = number(one.fact.value), number(other.fact.value)
    return right is None or not left or right <= 0 or 1 / NEAR < right / left < NEAR
