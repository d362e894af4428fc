"""What the read side concludes from evidence: records of facts held, gaps, consensus, conflicts, packs, answers, audits.

Evidence is always a `Hit`: the chunk, its work, the lines (`focus`) that say it, and the reference by which the work
belongs to the lineage. `lineage` and `generation` name what was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from lineage.decisions import Decision
from lineage.records import UNKNOWN, Fact, Hit, Provenance, Work
from lineage.references.signals import Ancestor


@dataclass(frozen=True)
class FactOccurrence:
    """A fact with the evidence that holds it.

    `since` is the year or date from which the source holds it; `overridden` are facts of the same source that this one
    overrides, weakest first (default < config < command line). `mentioned` says that its repository is only mentioned by a
    paper of the lineage: its values are never offered.
    """

    fact: Fact
    evidence: Hit
    since: str = ""
    overridden: tuple[Fact, ...] = ()
    mentioned: bool = False


@dataclass(frozen=True)
class Value:
    """One value of a detail and everybody who holds it; `inherited` if the target's chain of inheritance points to it."""

    value: str
    unit: str
    held: tuple[FactOccurrence, ...]
    inherited: bool = False


@dataclass(frozen=True)
class Consensus:
    """What a lineage agrees on for one detail: its values, best supported first, the dissenters after them."""

    name: str
    title: str
    values: tuple[Value, ...]
    lineage: str
    generation: str
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class Tally:
    """One line of the table of details: how many facts, values and works a detail has in a lineage."""

    name: str
    title: str
    topic: str
    facts: int
    values: int
    works: int


@dataclass(frozen=True)
class Tallies:
    """The details that a lineage has facts on."""

    lineage: str
    generation: str
    rows: tuple[Tally, ...]
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN


class Specification(StrEnum):
    """How far the target states a detail."""

    SPECIFIED = "SPECIFIED"
    PARTIALLY_SPECIFIED = "PARTIALLY_SPECIFIED"
    UNSPECIFIED = "UNSPECIFIED"


SETTING = "setting:"
"""What begins the name of a detail that no list knows: a setting that code has under a name of its own."""


@dataclass(frozen=True)
class Detail:
    """A detail that a reproduction needs: its normalized `name`, `topic` (`optimizer`, `data` ...), and the question to ask for it.

    `facts` are the names of facts that state it; `weight` (0..1) is how much a reproduction depends on it.
    """

    name: str
    title: str
    topic: str
    question: str
    facts: tuple[str, ...] = ()
    weight: float = 0.5


Grade = Literal["strong", "fair", "weak", "model"]
"""How well the evidence supports a value; `model` is one that a chat model read, with the quote that proves it."""


@dataclass(frozen=True)
class Suggestion:
    """The value that the lineage offers for a gap.

    `grade` says how well the evidence supports it, `reason` why, in one line.
    `chain` says link by link how it reaches the target: target cites P in sentence S with role R, P's repository has
    it at file:line@commit.
    """

    value: str
    unit: str
    grade: Grade
    reason: str
    held: tuple[FactOccurrence, ...] = ()
    evidence: tuple[Hit, ...] = ()
    chain: tuple[str, ...] = ()


class GapReason(StrEnum):
    """Why a detail stands as it does."""

    STATES_VALUE = "states_value"
    STATES_VALUES = "states_values"
    SENTENCE_STATES = "sentence_states"
    SENTENCE_SAYS = "sentence_says"
    NO_TEXT = "no_text"
    DEFERS = "defers"
    MENTIONED = "mentioned"
    NOT_NAMED = "not_named"
    OWN_CODE_SETS = "own_code_sets"
    CODE_SAYS_HOW = "code_says_how"


_GAP_WORDS = {
    GapReason.STATES_VALUE: "the text states a value",
    GapReason.STATES_VALUES: "{} stated values",
    GapReason.SENTENCE_STATES: "a sentence states {}",
    GapReason.SENTENCE_SAYS: "a sentence says what was done",
    GapReason.NO_TEXT: "the target's full text is not available",
    GapReason.DEFERS: "the target defers to others ({})",
    GapReason.MENTIONED: "mentioned without a value",
    GapReason.NOT_NAMED: "nothing in the text names it",
    GapReason.OWN_CODE_SETS: "the own code sets it, the text does not give it",
    GapReason.CODE_SAYS_HOW: "spoken of; the code says how",
}

_UNCONFIRMED = "not confirmed by a second reading"


@dataclass(frozen=True)
class Gap:
    """One needed detail: how far the target states it, where, and what the lineage offers for what is missing.

    `reason` says why it stands so, `of` the value, names or cues that the reason speaks of; `decision` is what was decided on it.
    `confirmed` is whether a chat model that knows the whole text finds that its answer holds, None where none was asked.
    """

    detail: Detail
    state: Specification
    stated: tuple[Hit, ...] = ()
    facts: tuple[FactOccurrence, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    reason: GapReason | None = None
    of: str = ""
    decision: Decision | None = None
    confirmed: bool | None = None

    @property
    def why(self) -> str:
        """The reason in words."""
        return "; ".join(
            filter(None, (_GAP_WORDS[self.reason].format(self.of) if self.reason else "", _UNCONFIRMED if self.confirmed is False else ""))
        )


@dataclass(frozen=True)
class Conflict:
    """Sources that disagree: the sides with their evidence; `severity` (0..1) is how likely it matters, `why` says so in words.

    `rule` is what found it: `model`.
    """

    name: str
    title: str
    kind: Literal["paper-code"]
    sides: tuple[FactOccurrence, ...]
    severity: float
    why: str = ""
    rule: str = ""


@dataclass(frozen=True)
class Gaps:
    """What the target leaves unsaid. `domains` are what kind of paper it was taken for; they choose the list of details.

    `ancestors` are those that a chat model read, what gives most first.
    """

    lineage: str
    generation: str
    target: Work
    domains: tuple[str, ...]
    gaps: tuple[Gap, ...]
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN
    ancestors: tuple[Ancestor, ...] = ()


Stage = Literal["planning", "analysis", "coding"]


@dataclass(frozen=True)
class PackItem:
    """One whole unit of a context pack: Markdown `text` of `tokens` tokens, with the evidence that it rests on."""

    kind: Literal["decided", "stated", "lineage", "conflict", "unspecified", "config", "imitate"]
    title: str
    text: str
    tokens: int
    evidence: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Pack:
    """Context for the one who writes the code: `text` is what is sent, `used` its tokens by `tokenizer`, never over `allowed`."""

    task: str
    stage: Stage | None
    lineage: str
    generation: str
    allowed: int
    used: int
    tokenizer: str
    items: tuple[PackItem, ...]
    text: str
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class Sentence:
    """One sentence of an answer, word for word or a chat model's own with the words that prove it, and the passage that it stands in."""

    text: str
    evidence: tuple[Hit, ...]


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer in the words of its evidence: `sentences` of the target that state the value which is asked for (or a chat model's), else `quotes`.

    Quotes come near the question, and whether they answer it is not claimed. Neither: nothing in the lineage supports an answer, `nearest` are
    the misses.
    """

    question: str
    lineage: str
    generation: str
    sentences: tuple[Sentence, ...]
    quotes: tuple[Sentence, ...] = ()
    nearest: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class CodeArchive:
    """An uploaded archive of code (zip, tar or gzipped tar) and its name. It is never written to disk."""

    data: bytes
    name: str = "upload"


Verdict = Literal["match", "deviation", "missing", "cannot judge"]
Strength = Literal["stated", "code", "inherited", "decided"]
"""Who says what is expected: the paper's own words or tables, the target's own code, works that it inherits from, or who decided it."""


@dataclass(frozen=True)
class AuditFinding:
    """One expectation compared with a generated repository.

    `level` is where it stands: a method's details, an experiment's settings. `scope` is the
    experiment, stage or component that it holds for, `strength` who says so. `severity` (0..1) is how much it matters;
    what cannot be judged counts for nothing.
    """

    level: Literal["method", "experiment"]
    name: str
    title: str
    verdict: Verdict
    expected: str
    found: str = ""
    where: str = ""
    evidence: tuple[Hit, ...] = ()
    severity: float = 0.5
    why: str = ""
    strength: Strength = "stated"
    scope: str = ""


@dataclass(frozen=True)
class Audit:
    """A generated repository against the target and its lineage; no code was run."""

    path: str
    lineage: str
    generation: str
    findings: tuple[AuditFinding, ...]
    score: float
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class Crop:
    """A part of a PDF's page with a box around a chunk: `png` in base64, `width` and `height` in pixels, `page` counted from 1."""

    lineage: str
    generation: str
    chunk: str
    page: int
    width: int
    height: int
    png: str


@dataclass(frozen=True)
class ModelUsage:
    """What a chat model was asked, or would be: calls, answers that were kept, tokens at most, and their cost where a price is set."""

    model: str
    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.tokens_in + self.tokens_out

    def plus(self, calls: int = 0, cached: int = 0, tokens_in: int = 0, tokens_out: int = 0, cost: float = 0.0) -> ModelUsage:
        """With so much more."""
        sums = (self.calls + calls, self.cached + cached, self.tokens_in + tokens_in, self.tokens_out + tokens_out, self.cost + cost)
        return ModelUsage(self.model, *sums)
