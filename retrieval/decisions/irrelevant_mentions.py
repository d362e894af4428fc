"""Sentences that name a detail and do not state it: under which conditions speed was measured, and examples. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lineage.results import FactOccurrence
from retrieval.decisions.provenance import sentences_of

_CONDITIONS = frozenset({"batch_size", "gpus", "gpu_type", "precision", "image_size"})
"""Facts that speed is measured under too, with values of no training."""
_SPEED = re.compile(
    r"\b(?:throughput|latency|fps|[gt]?flops|macs|(?:frames|images|tokens|samples) per second|time (?:required|taken|needed)|inference time|speed)\b",
    re.IGNORECASE,
)
_TRAINED = re.compile(r"\b(?:trained|fine-?tuned|epochs?|we (?:pre-?)?train)\b", re.IGNORECASE)
_EXAMPLES = re.compile(r"\b(?:such as|e\.g\.,?|for example,?)\s[^.;()]{1,60}?\sor\s[^\s.;]{1,30}", re.IGNORECASE)
TRIED = re.compile(
    r"\b(?:search(?:ed|ing)?|sweeps?|swept|grid|experiment(?:ed)? with|tr(?:y|ied)|var(?:y|ied|ying)|explor(?:e|ed)|candidates?"
    r"|ranging|range(?:s|d)? from|chosen from|selected from|ablat\w{1,5}|sensitiv\w{1,6})\b",
    re.IGNORECASE,
)
"""Words of a sentence that tells what was tried, not what was taken."""


def beside(text: str, names: Iterable[str], value: str = "") -> bool:
    """Whether a sentence that names a detail, or a fact, says nothing of it; `value` is what it would state."""
    return _of_speed(text, names) or (bool(value) and any(value.lower() in match[0].lower() for match in _EXAMPLES.finditer(text)))


def is_beside(occurrence: FactOccurrence) -> bool:
    """The same for the sentence that a fact was read from, and what stands around it."""
    sentences, here = sentences_of(occurrence)
    text = sentences[here] if here >= 0 else occurrence.fact.said
    return occurrence.fact.kind == "prose" and (measured(occurrence) or beside(text, (occurrence.fact.name,), occurrence.fact.value))


def measured(occurrence: FactOccurrence) -> bool:
    """Whether a sentence tells the conditions under which speed was measured: it or one beside it speaks of speed, none of training."""
    sentences, here = sentences_of(occurrence)
    return occurrence.fact.kind == "prose" and here >= 0 and _of_speed(" ".join(sentences[max(0, here - 1) : here + 2]), (occurrence.fact.name,))


def _of_speed(text: str, names: Iterable[str]) -> bool:
    return not _CONDITIONS.isdisjoint(names) and _SPEED.search(text) is not None and _TRAINED.search(text) is None
