"""Facts, gaps, conflicts, packs, written answers and audits as every door gives them. Evidence is a hit with the lines that answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import dedent
from typing import Literal

from api.wire.encode import shown, visible_in
from api.wire.hits import TRUST, HitView, LineageRelation, Source, Trust, focus_view, hit_view
from api.wire.html import Rendered
from lineage.citation import pinpoint
from lineage.decisions import Decision, Decisions
from lineage.records import UNKNOWN, ChunkKind, Fact, Focus, Provenance, Work
from lineage.results import (
    Audit,
    Consensus,
    Detail,
    FactOccurrence,
    Gap,
    Gaps,
    Grade,
    Pack,
    PackItem,
    Specification,
    Stage,
    Strength,
    Suggestion,
    Verdict,
    WrittenAnswer,
)
from lineage.text.hidden_text import visible

Texts = tuple[str, ...]
_VERDICTS: tuple[Verdict, ...] = ("match", "deviation", "missing", "cannot judge")


@dataclass(frozen=True)
class FactOccurrenceView:
    """A fact with the citation of its line and the lines that state it; `overridden` are the facts of the same source that it overrides."""

    fact: Fact
    citation: str
    since: str
    overridden: tuple[Fact, ...]
    evidence: HitView


@dataclass(frozen=True)
class ValueView:
    """One value of a detail and its sources."""

    value: str
    unit: str
    inherited: bool
    held: tuple[FactOccurrenceView, ...]


@dataclass(frozen=True)
class ConsensusView:
    """The values of one detail in a lineage, the one that the target inherits first."""

    lineage: str
    generation: str
    name: str
    title: str
    values: tuple[ValueView, ...]
    why: Texts
    notes: Texts
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class SuggestionView:
    """A value that the lineage suggests for a gap (or passages only), with its grade, the reason and the chain of works that leads to it."""

    value: str
    unit: str
    grade: Grade
    reason: str
    held: tuple[FactOccurrenceView, ...]
    evidence: tuple[HitView, ...]
    chain: Texts


@dataclass(frozen=True)
class GapView:
    """One needed detail: how far the target states it, where, and the lineage's suggestions."""

    detail: Detail
    state: Specification
    why: str
    stated: tuple[HitView, ...]
    facts: tuple[FactOccurrenceView, ...]
    suggestions: tuple[SuggestionView, ...]
    decision: Decision | None = None


@dataclass(frozen=True)
class ConflictView:
    """Sources that disagree, with their evidence; `severity` from 0 to 1."""

    name: str
    title: str
    kind: Literal["paper-code", "paper-followed", "table-text", "within"]
    severity: float
    why: str
    rule: str
    sides: tuple[FactOccurrenceView, ...]


@dataclass(frozen=True)
class GapsView(Rendered):
    """The details that the target does not state, and the lineage's suggestions."""

    lineage: str
    generation: str
    target: Work
    domains: Texts
    conflicts: tuple[ConflictView, ...]
    gaps: tuple[GapView, ...]
    notes: Texts
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class EvidencePlace:
    """A hit without its text and scores: where it stands and whose it is."""

    chunk: str
    kind: ChunkKind
    citation: str
    source: Source
    focus: Focus
    lineage: LineageRelation
    license: str | None
    from_target: bool
    trust: Trust
    flags: Texts


@dataclass(frozen=True)
class PackItemView:
    """One unit of a pack with its evidence; its text stands in the pack's at the characters `span`, `tokens` are its own."""

    kind: Literal["decided", "stated", "lineage", "conflict", "unspecified", "config", "imitate"]
    title: str
    tokens: int
    span: tuple[int, int]
    evidence: tuple[EvidencePlace, ...]


@dataclass(frozen=True)
class PackView:
    """Context for a coding task: `text` is Markdown of `used` tokens, at most `allowed`."""

    lineage: str
    generation: str
    task: str
    stage: Stage | None
    allowed: int
    used: int
    tokenizer: str
    text: str
    items: tuple[PackItemView, ...]
    left_out: Texts
    notes: Texts
    trust: Trust
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class SentenceView:
    """One sentence of an answer, with the hits that support it."""

    text: str
    markdown: str
    evidence: tuple[HitView, ...]


@dataclass(frozen=True)
class RemovedSentence:
    """An unsupported sentence that was removed, and why."""

    text: str
    why: str


@dataclass(frozen=True)
class WrittenAnswerView:
    """An answer in which every sentence cites evidence, by `extract` or a model. If nothing supports one, `nearest` lists close hits."""

    lineage: str
    generation: str
    question: str
    by: str
    supported: bool
    sentences: tuple[SentenceView, ...]
    removed: tuple[RemovedSentence, ...]
    nearest: tuple[HitView, ...]
    notes: Texts
    trust: Trust
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class AuditFindingView:
    """One expectation compared with the repository: what was expected, what is there, where, and who says so (`strength`)."""

    level: Literal["paper", "method", "experiment"]
    name: str
    title: str
    verdict: Verdict
    expected: str
    found: str
    where: str
    evidence: tuple[HitView, ...]
    severity: float
    why: str
    strength: Strength
    scope: str


@dataclass(frozen=True)
class AuditView:
    """A repository against a paper, worst finding first: `counts` by verdict, `score` the share of what can be judged that agrees."""

    path: str
    lineage: str
    generation: str
    score: float
    counts: dict[Verdict, int]
    findings: tuple[AuditFindingView, ...]
    notes: Texts
    provenance: Provenance = UNKNOWN


def occurrence_view(occurrence: FactOccurrence) -> FactOccurrenceView:
    """A fact with the citation of its line and the lines that state it."""
    evidence, overridden = occurrence.evidence, tuple(shown(fact, Fact) for fact in occurrence.overridden)
    of = {"fact": shown(occurrence.fact, Fact), "overridden": overridden}
    return shown(occurrence, FactOccurrenceView, **of, citation=pinpoint(evidence), evidence=focus_view(evidence))


def _occurrences(occurrences: Iterable[FactOccurrence]) -> tuple[FactOccurrenceView, ...]:
    return tuple(map(occurrence_view, occurrences))


def consensus_view(consensus: Consensus) -> ConsensusView:
    """The values of a detail, the inherited one first."""
    values = tuple(shown(value, ValueView, held=_occurrences(value.held)) for value in consensus.values)
    return shown(consensus, ConsensusView, values=values)


def gaps_view(gaps: Gaps) -> GapsView:
    """The whole report."""
    conflicts = tuple(shown(conflict, ConflictView, sides=_occurrences(conflict.sides)) for conflict in gaps.conflicts)
    return shown(gaps, GapsView, conflicts=conflicts, gaps=tuple(map(_gap, gaps.gaps)))


def _gap(gap: Gap) -> GapView:
    stated, suggestions = tuple(map(focus_view, gap.stated)), tuple(map(_suggestion, gap.suggestions))
    decision = decision_view(gap.decision) if gap.decision else None
    return shown(gap, GapView, stated=stated, facts=_occurrences(gap.facts), suggestions=suggestions, decision=decision)


def decision_view(decision: Decision) -> Decision:
    """A decision without characters that nobody sees."""
    return shown(decision, Decision)


def decisions_view(found: Decisions) -> Decisions:
    """The decisions of a lineage."""
    return shown(found, Decisions, decisions=tuple(map(decision_view, found.decisions)))


def _suggestion(suggestion: Suggestion) -> SuggestionView:
    evidence = () if suggestion.held else tuple(map(focus_view, suggestion.evidence))
    return shown(suggestion, SuggestionView, held=_occurrences(suggestion.held), evidence=evidence)


def pack_view(pack: Pack) -> PackView:
    """A context pack: `text` is what is sent, the items say what rests on what."""
    return shown(pack, PackView, text=pack.text, items=tuple(_item(item, pack.text) for item in pack.items), trust=TRUST)


def _item(item: PackItem, text: str) -> PackItemView:
    start = text.find(item.text)
    places = tuple(shown(hit_view(hit), EvidencePlace) for hit in item.evidence)
    return shown(item, PackItemView, span=(start, start + len(item.text)), evidence=places)


def written_view(answer: WrittenAnswer) -> WrittenAnswerView:
    """An answer sentence by sentence, each with the hits that it rests on; what was removed, and the nearest misses."""
    texts = [(visible(sentence.text)[0], tuple(map(hit_view, sentence.evidence))) for sentence in answer.sentences]
    return shown(
        answer,
        WrittenAnswerView,
        supported=bool(answer.sentences),
        sentences=tuple(SentenceView(text, as_markdown(text), evidence) for text, evidence in texts),
        removed=tuple(RemovedSentence(*visible_in(pair)) for pair in answer.removed),
        nearest=tuple(map(hit_view, answer.nearest)),
        trust=TRUST,
    )


def as_markdown(text: str) -> str:
    """A sentence as Markdown: lines of code, which stand indented under their name, in a fence that none of them closes."""
    name, parted, code = text.partition(":\n    ")
    if not parted or not name.startswith("`"):
        return text
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{name}:\n\n{fence}\n{dedent(f'    {code}')}\n{fence}"


def audit_view(audit: Audit) -> AuditView:
    """The audit, worst finding first."""
    counts = {verdict: sum(finding.verdict == verdict for finding in audit.findings) for verdict in _VERDICTS}
    findings = tuple(shown(finding, AuditFindingView, evidence=tuple(map(hit_view, finding.evidence))) for finding in audit.findings)
    return shown(audit, AuditView, counts=counts, findings=findings)
