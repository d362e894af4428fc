"""Contradictions of what the paper tells rather than sets: techniques without a trace in its code, and two places of its own text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lineage.records import Chunk, Fact, FactKind, Hit
from lineage.results import Conflict, FactOccurrence
from retrieval.contradictions.techniques import Missing, missing
from retrieval.contradictions.within import miscounted, stated_twice
from retrieval.decisions.target_text import TargetSentence, TargetText, hit

_SAID = 160
_SURE, _LIKELY, _POSSIBLE = 0.85, 0.7, 0.5


@dataclass(frozen=True)
class Reading:
    """What was read of the target: its text, the passages of its own code, and a passage with one of its lines as evidence."""

    text: TargetText
    code: Sequence[Chunk]
    evidence: Callable[[Chunk, int], Hit]

    def conflicts(
        self, paper: Mapping[str, Sequence[FactOccurrence]], title: Callable[[str], str], same: Callable[[str, str, str], bool]
    ) -> Iterator[Conflict]:
        """Everything that the text claims and the code has no sign of, and what the text says twice in two ways."""
        for one in missing(self.text.sentences, self.code):
            yield self._missing(one)
        for left, right in stated_twice(paper, same):
            why = "likely: two sections of one title state it differently"
            yield Conflict(left.fact.name, title(left.fact.name), "within", (left, right), _LIKELY, why, "stated-twice")
        for sentence, counted, listed, what in miscounted(self.text.sentences):
            sides = (self._said(sentence, what, str(counted)), self._said(sentence, what, f"{listed} listed"))
            why = "sure: the sentence lists more or fewer than it counts"
            yield Conflict(f"number of {what}", f"Number of {what}", "within", sides, _SURE, why, "miscounted")

    def _missing(self, one: Missing) -> Conflict:
        place = self.evidence(one.chunk, one.line)
        kind: FactKind = "config" if one.chunk.kind == "config" else "call"
        line = next(iter(one.chunk.text.split("\n")[one.line - one.chunk.start_line :]), "").strip()
        value = one.instead or f"no {one.technique.name}"
        other = FactOccurrence(Fact(one.kind.name, value, "", one.chunk.work, one.chunk.id, kind, one.line, one.kind.name, line[:_SAID]), place)
        why = f"likely: its own code has {one.instead} there" if one.instead else "possible: no file of its own code has a sign of it"
        severity = _LIKELY if one.instead else _POSSIBLE
        sides = (self._said(one.said, one.kind.name, one.technique.name), other)
        return Conflict(one.kind.name, one.kind.name.capitalize(), "paper-code", sides, severity, why, "technique")

    def _said(self, sentence: TargetSentence, name: str, value: str) -> FactOccurrence:
        fact = Fact(name, value, "", self.text.work.id, sentence.chunk.id, "prose", sentence.line, name, " ".join(sentence.text.split())[:_SAID])
        return FactOccurrence(fact, hit(sentence, self.text.work))
