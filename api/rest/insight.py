"""Response models for facts, consensus, gaps, packs and written answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from api.rest.responses import Hit, LineageRelation, Lines, ResponseModel, Source, Work

Trust = Literal["untrusted-third-party"]


class Fact(ResponseModel):
    """A hyperparameter or choice with its location: `learning_rate` = `0.0001` in line 31 of a chunk."""

    name: str = Field(examples=["learning_rate"])
    value: str = Field(examples=["0.0001"])
    unit: str
    work: str
    chunk: str
    kind: Literal["default", "config", "command", "call", "table", "prose"]
    line: int
    written: str
    said: str
    scope: str
    literal: bool


class FactOccurrenceModel(ResponseModel):
    """A fact with its evidence; `overridden` are the facts of the same source that it overrides."""

    fact: Fact
    evidence: Hit
    since: str
    overridden: list[Fact]
    citation: str


class Value(ResponseModel):
    """One value of a detail and its sources."""

    value: str
    unit: str
    inherited: bool
    held: list[FactOccurrenceModel]


class Consensus(ResponseModel):
    """The values of one detail in a lineage, the one that the target inherits first."""

    lineage: str
    generation: str
    name: str
    title: str
    values: list[Value]
    why: list[str]
    notes: list[str]


class Tally(ResponseModel):
    """The number of facts, values and works of a detail in a lineage."""

    name: str
    title: str
    topic: str
    facts: int
    values: int
    works: int


class Tallies(ResponseModel):
    """The details that have facts in a lineage."""

    lineage: str
    generation: str
    rows: list[Tally]
    notes: list[str]


class Detail(ResponseModel):
    """A detail that a reproduction needs, and its question."""

    name: str
    title: str
    topic: str
    question: str
    facts: list[str]
    weight: float


class Suggestion(ResponseModel):
    """A value that the lineage suggests for a gap, with its grade, the reason and the chain of works that leads to it."""

    value: str
    unit: str
    grade: Literal["strong", "fair", "weak"]
    reason: str
    held: list[FactOccurrenceModel]
    evidence: list[Hit]
    chain: list[str]


class Gap(ResponseModel):
    """One needed detail: how far the target states it, where, and the lineage's suggestions."""

    detail: Detail
    state: Literal["SPECIFIED", "PARTIALLY_SPECIFIED", "UNSPECIFIED"]
    why: str
    stated: list[Hit]
    facts: list[FactOccurrenceModel]
    suggestions: list[Suggestion]


class Conflict(ResponseModel):
    """Sources that disagree, with their evidence; `severity` from 0 to 1."""

    name: str
    title: str
    kind: Literal["paper-code", "paper-followed", "table-text", "within"]
    severity: float
    why: str
    rule: str
    sides: list[FactOccurrenceModel]


class Gaps(ResponseModel):
    """The details that the target does not state, and the lineage's suggestions."""

    lineage: str
    generation: str
    target: Work
    domains: list[str]
    gaps: list[Gap]
    conflicts: list[Conflict]
    notes: list[str]


class Place(ResponseModel):
    """Location and source of a piece of evidence."""

    chunk: str
    kind: Literal["paper", "code", "config", "docs"]
    citation: str
    source: Source
    focus: Lines
    lineage: LineageRelation
    license: str | None
    from_target: bool
    trust: Trust
    flags: list[str]


class PackItem(ResponseModel):
    """One unit of a pack, with its evidence."""

    kind: Literal["stated", "lineage", "conflict", "unspecified", "config", "imitate"]
    title: str
    tokens: int
    span: list[int] | None = Field(None, description="Start and end offset in the pack's text, in characters.")
    evidence: list[Place]


class Pack(ResponseModel):
    """Context for a coding task: `text` is Markdown of `used` tokens, at most `allowed`."""

    lineage: str
    generation: str
    task: str
    stage: str | None
    allowed: int
    used: int
    tokenizer: str
    text: str
    items: list[PackItem]
    left_out: list[str]
    notes: list[str]
    trust: Trust


class Sentence(ResponseModel):
    """One sentence of an answer, with the hits that support it."""

    text: str
    markdown: str = ""
    evidence: list[Hit]


class Removed(ResponseModel):
    """An unsupported sentence that was removed, and why."""

    text: str
    why: str


class Written(ResponseModel):
    """An answer in which every sentence cites evidence. If nothing supports one, `sentences` is empty and `nearest` lists close hits."""

    lineage: str
    generation: str
    question: str
    by: str = Field(description="`extract`, or the model that wrote it.", examples=["extract"])
    supported: bool
    sentences: list[Sentence]
    removed: list[Removed]
    nearest: list[Hit]
    notes: list[str]
    trust: Trust
