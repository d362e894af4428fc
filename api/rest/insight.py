"""What is concluded from evidence, typed for the OpenAPI document: facts, gaps, consensus, packs, written answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from api.rest.responses import Hit, LineageRelation, Lines, ResponseModel, Source, Work

Trust = Literal["untrusted-third-party"]


class Fact(ResponseModel):
    """A hyper-parameter or choice with its place: `learning_rate` = `0.0001` in line 31 of a chunk."""

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
    """A fact with the evidence that holds it; `overridden` are facts of the same source that it overrides."""

    fact: Fact
    evidence: Hit
    since: str
    overridden: list[Fact]
    citation: str


class Value(ResponseModel):
    """One value of a detail, and everybody who holds it."""

    value: str
    unit: str
    inherited: bool
    held: list[FactOccurrenceModel]


class Consensus(ResponseModel):
    """What a lineage agrees on for one detail: its values, the one that the target inherits first."""

    lineage: str
    generation: str
    name: str
    title: str
    values: list[Value]
    why: list[str]
    notes: list[str]


class Tally(ResponseModel):
    """How many facts, values and works a detail has in a lineage."""

    name: str
    title: str
    topic: str
    facts: int
    values: int
    works: int


class Tallies(ResponseModel):
    """The details that a lineage has facts on."""

    lineage: str
    generation: str
    rows: list[Tally]
    notes: list[str]


class Detail(ResponseModel):
    """A detail that a reproduction needs, and the question to ask for it."""

    name: str
    title: str
    topic: str
    question: str
    facts: list[str]
    weight: float


class Suggestion(ResponseModel):
    """What the lineage offers for a gap, its grade with the reason, and the chain that leads to it link by link."""

    value: str
    unit: str
    grade: Literal["strong", "fair", "weak"]
    reason: str
    held: list[FactOccurrenceModel]
    evidence: list[Hit]
    chain: list[str]


class Gap(ResponseModel):
    """One needed detail: how far the target states it, where, and what the lineage offers."""

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
    kind: Literal["paper-code", "paper-followed", "code-upstream", "table-text", "within"]
    severity: float
    why: str
    rule: str
    sides: list[FactOccurrenceModel]


class Gaps(ResponseModel):
    """What the target leaves unsaid, and what its lineage says instead."""

    lineage: str
    generation: str
    target: Work
    domains: list[str]
    gaps: list[Gap]
    conflicts: list[Conflict]
    notes: list[str]


class Place(ResponseModel):
    """Where a piece of evidence stands and whose it is."""

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
    """One whole unit of a pack, with what it rests on."""

    kind: Literal["stated", "lineage", "conflict", "unspecified", "config", "imitate"]
    title: str
    tokens: int
    span: list[int] | None = Field(None, description="Where it stands in the pack's text: from and to, in characters.")
    evidence: list[Place]


class Pack(ResponseModel):
    """Context for whoever writes the code: `text` is Markdown of `used` tokens, never more than `allowed`."""

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
    """One sentence of an answer, with the hits that it rests on."""

    text: str
    markdown: str = ""
    evidence: list[Hit]


class Removed(ResponseModel):
    """A sentence that no evidence held, and why."""

    text: str
    why: str


class Written(ResponseModel):
    """An answer of which every sentence is tied to evidence; without sentences nothing supports one, and `nearest` are the misses."""

    lineage: str
    generation: str
    question: str
    by: str = Field(description="`extract`, or the model that wrote.", examples=["extract"])
    supported: bool
    sentences: list[Sentence]
    removed: list[Removed]
    nearest: list[Hit]
    notes: list[str]
    trust: Trust
