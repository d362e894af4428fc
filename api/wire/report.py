"""The report on a lineage: what the paper does not state, with the ancestors' answers, as a record, an HTML file or Markdown.

The file can be mailed and printed: it asks nothing of a network, runs nothing, and quotes a single line of what may not be passed on.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.metadata import version
from importlib.resources import files
from textwrap import dedent
from typing import TYPE_CHECKING

from api.wire.hits import HitView
from api.wire.insight import KINDS, STATES, ConflictView, GapsView, GapView, answered, is_open, valued
from api.wire.markup import LEFT, LONGEST, Block, Cell, Heading, Paragraph, Rendered, Table, Text, html, markdown
from lineage import ids
from lineage.licenses import called, terms
from lineage.records import UNKNOWN, Provenance, Work
from lineage.references.signals import Part, TitledAncestor
from lineage.results import Specification
from lineage.text.hidden_text import inline
from lineage.text.tokens import counted

if TYPE_CHECKING:
    from api.wire.stored import Completeness
    from lineage.generation import Generation

OTHER = "other"
HEADS = ("Detail", "In the paper", "Answer of the lineage", "Evidence")
_MOST_LINES = 6


@dataclass(frozen=True)
class ReportPart:
    """A part of the paper (model, training, data ...; `other` has no ancestors): whose it is, and its open decisions, weightiest first."""

    part: str
    ancestors: tuple[TitledAncestor, ...]
    decisions: tuple[GapView, ...]


@dataclass(frozen=True)
class ReportLicense:
    """A work whose text is in the lineage: its license, and what it asks of those who pass the text on, or why they may not."""

    work: str
    title: str
    license: str
    condition: str
    allowed: bool


@dataclass(frozen=True)
class ReportView(Rendered):
    """What a paper does not tell: contradictions, what was decided, open decisions by part with the best answer of the lineage; licenses; the ledger.

    `unconfirmed` are open decisions of which a chat model does not find that they apply and that their answer decides them, `stated` counts
    the details that the paper states, `unread` those items of the ledger that failed or are incomplete.
    """

    lineage: str
    generation: str
    created: str
    target: Work
    conflicts: tuple[ConflictView, ...]
    decided: tuple[GapView, ...]
    parts: tuple[ReportPart, ...]
    unconfirmed: tuple[GapView, ...]
    stated: int
    licenses: tuple[ReportLicense, ...]
    sums: Mapping[str, Mapping[str, int]]
    unread: int
    notes: tuple[str, ...]
    provenance: Provenance = UNKNOWN

    def text(self, form: str) -> str:
        """The report as one `html` file, or as `markdown`."""
        return _page(self) if form == "html" else markdown(_blocks(self))

    def _repr_html_(self) -> str:
        return html(_blocks(self), LEFT)


def report_of(gaps: GapsView, generation: Generation, status: Completeness) -> ReportView:
    """Build the report from the results of other operations."""
    from retrieval.decisions.precedence import part_of

    catalog = generation.catalog
    works = {work.id: work for work in catalog.works()}
    every = sorted(filter(is_open, gaps.gaps), key=lambda gap: -gap.detail.weight)
    rows = [gap for gap in every if gap.confirmed is not False]
    ancestors = [TitledAncestor.titled(row, works) for row in catalog.meta().get("ancestors", ())]
    parts = []
    for name in (*(part.value for part in Part), OTHER):
        of_part = tuple(_best(gap) for gap in rows if (part_of(gap.detail.topic) or OTHER) == name)
        whose = tuple(ancestor for ancestor in ancestors if ancestor.part == name)
        parts += [ReportPart(name, whose, of_part)] if of_part or whose else []
    read = [works[name] for name in dict.fromkeys(document.work for document in catalog.documents()) if name in works]
    return ReportView(
        lineage=gaps.lineage,
        generation=gaps.generation,
        created=generation.manifest.created,
        target=gaps.target,
        conflicts=gaps.conflicts,
        decided=tuple(_best(gap) for gap in gaps.gaps if gap.decision),
        parts=tuple(parts),
        unconfirmed=tuple(_best(gap) for gap in every if gap.confirmed is False),
        stated=sum(gap.state is Specification.SPECIFIED for gap in gaps.gaps),
        licenses=tuple(map(_license, read)),
        sums=status.sums,
        unread=len(status.losses),
        notes=gaps.notes,
        provenance=gaps.provenance,
    )


def _best(gap: GapView) -> GapView:
    """The row with the best value alone."""
    kept = tuple(replace(offer, held=offer.held[:1]) for offer in gap.suggestions[:1])
    return replace(gap, stated=gap.stated[:1], facts=gap.facts[:1], suggestions=kept)


def _license(work: Work) -> ReportLicense:
    conditions = terms(work.license)
    return ReportLicense(work.id, work.title, called(work.license), conditions.condition, conditions.allowed)


# -- the report as blocks


def _blocks(report: ReportView) -> Iterator[Block]:
    yield Heading(1, report.target.title or report.target.id)
    yield Paragraph(_about(report.target))
    yield Paragraph(_summary(report))
    yield from (Paragraph(f"Note: {note}") for note in report.notes)
    yield from [Heading(2, "Contradictions"), *conflict_blocks(report.conflicts)] if report.conflicts else []
    if report.decided:
        yield Heading(2, "Decided")
        yield Table(("Detail", "Value", "Because of", "Who"), tuple(map(_decided, report.decided)))
    yield Heading(2, "Open decisions, and what the ancestors do")
    for part in report.parts:
        yield from _part(part)
    if report.unconfirmed:
        more = f"{counted(len(report.unconfirmed), 'decision')} that a second reading does not confirm"
        yield Table(HEADS, tuple(map(decision_row, report.unconfirmed)), more, folded=True)
    yield Heading(2, "Ancestors by part")
    yield Table(
        ("Part", "Taken from", "Rank", "Because"),
        tuple(
            (part.part, (_work(ancestor),), str(rank), ancestor.reason) for part in report.parts for rank, ancestor in enumerate(part.ancestors, 1)
        ),
    )
    yield Heading(2, "Licenses")
    yield Paragraph("Of every work whose text was read. This report quotes a single line of what may not be passed on.")
    yield Table(("Work", "License", "To pass it on"), tuple(map(_licensed, report.licenses)))
    yield Heading(2, "What was read")
    yield Table(("Items", "In", "OK", "Degraded", "Failed", "Excluded"), tuple(_sums(report.sums)))
    yield Paragraph(_origin(report))


def _about(work: Work) -> Cell:
    names = ", ".join(work.authors[:8]) + (" and others" if len(work.authors) > 8 else "")
    words = " · ".join(filter(None, (names, str(work.year or ""), work.venue)))
    return (Text(f"{words} · " if words else ""), Text(work.id, url=ids.abs_url(work.id)))


def _summary(report: ReportView) -> Cell:
    rows = [gap for part in report.parts for gap in part.decisions]
    answered = sum(bool(gap.suggestions) for gap in rows)
    read = f"{counted(len(report.conflicts), 'contradiction')}, " if report.conflicts else ""
    counts = read + counted(len(rows), "open decision")
    return (
        Text("What this paper does not tell you: ", "strong"),
        Text(f"{counts}, of which the lineage has a value for {answered}; {len(report.decided)} decided, {report.stated} stated."),
    )


def conflict_blocks(conflicts: Sequence[ConflictView]) -> Iterator[Block]:
    """Each contradiction with its sides."""
    for conflict in conflicts:
        yield Heading(3, f"{conflict.title}: {KINDS.get(conflict.kind, conflict.kind)}")
        yield from [Paragraph(conflict.why)] if conflict.why else []
        yield Table(("Value", "Where"), tuple(((Text(valued(side), "strong"),), _evidence(side.evidence, side.citation)) for side in conflict.sides))


def _decided(gap: GapView) -> tuple[Cell, ...]:
    made = gap.decision
    return (gap.detail.title, (Text(made.value, "strong"),), made.citation + (f": {made.note}" if made.note else ""), made.who) if made else ()


def _part(part: ReportPart) -> Iterator[Block]:
    if not part.decisions:
        return
    yield Heading(3, part.part.capitalize())
    if part.ancestors:
        first = part.ancestors[0]
        yield Paragraph((Text("Taken from "), _work(first), Text(f": {first.reason}" if first.reason else "", "quiet")))
    yield Table(HEADS, tuple(map(decision_row, part.decisions)))


def decision_row(gap: GapView) -> tuple[Cell, ...]:
    """What the paper says of a detail, the answer of the lineage, and its evidence, under `HEADS`."""
    offer = gap.suggestions[0] if gap.suggestions else None
    paper: Cell = (Text(STATES[gap.state]), Text(f": {gap.why}" if gap.why else "", "quiet"))
    if gap.facts and not offer:
        return gap.detail.title, paper, (Text(valued(gap.facts[0]), "strong"),), _evidence(gap.facts[0].evidence, gap.facts[0].citation)
    if not offer:
        return gap.detail.title, paper, "" if gap.stated else "nothing in the lineage", _evidence(gap.stated[0]) if gap.stated else ""
    occurrence, value = offer.held[0], answered(offer)
    return (
        gap.detail.title,
        paper,
        (Text(value, "strong"), Text(f" {offer.grade}: {offer.reason}", "quiet")),
        _evidence(occurrence.evidence, occurrence.citation, value),
    )


def _evidence(hit: HitView, citation: str = "", value: str = "") -> Cell:
    """The citation, the license, and the lines unless they stand there as the value."""
    text = quoted(hit)
    lines = "".join(text.split())
    return (*cited(hit, citation), *(() if lines == "".join(value.split())[: len(lines)] else (Text(text, "lines"),)))


def cited(hit: HitView, citation: str = "") -> tuple[Text, Text]:
    """The citation of a hit as a link, and the license."""
    return Text(citation or hit.citation, url=hit.source.url), Text(f" {called(hit.license)}", "quiet")


def quoted(hit: HitView) -> str:
    """The lines that say it: of a text that may be passed on at most six, of another one."""
    first = max(0, hit.focus.start_line - hit.source.start_line)
    lines = hit.text.splitlines()
    lines = lines[first:] if first < len(lines) else lines  # some hits hold these lines only
    most = _MOST_LINES if terms(hit.license).allowed else 1
    count = min(most, hit.focus.end_line - hit.focus.start_line + 1)
    return dedent("\n".join(line[:200] for line in lines[:count]))


def _work(ancestor: TitledAncestor) -> Text:
    return Text(ancestor.title or ancestor.work, url=ids.abs_url(ancestor.work))


def _licensed(row: ReportLicense) -> tuple[Cell, ...]:
    name = row.work.removeprefix("repo:") if row.work.startswith("repo:") else row.title or row.work
    return (Text(name, url=ids.abs_url(row.work)),), row.license, row.condition if row.allowed else f"not allowed: {row.condition}"  # type: ignore[arg-type]


def _sums(sums: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[Cell, ...]]:
    for kind, of in sums.items():
        yield kind, *(str(of.get(name, 0)) for name in ("in", "ok", "degraded", "failed", "excluded"))


def _origin(report: ReportView) -> str:
    words = f"; {report.provenance.words}" if report.provenance.words else ""
    return (
        f"Lineage {report.lineage}, generation {report.generation}, built {report.created[:10]}{words}. "
        f"{report.unread} items failed or are incomplete (lineage status {report.lineage}). "
        f"Written by paper-lineage {version('paper-lineage')} from quoted sources; check before you rely on it."
    )


# -- the page


def _page(report: ReportView) -> str:
    style = (files("api") / "web" / "report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(inline(report.target.title or report.target.id)[:LONGEST])}: what it does not tell</title>",
        f"<style>{style}</style>\n</head>\n<body>\n<main>",
    ]
    return "\n".join([*head, html(_blocks(report)), "</main>\n</body>\n</html>\n"])
