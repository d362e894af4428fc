"""The frozen records that cross a border between packages, and the closed lists they draw on.

Nothing here does anything: records are values, made by one stage and read by the next.
Offsets are in characters of the text they belong to, lines are counted from 1, both ends included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NewType

Built = Literal["here", "imported", "unknown"]
Upstream = Literal["public", "mirror", "none", "unknown"]


@dataclass(frozen=True)
class BundleOrigin:
    """The bundle a generation was read from: SHA-256 of its file and of its manifest (`id`), the moment of the import, and the program
    that the bundle says made it."""

    sha256: str
    id: str
    imported: str
    made_by: str


@dataclass(frozen=True)
class Provenance:
    """Where a generation comes from.

    `upstream` is who answered the build: the public services, a mirror (if it gave any answer), none (only local files), or
    unknown: the makers of a bundle asked, and nothing proves whom. `verified`: this program fetched the contents from the
    public services itself. `signer` is the id of the key whose signature of the bundle was verified at the import.
    """

    built: Built = "unknown"
    upstream: Upstream = "unknown"
    verified: bool = False
    bundle: BundleOrigin | None = None
    signer: str | None = None

    @property
    def words(self) -> str:
        """One line for people; empty where it was built here from the public services or local files."""
        if bundle := self.bundle:
            signed = f", signed by key {self.signer}" if self.signer else ""
            return f"imported from a bundle of {bundle.imported[:10]} (SHA-256 {bundle.sha256[:12]}){signed}, not checked against its sources"
        if self.built == "unknown":
            return "of unknown origin: built before origins were recorded"
        return "built through a mirror" if self.upstream == "mirror" else ""


UNKNOWN = Provenance()
"""What is known of a generation that was made before this was written down."""


def built_here(mirrored: bool, asked: bool) -> Provenance:
    """The provenance of a build of this program, whose answers came from a mirror, from the public services, or that asked nobody."""
    return Provenance("here", "mirror" if mirrored else "public" if asked else "none", verified=not mirrored)


def imported_from(bundle: BundleOrigin, signer: str | None = None) -> Provenance:
    """The provenance of what a bundle held, signed with the key `signer`."""
    return Provenance("imported", bundle=bundle, signer=signer)


WorkId = NewType("WorkId", str)
"""A normalized identifier: `arxiv:2504.17192`, `doi:10…`, `s2:…`, `repo:github.com/owner/name`, `ref:<hash>`, `local:<hash>`."""

WorkKind = Literal["paper", "code"]
ChunkKind = Literal["paper", "code", "config", "docs"]
FactKind = Literal["default", "config", "command", "call", "table", "prose"]
Scalar = str | int | float | bool | None


class Status(StrEnum):
    """How a reference, archive member, page or request ended. Closed: a new one is a new schema version."""

    OK = "ok"
    OK_REPAIRED = "ok_repaired"
    PARTIAL = "partial"
    PDF_ONLY = "pdf_only"
    ABSTRACT_ONLY = "abstract_only"
    METADATA_ONLY = "metadata_only"
    ELIDED = "elided"
    UNRESOLVED = "unresolved"
    WITHDRAWN = "withdrawn"
    NOT_FOUND = "not_found"
    GONE = "gone"
    LEGAL_451 = "legal_451"
    FORBIDDEN = "forbidden"
    RATE_LIMITED = "rate_limited"
    UPSTREAM_5XX = "upstream_5xx"
    TIMEOUT_FETCH = "timeout_fetch"
    UNREACHABLE = "unreachable"
    OFFLINE = "offline"
    TRUNCATED = "truncated"
    HASH_MISMATCH = "hash_mismatch"
    WRONG_TYPE = "wrong_type"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    TOO_MANY_FILES = "too_many_files"
    BAD_ARCHIVE = "bad_archive"
    BOMB = "bomb"
    UNSAFE_PATH = "unsafe_path"
    ENCRYPTED = "encrypted"
    NO_TEXT = "no_text"
    PARSE_TIMEOUT = "parse_timeout"
    PARSE_OOM = "parse_oom"
    PARSE_SIGNAL = "parse_signal"
    PARSE_ERROR = "parse_error"
    LICENCE_RESTRICTED = "licence_restricted"
    POLICY_SKIPPED = "policy_skipped"

    @property
    def outcome(self) -> Outcome:
        """The one of the ledger's four sums that this status counts towards."""
        if self is Status.OK:
            return "ok"
        if self in _EXCLUDED:
            return "excluded"
        return "degraded" if self in _DEGRADED else "failed"

    @property
    def retryable(self) -> bool:
        """Whether the same request may end better another time."""
        return self in _RETRYABLE

    @property
    def cut(self) -> bool:
        """Whether time or memory ended it: nothing that a faster machine would not read, so it is not remembered."""
        return self in _CUT


Outcome = Literal["ok", "degraded", "failed", "excluded"]

_EXCLUDED = {Status.POLICY_SKIPPED, Status.LICENCE_RESTRICTED}
_DEGRADED = {Status.OK_REPAIRED, Status.PARTIAL, Status.PDF_ONLY, Status.ABSTRACT_ONLY, Status.METADATA_ONLY, Status.ELIDED, Status.UNRESOLVED}
_CUT = {Status.PARSE_TIMEOUT, Status.PARSE_OOM, Status.PARSE_SIGNAL}
_RETRYABLE = _CUT | {
    Status.RATE_LIMITED,
    Status.UPSTREAM_5XX,
    Status.TIMEOUT_FETCH,
    Status.UNREACHABLE,
    Status.OFFLINE,
    Status.TRUNCATED,
    Status.HASH_MISMATCH,
}


class Role(StrEnum):
    """What a reference is to the work that cites it (CONTRACTS: a reference may play several)."""

    BASE = "base"
    METHOD = "method"
    SETUP = "setup"
    DATA = "data"
    METRIC = "metric"
    BASELINE = "baseline"
    BACKGROUND = "background"


class Tier(StrEnum):
    """How surely a repository is a paper's own, surest first."""

    OFFICIAL = "official"
    AUTHOR = "author"
    MENTIONED = "mentioned"
    REIMPLEMENTATION = "reimplementation"

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return tuple(Tier).index(self)

    @property
    def own(self) -> bool:
        """Whether the paper's authors wrote it."""
        return self in {Tier.OFFICIAL, Tier.AUTHOR}


@dataclass(frozen=True)
class Work:
    """A paper or a repository, as one source (or a merge of several) describes it.

    `said_by` names the sources; `aliases` are other identifiers of the same work; `meta` holds what only
    one kind has (`referenceCount`, `comment`, `default_branch`, `commit`, `commit_date`, `archived` ...).
    """

    id: WorkId
    kind: WorkKind = "paper"
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    abstract: str = ""
    aliases: tuple[WorkId, ...] = ()
    license: str | None = None
    said_by: tuple[str, ...] = ()
    meta: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class BibEntry:
    """One entry of a paper's own bibliography, as written: `key` is the citation key or `ref-<n>`.

    `fields_by` says where the entry was read (`bbl`, `bib`, `thebibliography`, `pdf`, `html`).
    Identifiers are bare (`2010.11929`, `10.1000/x`), titles are plain text.
    """

    key: str
    raw: str
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    arxiv: str | None = None
    doi: str | None = None
    url: str | None = None
    fields_by: str = ""
    note: str = ""


@dataclass(frozen=True)
class Mention:
    """One place where the text cites a reference.

    `sentence` is plain text, `section` the title path, `start`/`end` offsets of the sentence in the
    document's text, `together` the keys cited in the same bracket; `said_by` is the witness
    (`latex`, `pdf`, `semantic_scholar`), `intents` what that witness calls it; `printed` is how the sentence cites
    it where it does not print the key.
    """

    key: str
    sentence: str
    section: tuple[str, ...] = ()
    start: int = -1
    end: int = -1
    together: tuple[str, ...] = ()
    said_by: str = ""
    intents: tuple[str, ...] = ()
    printed: str = ""

    @property
    def shown(self) -> str:
        """What stands for the reference in the sentence."""
        return self.printed or self.key


@dataclass(frozen=True)
class RoleVerdict:
    """A role with its weight (0..1), the sentence that speaks for it, and what in it spoke."""

    role: Role
    score: float
    sentence: str = ""
    section: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """An edge of the citation graph with its evidence.

    `known_by` names who listed it (`bbl`, `bib`, `pdf`, `semantic_scholar` ...); `merged` says in words
    which witnesses were joined and why; `score` (0..1) is how much of the lineage it carries, `why` the
    reasons in words, strongest first; `distance` is 1 for the target's own references.
    """

    citing: WorkId
    cited: WorkId
    key: str = ""
    raw: str = ""
    mentions: tuple[Mention, ...] = ()
    roles: tuple[RoleVerdict, ...] = ()
    score: float = 0.0
    why: tuple[str, ...] = ()
    known_by: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    influential: bool = False
    distance: int = 1
    number: int | None = None


@dataclass(frozen=True)
class ListedReference:
    """One line of a reference list: the work a service resolved it to (or None), the entry as written, its mentions."""

    work: Work | None
    entry: BibEntry
    mentions: tuple[Mention, ...] = ()
    influential: bool = False


@dataclass(frozen=True)
class ReferenceList:
    """What one source says a work cites. `expected` is the count that it claims; `status` OK, PARTIAL or ELIDED."""

    source: str
    entries: tuple[ListedReference, ...]
    expected: int | None = None
    status: Status = Status.OK
    detail: str = ""


@dataclass(frozen=True)
class CodeLink:
    """A repository linked to a paper by one or more witnesses, with the words that prove it."""

    paper: WorkId
    repo: WorkId
    tier: Tier
    said_by: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Blob:
    """Raw bytes as they came, content-addressed; the bytes lie in the blob store under `sha256`.

    `named` is the commit that a tarball holds: GitHub packs the same one into other bytes at times.
    """

    sha256: str
    media_type: str
    size: int
    url: str = ""
    fetched_at: str = ""
    named: str = ""


LedgerSubject = Literal["reference", "member", "page", "source"]


@dataclass(frozen=True)
class LedgerRow:
    """The one terminal row of a reference, archive member or page (`subject` is its name within `work`)."""

    kind: LedgerSubject
    work: WorkId
    subject: str
    stage: str
    status: Status
    detail: str = ""


@dataclass(frozen=True)
class Span:
    """A stand-off annotation: characters [start, end) of a document's text.

    `role` is what it is (`section`, `paragraph`, `abstract`, `equation`, `table`, `caption`, `footnote`,
    `algorithm`, `list`, `front` (authors and affiliations), `function`, `method`, `class`, `module`, `config`,
    `command`, `cell`, `heading`, `text`); `path` the section titles or the qualified name; `page` and `box` (points, top-left origin)
    where the source is a PDF; `label` a printed number or `\\label`; `header` what a reader needs to know
    about the surroundings (signature, class, docstring's first line, imports), embedded but shown apart.
    """

    start: int
    end: int
    role: str
    path: tuple[str, ...] = ()
    page: int | None = None
    box: tuple[float, float, float, float] | None = None
    label: str = ""
    header: str = ""


@dataclass(frozen=True)
class Document:
    """One text with stand-off spans, read from one blob (its hash) or from a file of a repository (its commit).

    `spans` are ordered by (start, -end) and lie inside `text`. A paper also carries its `bibliography`
    and the `mentions` of it. `status` is OK, OK_REPAIRED, PARTIAL, or PARSE_TIMEOUT for text that time kept
    from being read well; `detail` says why. `lost` are (subject, status, detail) of pages or parts that could not be read.
    `links` are (url, text around it).
    """

    work: WorkId
    path: str
    text: str
    spans: tuple[Span, ...]
    parser: str
    kind: ChunkKind
    language: str = ""
    blob: str = ""
    title: str = ""
    abstract: str = ""
    bibliography: tuple[BibEntry, ...] = ()
    mentions: tuple[Mention, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    pages: int = 0
    status: Status = Status.OK
    detail: str = ""
    lost: tuple[tuple[str, Status, str], ...] = ()


@dataclass(frozen=True)
class Chunk:
    """The unit of retrieval: a stretch of one document.

    `id` is `c_` and a hash of (work, path, parser, chunker, text of the document, offsets), so it names the same text for ever.
    `header` is embedded with the text and shown apart. `symbol` is the qualified name of code, `section`
    the title path of prose. `copies` are other homes of the same text (`work#path#Lstart-Lend`).
    """

    id: str
    work: WorkId
    path: str
    kind: ChunkKind
    role: str
    text: str
    header: str
    start: int
    end: int
    start_line: int
    end_line: int
    symbol: str = ""
    section: tuple[str, ...] = ()
    page: int | None = None
    box: tuple[float, float, float, float] | None = None
    label: str = ""
    language: str = ""
    copies: tuple[str, ...] = ()


MECHANISM = "mechanism:"
"""What begins the name of a fact that is a mechanism of a program (`lineage.hyperparameters.mechanisms`) and no setting."""


@dataclass(frozen=True)
class Fact:
    """A hyper-parameter or choice with its value and place (`lr = 1e-4` in `train.py:31`).

    `name` and `value` are normalized (`learning_rate`, `0.0001`; see `lineage.hyperparameters.ontology`), `written` and `said` are
    the name and the words of the source. `scope` is what the value holds for (`optimizer`, `ViT-B`, `imagenet`,
    a class or configuration section). `literal` is false where the source computes the value: then `value` is the
    expression as written and nothing was run. `end_line` is the last line of what goes over several.
    """

    name: str
    value: str
    unit: str
    work: WorkId
    chunk: str
    kind: FactKind
    line: int = 0
    written: str = ""
    said: str = ""
    scope: str = ""
    literal: bool = True
    end_line: int = 0


@dataclass(frozen=True)
class Setting:
    """A name with the literal that code, a configuration or a command gives it, as written, whatever it is called.

    `scope` is the group, class or program that it belongs to.
    """

    name: str
    value: str
    kind: FactKind
    work: WorkId
    path: str
    chunk: str
    line: int
    scope: str = ""


class FileRole(StrEnum):
    """What a file is for; one may have several roles."""

    TEST = "test"
    EXAMPLE = "example"
    VENDORED = "vendored"
    LEGACY = "legacy"
    DOCUMENTATION = "documentation"
    BASELINE = "baseline"
    DEVELOPMENT = "development"
    PACKAGING = "packaging"
    DATA = "data"
    TRAINING = "training"
    EVALUATION = "evaluation"
    PROGRAM = "program"


@dataclass(frozen=True)
class FileProfile:
    """A file of a repository with its roles; `experiment` is the folder of the experiment beside the root's program that it belongs to."""

    work: WorkId
    path: str
    roles: frozenset[FileRole] = frozenset()
    experiment: str = ""


@dataclass(frozen=True)
class Signal:
    """What one retriever said of a hit: its rank (from 1) and raw score."""

    retriever: str
    rank: int
    score: float


@dataclass(frozen=True)
class Focus:
    """The lines inside a hit that answer, counted in the source file."""

    start_line: int
    end_line: int


class ReasonKind(StrEnum):
    """What a reason is: a part of a hit's score, or what the evidence says."""

    LEXICAL = "lexical"
    DENSE = "dense"
    STATIC = "static"
    VERBATIM = "verbatim"
    CODE = "code"
    STAGE = "stage"
    ROLE = "role"
    STATED = "stated"
    DECIDES = "decides"
    TARGET = "target"
    LINEAGE = "lineage"
    SIBLINGS = "siblings"
    RERANKED = "reranked"
    NAMED_WORK = "named_work"
    ORDER = "order"
    ASPECT = "aspect"
    SAYS = "says"
    STATES = "states"
    DEFERS = "defers"


@dataclass(frozen=True)
class Reason:
    """Why a passage is shown: `value` is what it adds to the score, in deviations (0 if nothing), `of` the names that it is about.

    `lineage.reasons` puts it into words.
    """

    kind: ReasonKind
    value: float = 0.0
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hit:
    """A chunk that answers, and everything that proves it (see CONTRACTS: A hit); `file` is the profile of a repository's file.

    The values of `why` of a hit that a search ranked add up to its score, before it is brought between 0 and 1.
    """

    rank: int
    score: float
    chunk: Chunk
    work: Work
    signals: tuple[Signal, ...] = ()
    focus: Focus | None = None
    reference: Reference | None = None
    paper: Work | None = None
    from_target: bool = False
    flags: tuple[str, ...] = ()
    why: tuple[Reason, ...] = ()
    file: FileProfile | None = None

    @property
    def roles(self) -> frozenset[FileRole]:
        """What its file is for; empty outside of repositories."""
        return self.file.roles if self.file else frozenset()


@dataclass(frozen=True)
class Query:
    """A question as a value. `kinds` empty means every kind; `k` is how many hits are wanted (1..100).

    `work` (an identifier, an alias, OWNER/NAME of a repository) limits the answer to one work. With `around` the answer is
    to be read: a hit of code shows its chunk's neighbours too, as far as they fit, a reranker looks at the first hits again, and
    quotations and the stage that a question is about count; without, hits are material: the chunk alone. With `explain` the
    parts of each score are shown.
    """

    text: str
    k: int = 10
    kinds: frozenset[ChunkKind] = frozenset()
    no_target_code: bool = False
    around: bool = False
    work: str = ""
    explain: bool = False


@dataclass(frozen=True)
class SettledSide:
    """A value, where the first work has it, and how many works do."""

    said: str
    hit: Hit
    works: int = 1


@dataclass(frozen=True)
class Settled:
    """A detail that a question asks for, and the values that the works of the lineage settle it with."""

    title: str
    sides: tuple[SettledSide, ...]


@dataclass(frozen=True)
class Answer:
    """What a query gives: hits, best first, with the lineage and generation they were read from; where it is not `supported`, the nearest.

    `settled` are the details that the question asks for, with the values of the works that settle them; `statements` those of code that decide
    what it asks for, surest first; `definitions` by work, path and name what sets a name that the first of them use.
    """

    query: Query
    lineage: str
    generation: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    supported: bool = True
    settled: tuple[Settled, ...] = ()
    statements: tuple[Hit, ...] = ()
    definitions: Mapping[tuple[WorkId, str, str], Setting] = field(default_factory=dict)
    provenance: Provenance = UNKNOWN
