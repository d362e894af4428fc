"""Facts, gaps, conflicts, packs, written answers and audits as every door gives them. Evidence is a hit with the lines that answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent
from typing import Annotated, Literal, get_args

from api.wire.encode import view
from api.wire.hits import TRUST, HitView, LineageRelation, Source, Trust, focus_view, hit_view
from api.wire.markup import Rendered
from lineage.citation import pinpoint
from lineage.decisions import Decision
from lineage.hyperparameters.values import worded
from lineage.records import UNKNOWN, ChunkKind, Fact, Focus, Hit, Provenance, Work
from lineage.results import (
    SETTING,
    Audit,
    Detail,
    FactOccurrence,
    Gap,
    Grade,
    Pack,
    Sentence,
    Specification,
    Stage,
    Strength,
    Suggestion,
    Verdict,
    WrittenAnswer,
)
from lineage.text.hidden_text import visible

Texts = tuple[str, ...]
FocusHit = Annotated[HitView, focus_view]
"""A hit whose text is the lines that say it."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
KINDS = {"paper-code": "paper vs. its code"}
STATES = {
    Specification.UNSPECIFIED: "not stated",
    Specification.PARTIALLY_SPECIFIED: "partly stated",
    Specification.SPECIFIED: "stated",
}


@dataclass(frozen=True)
class FactOccurrenceView:
    """A fact with the citation of its line and the lines that state it; `overridden` are the facts of the same source that it overrides."""

    fact: Fact
    citation: str
    since: str
    overridden: tuple[Fact, ...]
    evidence: FocusHit

    @classmethod
    def from_record(cls, occurrence: FactOccurrence) -> FactOccurrenceView:
        """The citation is that of the line."""
        return view(occurrence, cls, citation=pinpoint(occurrence.evidence))


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
    """A value that the lineage suggests for a gap, with its grade, the reason and the chain of works that leads to it; `held` has its evidence."""

    value: str
    unit: str
    grade: Grade
    reason: str
    held: tuple[FactOccurrenceView, ...]
    chain: Texts
    evidence: tuple[FocusHit, ...] = ()

    @classmethod
    def from_record(cls, suggestion: Suggestion) -> SuggestionView:
        """The evidence stands in `held`."""
        return view(suggestion, cls, evidence=())


@dataclass(frozen=True)
class GapView:
    """One needed detail: how far the target states it, where, and the lineage's suggestions."""

    detail: Detail
    state: Specification
    why: str
    stated: tuple[FocusHit, ...]
    facts: tuple[FactOccurrenceView, ...]
    suggestions: tuple[SuggestionView, ...]
    decision: Decision | None = None
    confirmed: bool | None = None


@dataclass(frozen=True)
class ConflictView:
    """Sources that disagree, with their evidence; `severity` from 0 to 1."""

    name: str
    title: str
    kind: Literal["paper-code"]
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

    @classmethod
    def from_record(cls, hit: Hit) -> EvidencePlace:
        """Where a hit stands."""
        return view(hit_view(hit), cls)


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

    @classmethod
    def from_record(cls, pack: Pack) -> PackView:
        """The text is what is sent, to the character."""
        starts = [pack.text.find(item.text) for item in pack.items]
        spans = [(start, start + len(item.text)) for start, item in zip(starts, pack.items, strict=True)]
        items = tuple(view(item, PackItemView, span=span) for item, span in zip(pack.items, spans, strict=True))
        return view(pack, cls, text=pack.text, items=items, trust=TRUST)


@dataclass(frozen=True)
class SentenceView:
    """One sentence of an answer, with the hits that support it."""

    text: str
    markdown: str
    evidence: tuple[HitView, ...]

    @classmethod
    def from_record(cls, sentence: Sentence) -> SentenceView:
        """A sentence as text and as Markdown."""
        return view(sentence, cls, markdown=as_markdown(visible(sentence.text)[0]))


@dataclass(frozen=True)
class WrittenAnswerView:
    """Sentences of the target that state what is asked, else `quotes` that come near it; if nothing supports either, `nearest` lists close hits."""

    lineage: str
    generation: str
    question: str
    supported: bool
    sentences: tuple[SentenceView, ...]
    quotes: tuple[SentenceView, ...]
    nearest: tuple[HitView, ...]
    notes: Texts
    trust: Trust
    provenance: Provenance = UNKNOWN

    @classmethod
    def from_record(cls, answer: WrittenAnswer) -> WrittenAnswerView:
        """An answer without sentences and quotes is not supported."""
        return view(answer, cls, supported=bool(answer.sentences or answer.quotes), trust=TRUST)


@dataclass(frozen=True)
class AuditFindingView:
    """One expectation compared with the repository: what was expected, what is there, where, and who says so (`strength`)."""

    level: Literal["method", "experiment"]
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

    @classmethod
    def from_record(cls, audit: Audit) -> AuditView:
        """The findings, counted."""
        return view(audit, cls, counts={verdict: sum(finding.verdict == verdict for finding in audit.findings) for verdict in VERDICTS})


def as_markdown(text: str) -> str:
    """A sentence as Markdown: lines of code, which stand indented under their name, in a fence that none of them closes."""
    name, parted, code = text.partition(":\n    ")
    if not parted or not name.startswith("`"):
        return text
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{name}:\n\n{fence}\n{dedent(f'    {code}')}\n{fence}"


# -- wording shared by all renderers, for records and their views


def is_open(gap: Gap | GapView) -> bool:
    """Whether a row is an open decision: further settings of the code are not."""
    return not gap.decision and gap.state is not Specification.SPECIFIED and not gap.detail.name.startswith(SETTING)


def valued(occurrence: FactOccurrence | FactOccurrenceView) -> str:
    """A value with its unit and scope."""
    fact = occurrence.fact
    return worded(fact.value, fact.unit) + (f" ({fact.scope})" if fact.scope else "")


def answered(offer: Suggestion | SuggestionView) -> str:
    """A value that is offered as `name = value`, a statement of code as it is."""
    occurrence = offer.held[0]
    return occurrence.fact.value if occurrence.fact.end_line else f"{occurrence.fact.name} = {valued(occurrence)}"
