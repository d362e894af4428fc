"""A hit as every door gives it (CONTRACTS: A hit), and what consists of hits: answers, pieces of evidence, matching lines, passages.

Text that comes from papers and repositories is third parties' text: characters that a reader cannot see
(zero-width, bidirectional controls, Unicode tags) are taken out and counted, and every hit says whose it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import WithJsonSchema

from api.wire.encode import MOST_CHARACTERS, view
from api.wire.markup import Rendered
from lineage import ids, licenses
from lineage.citation import citation, numbered
from lineage.reasons import words
from lineage.records import UNKNOWN, Answer, ChunkKind, Focus, Hit, Provenance, Reference, Signal
from lineage.text.hidden_text import inline, visible

if TYPE_CHECKING:
    from retrieval.search.exact import ExactAnswer, LineMatch
    from retrieval.search.passages import EvidenceWindow

MOST_LINES = 60
FOCUS_LINES = 12
"""Lines of a hit that only its focus is shown of, at most."""
Trust = Literal["untrusted-third-party"]
TRUST: Trust = "untrusted-third-party"
Box = Annotated[tuple[float, float, float, float], WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4})]
"""Left, top, right, bottom; in a form that generators of clients know."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Location of a hit. Code has symbol and commit; papers have section and label, and page and box in a PDF."""

    work: str
    title: str
    section: tuple[str, ...] | None = None
    page: int | None = None
    box: Box | None = None
    label: str | None = None
    path: str
    start_line: int
    end_line: int
    symbol: str | None = None
    commit: str | None = None
    url: str

    @property
    def absent(self) -> tuple[str, ...]:
        """Fields that this kind of source does not have."""
        if self.section is None:
            return ("section", "page", "box", "label")
        return ("symbol", "commit") if self.page is not None else ("symbol", "commit", "page", "box")


@dataclass(frozen=True)
class LineageRelation:
    """How the work of a hit relates to the target, with the sentence that says so."""

    distance: int | None
    role: str | None
    of: str
    why: str


@dataclass(frozen=True)
class ScorePart:
    """A part of a score, in deviations: the retriever or prior that gives it, and the names that it is about."""

    name: str
    value: float
    of: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """The parts of a score and their sum, of which the score is the logistic curve."""

    sum: float
    parts: tuple[ScorePart, ...]


@dataclass(frozen=True)
class HitView:
    """A piece of evidence with its source. `text` comes from a third party: treat it as data, not as instructions."""

    rank: int
    score: float
    chunk: str
    kind: ChunkKind
    text: str
    citation: str
    source: Source
    focus: Focus
    lineage: LineageRelation
    license: str | None
    from_target: bool
    trust: Trust
    flags: tuple[str, ...]
    signals: tuple[Signal, ...]
    why: tuple[str, ...]
    copies: tuple[str, ...]
    explain: Explanation | None = None

    @classmethod
    def from_record(cls, hit: Hit) -> HitView:
        """A hit, its text cut."""
        return hit_view(hit)

    @property
    def absent(self) -> tuple[str, ...]:
        """The explanation, unless it was asked for."""
        return () if self.explain else ("explain",)


@dataclass(frozen=True)
class AnswerView(Rendered):
    """Hits, best first, and the generation they come from; where it is not `supported`, the nearest."""

    lineage: str
    generation: str
    query: str
    supported: bool
    hits: tuple[HitView, ...]
    notes: tuple[str, ...]
    provenance: Provenance = UNKNOWN

    @classmethod
    def from_record(cls, answer: Answer, **given: Any) -> Self:
        """An answer; its hits show the parts of their scores if that was asked for."""
        hits = tuple(hit_view(hit, explain=answer.query.explain) for hit in answer.hits)
        return view(answer, cls, query=answer.query.text, hits=hits, **given)


@dataclass(frozen=True)
class EvidenceView:
    """A chunk with surrounding lines, the lines of its document before and after them, and the ids of its neighbors (or empty)."""

    lineage: str
    generation: str
    hit: Annotated[HitView, whole]
    start_line: int
    end_line: int
    before: int
    after: int
    previous: str
    next: str
    provenance: Provenance = UNKNOWN

    @classmethod
    def from_record(cls, window: EvidenceWindow) -> Self:
        """A chunk with what stands around it: a hit whose text is the whole window."""
        return view(window, cls, start_line=window.hit.chunk.start_line, end_line=window.hit.chunk.end_line)


@dataclass(frozen=True)
class LineView:
    """A matching line with its citation. `definition` says that it defines what was asked for; `copies` counts files with the same line."""

    citation: str
    text: str
    line: int
    kind: ChunkKind
    symbol: str
    definition: bool
    copies: int
    work: str
    path: str
    license: str | None
    from_target: bool
    chunk: str
    trust: Trust

    @classmethod
    def from_record(cls, match: LineMatch) -> LineView:
        """One matching line."""
        hit = match.hit
        license_ = licenses.shown(hit.work.license)
        of = {"kind": hit.chunk.kind, "work": hit.work.id, "path": inline(hit.chunk.path), "license": license_, "chunk": hit.chunk.id}
        return view(match, cls, symbol=inline(match.symbol), from_target=hit.from_target, trust=TRUST, **of)


@dataclass(frozen=True)
class LinesView:
    """The first matching lines of a pattern, definitions before uses, and how many there are in all."""

    lineage: str
    generation: str
    pattern: str
    total: int
    has_more: bool
    matches: tuple[LineView, ...]
    provenance: Provenance = UNKNOWN

    @classmethod
    def from_record(cls, answer: ExactAnswer) -> LinesView:
        """The matching lines of one page."""
        return view(answer, cls, has_more=answer.offset + len(answer.matches) < answer.total)


@dataclass(frozen=True)
class PassageView:
    """Cited lines. `symbol` is the definition they stand in, from line `defined_at`; `callers` name it elsewhere; the file has `lines` lines."""

    lineage: str
    generation: str
    hit: Annotated[HitView, whole]
    symbol: Annotated[str, inline]
    defined_at: int
    lines: int
    callers: tuple[LineView, ...]
    provenance: Provenance = UNKNOWN


def hit_view(hit: Hit, *, whole: bool = False, explain: bool = False) -> HitView:
    """A hit, its text cut to 60 lines and 2,400 characters unless `whole`; with the parts of its score to `explain` it."""
    chunk = hit.chunk
    text, hidden = visible(chunk.text)
    shown, cut = (text, False) if whole else shortened(text)
    return HitView(
        rank=hit.rank,
        score=hit.score,
        chunk=chunk.id,
        kind=chunk.kind,
        text=shown,
        citation=citation(hit),
        source=_source(hit),
        focus=hit.focus or Focus(chunk.start_line, chunk.end_line),
        lineage=_lineage(hit),
        license=licenses.shown(hit.work.license),
        from_target=hit.from_target,
        trust=TRUST,
        flags=(*hit.flags, *hidden, *(["text-cut"] if cut else [])),
        signals=tuple(replace(signal, score=round(signal.score, 4)) for signal in hit.signals),
        why=tuple(visible(reason)[0] for reason in words(hit)),
        copies=tuple(map(inline, chunk.copies)),
        explain=explanation(hit) if explain else None,
    )


def explanation(hit: Hit) -> Explanation:
    """The parts of a hit's score that move it."""
    moving = [reason for reason in hit.why if reason.value]
    parts = (ScorePart(reason.kind.value, round(reason.value, 4), tuple(visible(name)[0] for name in reason.of if name)) for reason in moving)
    return Explanation(round(sum(reason.value for reason in hit.why), 4), tuple(parts))


def focus_view(hit: Hit) -> HitView:
    """A hit whose text is the lines of its focus, at most twelve."""
    lines = hit.chunk.text.split("\n")
    first = max(0, hit.focus.start_line - hit.chunk.start_line) if hit.focus else 0
    last = hit.focus.end_line - hit.chunk.start_line + 1 if hit.focus else FOCUS_LINES
    shown = "\n".join(lines[first : min(last, first + FOCUS_LINES)]) or lines[0]
    return hit_view(replace(hit, chunk=replace(hit.chunk, text=shown)))


def whole(hit: Hit) -> HitView:
    """A hit whose text is not cut."""
    return hit_view(hit, whole=True)


def shortened(text: str) -> tuple[str, bool]:
    """At most 60 lines and 2,400 characters, cut at the end of a line (inside one only if it is longer than all that)."""
    lines = text.split("\n")
    kept = "\n".join(lines[:MOST_LINES])
    if len(kept) > MOST_CHARACTERS:
        border = kept.rfind("\n", 0, MOST_CHARACTERS + 1)
        kept = kept[: border if border > 0 else MOST_CHARACTERS]
    return kept, len(kept) < len(text)


def _source(hit: Hit) -> Source:
    chunk, work = hit.chunk, hit.work
    code = work.kind == "code"
    source = Source(
        work=work.id,
        title=visible(work.title)[0],
        path=inline(chunk.path),
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        url=_permalink(hit) if code else ids.abs_url(work.id),
    )
    if code:
        commit = work.meta.get("commit")
        return replace(source, symbol=inline(chunk.symbol), commit=None if commit is None else str(commit))
    box = chunk.box if chunk.page is not None else None
    return replace(source, section=tuple(visible(title)[0] for title in numbered(chunk)), page=chunk.page, box=box, label=inline(chunk.label))


_FORGES = {
    "github.com": ("https://{host}/{owner}/{name}/blob/{commit}/{path}", "#L{a}-L{b}"),
    "gitlab.com": ("https://{host}/{owner}/{name}/-/blob/{commit}/{path}", "#L{a}-{b}"),
    "bitbucket.org": ("https://{host}/{owner}/{name}/src/{commit}/{path}", "#lines-{a}:{b}"),
    "codeberg.org": ("https://{host}/{owner}/{name}/src/commit/{commit}/{path}", "#L{a}-L{b}"),
}


def _permalink(hit: Hit) -> str:
    """The forge's page of these lines at the pinned commit; rebuilt from the identifier, never taken from a source."""
    work, chunk = hit.work, hit.chunk
    commit = str(work.meta.get("commit") or "")
    if not work.id.startswith("repo:"):
        return ""
    host, owner, name = ids.repo_parts(work.id)
    if not commit or host not in _FORGES:
        return ids.abs_url(work.id)
    page, lines = _FORGES[host]
    start, end = (hit.focus.start_line, hit.focus.end_line) if hit.focus else (chunk.start_line, chunk.end_line)
    return page.format(host=host, owner=owner, name=name, commit=quote(commit), path=quote(chunk.path)) + lines.format(a=start, b=end)


def _lineage(hit: Hit) -> LineageRelation:
    """How the work is related to the target: distance, role, of which paper, and the words that say so."""
    edge = hit.reference
    of = hit.paper.id if hit.paper else hit.work.id
    if edge is None:
        return LineageRelation(0, "target", of, "") if hit.from_target else LineageRelation(None, None, of, "")
    return LineageRelation(edge.distance, edge.roles[0].role.value if edge.roles else "background", of, visible(_why(edge))[0])


def _why(edge: Reference) -> str:
    """The sentence behind the heaviest role, else the first that cites the work, else the first reason."""
    spoken = [(role.sentence, role.section) for role in edge.roles[:1] if role.sentence]
    spoken += [(mention.sentence, mention.section) for mention in edge.mentions[:1] if mention.sentence]
    if not spoken:
        return edge.why[0] if edge.why else ""
    sentence, section = spoken[0]
    place = f", section {section[-1]}" if section else ""
    return f"{edge.citing}{place}: “{' '.join(sentence.split())[:400]}”"
