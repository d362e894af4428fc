"""Which readings of the target's own text do not hold: facts out of half a word, and numbers that are the value of something else. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lineage.hyperparameters.checklist import ChecklistItem
from lineage.hyperparameters.values import number
from lineage.records import WorkId
from lineage.results import FactOccurrence, Specification
from lineage.text.phrases import phrase, words
from retrieval.gaps.stated import DetailVerdict, Shown, cut_off

_AROUND = 40
"""Characters before the words of a fact that may make them part of a longer word."""


def misread(occurrence: FactOccurrence) -> bool:
    """Whether a fact was read out of part of a hyphenated word: "linear" of "log-linear", "depth of 8" of "alignment-depth of 8"."""
    whole, quote = occurrence.evidence.chunk.text, occurrence.fact.said
    at = whole.find(quote)
    if at < 0 or occurrence.fact.kind == "table":
        return False
    if whole[at - 1 : at].isalnum() and quote[:1].isalnum():
        return False  # what was read begins within a word: its beginning is context and not the value
    start = max(0, at - _AROUND)
    text = whole[start : at + len(quote)]
    read = words(text)
    first = next((n for n, word in enumerate(read) if word.end > at - start), len(read))
    valued = next((word.text for word in words(occurrence.fact.value) if any(word.text == other.text for other in read[first:])), "")
    places = [first, *(n for n, word in enumerate(read) if n > first and word.text == valued)]
    cut = [cut_off(text, read, n) for n in places if n < len(read)]
    return bool(cut) and (cut[0] or (len(cut) > 1 and all(cut[1:])))


def unclaimed(verdict: DetailVerdict, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId) -> DetailVerdict:
    """The verdict without numbers that were read, in the same sentence, as the value of something else: "400K steps" are no sampling steps."""
    if verdict.state is not Specification.SPECIFIED or not verdict.need.number or not any(number(shown.value) is not None for shown in verdict.shown):
        return verdict
    others = (
        occurrence
        for name, some in occurrences_by_key.items()
        if name not in verdict.need.detail.facts
        for occurrence in some
        if occurrence.fact.work == target
    )
    facts = [(occurrence.fact.chunk, occurrence.fact.said.strip(), number(occurrence.fact.value)) for occurrence in others]
    kept = tuple(
        replace(shown, value="") if not _surely(verdict.need, shown.said.text) and _claimed(shown, facts) else shown for shown in verdict.shown
    )
    state = verdict.state if any(shown.value for shown in kept) else Specification.PARTIALLY_SPECIFIED
    return replace(verdict, state=state, shown=tuple(sorted(kept, key=lambda shown: not shown.value)))


def _surely(need: ChecklistItem, sentence: str) -> bool:
    """Whether a sentence names a detail by more than one word, or its topic: "for sampling, 250 steps"."""
    text = " ".join(phrase(sentence))
    return need.detail.topic in text or any(" ".join(mention) in text for mention in need.mentions if len(mention) > 1)


def _claimed(shown: Shown, facts: Sequence[tuple[str, str, float | int | None]]) -> bool:
    value = number(shown.value)
    here = ((written, read) for chunk, written, read in facts if chunk == shown.said.chunk.id)
    return value is not None and any(
        read is not None and abs(read - value) <= 1e-9 * abs(value) and written in shown.said.text for written, read in here
    )
