"""Sentences that name a detail and do not state it: under which conditions speed was measured, and examples. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lineage.cues import sentences
from lineage.insight import Held
from retrieval.experiments import measured

_CONDITIONS = frozenset({"batch_size", "gpus", "gpu_type", "precision"})
"""Facts that speed is measured under too, with values of no training."""
_SPEED = re.compile(r"\b(?:throughput|latency|[gt]?flops|macs|(?:images|tokens|samples) per second|time (?:required|taken|needed)|speed)\b", re.I)
_TRAINED = re.compile(r"\b(?:trained|fine-?tuned|epochs?|we (?:pre-?)?train)\b", re.I)
_EXAMPLES = re.compile(r"\b(?:such as|e\.g\.,?|for example,?)\s[^.;()]{1,60}?\sor\s[^\s.;]{1,30}", re.I)


def beside(text: str, names: Iterable[str], value: str = "") -> bool:
    """Whether a sentence that names a detail, or a fact, says nothing of it; `value` is what it would state."""
    if not _CONDITIONS.isdisjoint(names) and _SPEED.search(text) and not _TRAINED.search(text):
        return True
    return bool(value) and any(value.lower() in found[0].lower() for found in _EXAMPLES.finditer(text))


def is_beside(one: Held) -> bool:
    """The same for the sentence that a fact was read from."""
    if one.fact.kind != "prose":
        return False
    at = one.fact.line - one.evidence.chunk.start_line
    line = one.evidence.chunk.text.split("\n")[at : at + 1]
    said = next((text for part in line for text in sentences(part) if one.fact.said in text), one.fact.said)
    return measured(one) or beside(said, (one.fact.name,), one.fact.value)
