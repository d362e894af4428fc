"""From one citing paper to its ranked references: every source queried, every edge with its evidence.

The order is fixed: lists of the services, reconciled with the paper's own bibliography; the best of those that
nobody resolved, looked up by title; what arXiv says of those that are on it; roles from the citing sentences; code links from every witness; rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from indexer.build_context import BuildContext
from indexer.plan import fetchable
from lineage.code_links import links
from lineage.errors import SourceError
from lineage.ids import Target
from lineage.progress import Stage
from lineage.records import BibEntry, CodeLink, Document, LedgerRow, ListedReference, Reference, ReferenceList, Status, Work, WorkId
from lineage.references import ranking, roles
from lineage.references.ancestors import named_mentions
from lineage.references.merge import Reconciled, reconcile
from lineage.references.same_work import merge_works, same_paper, same_work
from lineage.text.titles import title_key

SOURCE = "title match"
MOST, FEW = 20, 5
"""Titles looked up where no service gave a list, and where one did."""


def recognized(bench: BuildContext, own: Work, document: Document) -> tuple[Work, list[LedgerRow]]:
    """The work of a local file with the identifiers and words of its record, if there is one that agrees; and the rows of that."""
    try:
        record, status, detail = _record(bench, document)
    except SourceError as error:
        return own, [_row(own, bench.scholar.name, error.status, str(error))]
    rows = [_row(own, bench.scholar.name, status, detail)]
    if not record:
        return own, rows
    arxiv = fetchable(record)
    try:
        work = bench.arxiv.paper(Target(id=arxiv)) if arxiv else None
    except SourceError as error:
        work = None
        rows.append(_row(own, bench.arxiv.name, error.status, str(error)))
    merged = merge_works(own, merge_works(record, work) if work else record)
    aliases = tuple(name for name in (merged.id, *merged.aliases) if name != own.id)
    return replace(merged, id=own.id, aliases=aliases), rows


def _row(own: Work, service: str, status: Status, detail: str) -> LedgerRow:
    return LedgerRow("source", own.id, f"record by {service}", "target", status, detail)


def _record(bench: BuildContext, document: Document) -> tuple[Work | None, Status, str]:
    """The one record that agrees with a paper that was read, and why, or why none does."""
    if not document.title:
        return None, Status.UNRESOLVED, "the file gives no title to look it up by"
    judged = [(record, *same_paper(document, record)) for record in bench.scholar.match(document.title)]
    agreeing = [(record, words) for record, same, words in judged if same]
    if len(agreeing) == 1:
        record, words = agreeing[0]
        return record, Status.OK, f"{record.id}: {words}"
    if agreeing:
        return None, Status.UNRESOLVED, f"{len(agreeing)} records agree with it ({', '.join(r.id for r, _ in agreeing)}); none is taken"
    against = "; ".join(f"{record.id} is not it: {words}" for record, _, words in judged[:3])
    return None, Status.UNRESOLVED, against or "no paper of its title is known"


def look_up(bench: BuildContext, citing: Work, reconciled: Reconciled, lists: Sequence[ReferenceList]) -> tuple[ReferenceList, list[LedgerRow]]:
    """The best-ranked references without a record, as a list of those whose title leads to one; and a row if any was asked for."""
    wanted = _wanted(citing, reconciled, FEW if any(listed.entries for listed in lists) else MOST)
    entries: list[ListedReference] = []
    failed: SourceError | None = None
    for n, reference in enumerate(wanted, 1):
        bench.watch(Stage("titles", n, len(wanted), reconciled.works[reference.cited].title))
        try:
            entries += _entry(bench, reference, reconciled.works[reference.cited])
        except SourceError as error:
            failed = error
            break
    summary = f"{len(entries)} of {len(wanted)} references without a record were found by their titles"
    status, detail = (failed.status, f"{summary}; then {failed}") if failed else (Status.OK, summary)
    rows = [LedgerRow("source", citing.id, "references by title", "references", status, detail)] if wanted else []
    return ReferenceList(SOURCE, tuple(entries)), rows


def _wanted(citing: Work, reconciled: Reconciled, most: int) -> tuple[Reference, ...]:
    unknown = [r for r in reconciled.references if r.cited.startswith("ref:") and title_key(reconciled.works[r.cited].title).distinctive()]
    return ranking.rank(unknown, works=reconciled.works, target=citing)[:most]


def _entry(bench: BuildContext, reference: Reference, own: Work) -> list[ListedReference]:
    same = [record for record in bench.scholar.match(own.title) if same_work(own, record)]
    if len(same) != 1:
        return []
    record = same[0]
    return [ListedReference(record, BibEntry(reference.key, reference.raw, record.title, record.authors, record.year, fields_by=SOURCE))]


def only_listed(reconciled: Reconciled) -> Reconciled:
    """Without references that a look-up alone knows: it answers for entries of the paper, and adds none."""
    strangers: set[WorkId] = {r.cited for r in reconciled.references if r.known_by == (SOURCE,)}
    if not strangers:
        return reconciled
    listed_references = tuple(r for r in reconciled.references if r.cited not in strangers)
    works = {name: work for name, work in reconciled.works.items() if name not in strangers}
    notes = tuple(f"{name} was found by a title but contradicts the entry; left out" for name in sorted(strangers))
    return replace(reconciled, references=listed_references, works=works, notes=(*reconciled.notes, *notes))


_HUB_LOOKUPS = (200, 20)
"""Papers whose code is asked for: among the target's references, and among those of each ancestor."""


@dataclass(frozen=True)
class Trace:
    """What one paper cites, best first, with the works, the code links and the rows of what was asked."""

    citing: Work
    references: tuple[Reference, ...] = ()
    works: Mapping[WorkId, Work] = field(default_factory=dict)
    links: tuple[CodeLink, ...] = ()
    rows: tuple[LedgerRow, ...] = ()
    coverage: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def trace(bench: BuildContext, citing: Work, document: Document | None, distance: int = 1) -> Trace:
    """The ranked references of `citing`; a service that fails is a row, the others go on."""
    lists, rows = _lists(bench, citing)
    own = document.bibliography if document else ()
    mentions = document.mentions if document else ()
    reconciled = reconcile(citing.id, own, mentions, lists, target=citing)
    if distance == 1:
        titled, more = look_up(bench, citing, reconciled, lists)
        reconciled = only_listed(reconcile(citing.id, own, mentions, [*lists, titled], target=citing)) if titled.entries else reconciled
        rows += more
    works, more = _with_arxiv(bench, reconciled.works)
    rows += more
    bench.watch(Stage("references", len(works), len(works)))
    references = tuple(
        replace(r, distance=distance, roles=roles.classify(r.mentions, title=citing.title, cited_title=works[r.cited].title))
        for r in reconciled.references
    )
    linked, more = _links(bench, citing, document, references, works)
    rows += more
    named = named_mentions(document, references, works) if document else {}
    ranked = ranking.rank(references, works=works, links=linked, target=citing, named=named)
    return Trace(citing, ranked, {**works, citing.id: citing}, linked, tuple(rows), reconciled.coverage, reconciled.notes)


def _lists(bench: BuildContext, citing: Work) -> tuple[list[ReferenceList], list[LedgerRow]]:
    lists: list[ReferenceList] = []
    rows: list[LedgerRow] = []
    for source in (bench.scholar, *bench.witnesses):
        subject = f"references by {source.name}"
        if citing.id.startswith("local:") and not citing.aliases:
            rows.append(LedgerRow("source", citing.id, subject, "references", Status.POLICY_SKIPPED, "the file has no record to ask for"))
            continue
        try:
            listed = source.references(citing)
        except SourceError as error:
            rows.append(LedgerRow("source", citing.id, subject, "references", error.status, str(error)))
            continue
        lists.append(listed)
        rows.append(LedgerRow("source", citing.id, subject, "references", listed.status, listed.detail))
    return lists, rows


def _with_arxiv(bench: BuildContext, works: Mapping[WorkId, Work]) -> tuple[dict[WorkId, Work], list[LedgerRow]]:
    """The works with abstract, comment and licence as arXiv has them: one or two requests for all."""
    ids = {name: work.id for work in works.values() if (name := fetchable(work))}
    if not ids:
        return dict(works), []
    bench.watch(Stage("references", 0, len(works), "abstracts and comments from arXiv"))
    try:
        works_by_key = bench.arxiv.papers(sorted(ids))
    except SourceError as error:
        row = LedgerRow("source", WorkId("arxiv:"), "abstracts and comments", "references", error.status, str(error))
        return dict(works), [row]
    merged = dict(works)
    for name, work in works_by_key.items():
        key = ids.get(name)
        if key:
            merged[key] = replace(merge_works(works[key], work), id=key)
    return merged, []


def _links(
    bench: BuildContext, citing: Work, document: Document | None, references: Sequence[Reference], works: Mapping[WorkId, Work]
) -> tuple[tuple[CodeLink, ...], list[LedgerRow]]:
    abstract_links = [link for work in (citing, *works.values()) for link in links.from_abstract(work)]
    if document:
        abstract_links += said_in(citing, document, references)
    papers = [citing, *(works[r.cited] for r in references)]
    hub_links, rows = _hub(bench, papers[: _HUB_LOOKUPS[0 if references and references[0].distance == 1 else 1]])
    return links.merge([*abstract_links, *hub_links]), rows


def said_in(paper: Work, document: Document, references: Sequence[Reference] = ()) -> list[CodeLink]:
    """What a paper's text says of its own code, and of the code of the works that it cites."""
    text_links = links.from_text(
        paper, document.links, mentions=document.mentions, bibliography=document.bibliography, said_by=document.parser.split("@")[0]
    )
    cited = {key: r.cited for r in references for key in (r.key, *(m.key for m in r.mentions)) if key}
    others = (
        CodeLink(cited[link.key], link.repo, link.tier, (f"{links.CITING}{paper.id}",), (link.evidence,))
        for link in text_links.references
        if link.key in cited
    )
    return [*text_links.own, *others]


def _hub(bench: BuildContext, papers: Sequence[Work]) -> tuple[list[CodeLink], list[LedgerRow]]:
    wanted = [(work.id, name) for work in papers if (name := fetchable(work))]
    failed: list[SourceError] = []

    def ask(pair: tuple[WorkId, WorkId]) -> Iterable[CodeLink]:
        work, name = pair
        try:
            return [replace(link, paper=work) for link in bench.hub.links(name)]
        except SourceError as error:
            failed.append(error)
            return []

    hub_links = [link for paper_links in bench.each("code links", wanted, ask) for link in paper_links]
    if not failed:
        return hub_links, []
    words = f"{len(failed)} of {len(wanted)} look-ups failed: {failed[0]}"
    return hub_links, [LedgerRow("source", papers[0].id, f"code links by {bench.hub.name}", "links", failed[0].status, words)]
