"""Crossref as an optional source of references: what the publisher deposited for a DOI."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from indexer.sources.fields import arxiv, doi, items, mapping, number, ordered, text, year
from indexer.transport.client import Transport
from lineage.errors import SourceError
from lineage.records import BibEntry, ListedReference, ReferenceList, Status, Work

SOURCE = "crossref"


class Crossref:
    """A reference source (lineage.ports); every failure leaves as `SourceError`."""

    name = SOURCE

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def references(self, work: Work) -> ReferenceList:
        """The list deposited for the work's DOI; UNRESOLVED where it has none, ELIDED where the publisher keeps it."""
        doi_name = next((name for name in (work.id, *work.aliases) if name.startswith("doi:")), None)
        if not doi_name:
            return ReferenceList(SOURCE, (), None, Status.UNRESOLVED, "it has no DOI")
        try:
            answer = self._transport.get("https://api.crossref.org/works/" + quote(doi_name.removeprefix("doi:"), safe=""), shape=_is_record)
        except SourceError as error:
            if error.status is Status.NOT_FOUND:
                return ReferenceList(SOURCE, (), None, Status.UNRESOLVED, "Crossref does not know its DOI")
            raise
        return parse_references(answer.json)


def _is_record(raw: Any) -> bool:
    return bool(mapping(mapping(raw).get("message")).get("DOI"))


def parse_references(raw: Any) -> ReferenceList:
    """Crossref's record of a work as a list of references, `cr-1` onwards; raises `SourceError` for what is no record."""
    message = mapping(mapping(raw).get("message"))
    if not _is_record(raw):
        raise SourceError(Status.WRONG_TYPE, "Crossref's record cannot be read")
    expected = number(message.get("reference-count"))
    entries = tuple(parse_reference(row, f"cr-{place}") for place, row in enumerate(items(message.get("reference")), start=1))
    if len(entries) >= (expected or 0):
        return ReferenceList(SOURCE, entries, expected)
    status = Status.PARTIAL if entries else Status.ELIDED
    return ReferenceList(SOURCE, entries, expected, status, f"{len(entries)} of the {expected} references that it counts")


def parse_reference(raw: Any, key: str) -> ListedReference:
    """One deposited reference; with a work only where a DOI was deposited or matched."""
    row = mapping(raw)
    work_id = doi(row.get("DOI"))
    title = next((words for name in ("article-title", "volume-title", "series-title") if (words := text(row.get(name)))), "")
    when, where, author = year(row.get("year")), text(row.get("journal-title")), text(row.get("author"))
    written = text(row.get("unstructured")) or ". ".join(part for part in (author, title, where, str(when or "")) if part)
    authors = (author,) if author else ()
    preprint = arxiv(work_id.removeprefix("arxiv:")) if work_id and work_id.startswith("arxiv:") else None
    entry = BibEntry(
        key=key,
        raw=written,
        title=title,
        authors=authors,
        year=when,
        venue=where,
        arxiv=preprint.removeprefix("arxiv:") if preprint else None,
        doi=work_id.removeprefix("doi:") if work_id and not preprint else None,
        fields_by=SOURCE,
        note="" if work_id or written else "nothing was deposited but its place",
    )
    identifiers = ordered((work_id,))
    return ListedReference(
        Work(identifiers[0], title=title, authors=authors, year=when, venue=where, said_by=(SOURCE,)) if identifiers else None, entry
    )
