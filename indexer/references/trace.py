"""From one citing paper to its ranked references: every source queried, every edge with its evidence.

The order is fixed: lists of the services, reconciled with the paper's own bibliography; the best of those that
nobody resolved, looked up by title; what arXiv says of those that are on it; roles from the citing sentences; code links from every witness; rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from indexer.build_context import BuildContext
from indexer.plan import fetchable
from indexer.references.role_refinement import refine
from indexer.references.title_lookup import look_up, only_listed
from lineage.code_links import links
from lineage.errors import ParseError, SourceError
from lineage.progress import Stage
from lineage.records import CodeLink, Document, LedgerRow, Reference, ReferenceList, Status, Work, WorkId
from lineage.references import ranking, roles
from lineage.references.ancestors import named_mentions
from lineage.references.merge import merge_works, reconcile

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
    if bench.refiner and distance == 1:
        ranked, more = refine(bench.refiner, citing, ranked, works)
        rows += more
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
    archive_links, more = _archive(bench, papers)
    return links.merge([*abstract_links, *hub_links, *archive_links]), [*rows, *more]


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

    hub_links: list[CodeLink] = []
    with ThreadPoolExecutor(max_workers=4) as pool:
        for n, paper_links in enumerate(pool.map(ask, wanted), 1):
            bench.watch(Stage("code links", n, len(wanted)))
            hub_links += paper_links
    if not failed:
        return hub_links, []
    words = f"{len(failed)} of {len(wanted)} look-ups failed: {failed[0]}"
    return hub_links, [LedgerRow("source", papers[0].id, f"code links by {bench.hub.name}", "links", failed[0].status, words)]


def _archive(bench: BuildContext, papers: Sequence[Work]) -> tuple[Sequence[CodeLink], list[LedgerRow]]:
    """What the user's archive of code links says, if there is one; a file that cannot be read to its end is a row."""
    if not bench.links_archive:
        return (), []
    bench.watch(Stage("code links", 0, 1, bench.links_archive.path.name))
    try:
        return bench.links_archive.links(papers), []
    except ParseError as error:
        return (), [LedgerRow("source", papers[0].id, f"code links by {bench.links_archive.name}", "links", error.status, str(error))]
