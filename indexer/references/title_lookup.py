"""Look up works by title: a local file's own record, and references that no service resolved.

What is found is a witness beside the others (`reconcile` joins it and keeps the reason), never an answer by itself:
a search returns its best guess, and only a record that agrees in title and in people or years is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexer.build_context import BuildContext
from indexer.plan import fetchable
from lineage.errors import SourceError
from lineage.ids import Target
from lineage.progress import Stage
from lineage.records import BibEntry, Document, LedgerRow, ListedReference, Reference, ReferenceList, Status, Work, WorkId
from lineage.references import ranking
from lineage.references.merge import Reconciled, merge_works
from lineage.references.same_work import same_paper, same_work
from lineage.text.titles import title_key

SOURCE = "title match"
MOST, FEW = 20, 5
"""Titles looked up where no service gave a list, and where one did."""


def recognised(bench: BuildContext, own: Work, document: Document) -> tuple[Work, list[LedgerRow]]:
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
