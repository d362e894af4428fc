"""OpenAlex as an optional source of references: two requests, and one more per 50 references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from indexer.sources.fields import arxiv, doi, items, mapping, number, ordered, text, year
from indexer.transport.client import Transport
from lineage.errors import SourceError
from lineage.records import BibEntry, ListedReference, ReferenceList, Status, Work, WorkId

SOURCE = "openalex"
WORKS = "https://api.openalex.org/works"
FIELDS = "id,doi,title,publication_year,authorships,primary_location,ids,locations"
_CITED = {"select": "id,referenced_works,referenced_works_count"}
BATCH = 50
_ID = re.compile(r"https://openalex\.org/(W\d{1,12})\Z")


class OpenAlex:
    """A reference source (lineage.ports); every failure leaves as `SourceError`."""

    name = SOURCE

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def references(self, work: Work) -> ReferenceList:
        """The works that OpenAlex has the work cite; those it does not describe are entries with its identifier only."""
        name = _doi_of(work)
        if not name:
            return ReferenceList(SOURCE, (), None, Status.UNRESOLVED, "it has neither a DOI nor an arXiv id")
        try:
            answer = self._transport.get(
                f"{WORKS}/doi:{quote(name, safe='/:')}", params=_CITED, shape=lambda row: isinstance(mapping(row).get("referenced_works"), list)
            )
        except SourceError as error:
            if error.status is Status.NOT_FOUND:
                return ReferenceList(SOURCE, (), None, Status.UNRESOLVED, "OpenAlex does not know its DOI")
            raise
        cited = cited_ids(answer.json)
        rows: dict[str, Any] = {}
        for start in range(0, len(cited), BATCH):
            rows |= self._described(cited[start : start + BATCH])
        entries = tuple(parse_reference(rows.get(cited_id), cited_id, f"oa-{place}") for place, cited_id in enumerate(cited, start=1))
        return _list(entries, number(mapping(answer.json).get("referenced_works_count")))

    def _described(self, cited: Sequence[str]) -> dict[str, Any]:
        query: dict[str, str | int] = {"filter": "openalex:" + "|".join(cited), "per-page": BATCH, "select": FIELDS}
        result_rows = items(
            mapping(self._transport.get(WORKS, params=query, shape=lambda row: isinstance(mapping(row).get("results"), list)).json).get("results")
        )
        return {name[1]: row for row in result_rows if (name := _ID.match(text(mapping(row).get("id"))))}


def _list(entries: tuple[ListedReference, ...], expected: int | None) -> ReferenceList:
    if len(entries) >= (expected or 0):
        return ReferenceList(SOURCE, entries, expected)
    return ReferenceList(SOURCE, entries, expected, Status.PARTIAL, f"{len(entries)} of the {expected} references that it counts")


def _doi_of(work: Work) -> str:
    for name in (work.id, *work.aliases):
        scheme, _, identifier = name.partition(":")
        if scheme in {"doi", "arxiv"}:
            return identifier if scheme == "doi" else f"10.48550/arxiv.{identifier}"
    return ""


def cited_ids(raw: Any) -> tuple[str, ...]:
    """OpenAlex's own identifiers of what a work cites, each once."""
    matches = (_ID.match(text(url)) for url in items(mapping(raw).get("referenced_works")))
    return tuple(dict.fromkeys(name[1] for name in matches if name))


def parse_work(raw: Any) -> Work | None:
    """A work, or None where it has neither a DOI nor an arXiv id."""
    row = mapping(raw)
    pages = (text(mapping(place).get("landing_page_url")) for place in [row.get("primary_location"), *items(row.get("locations"))])
    preprints = (_arxiv_of(page) for page in pages)
    identifiers = ordered((doi(row.get("doi")), *preprints))
    if not identifiers:
        return None
    primary = mapping(row.get("primary_location"))
    return Work(
        id=identifiers[0],
        title=text(row.get("title")),
        authors=tuple(
            filter(None, (text(mapping(mapping(authorship).get("author")).get("display_name")) for authorship in items(row.get("authorships"))))
        ),
        year=year(row.get("publication_year")),
        venue=text(mapping(primary.get("source")).get("display_name")),
        aliases=identifiers[1:],
        license=text(primary.get("license")) or None,
        said_by=(SOURCE,),
    )


def _arxiv_of(page: str) -> WorkId | None:
    match = re.match(r"https?://arxiv\.org/(?:abs|pdf)/([a-zA-Z./-]{0,20}[\d.]{4,12})(?:v\d+)?\Z", page)
    return arxiv(match[1]) if match else None


def parse_reference(raw: Any, name: str, key: str) -> ListedReference:
    """One cited work, `name` being OpenAlex's identifier of it."""
    work = parse_work(raw)
    title = text(mapping(raw).get("title"))
    when = year(mapping(raw).get("publication_year"))
    note = "" if work else "without an identifier" if title else "OpenAlex does not describe it"
    written = ". ".join(part for part in (title, str(when or "")) if part) or f"openalex.org/{name}"
    return ListedReference(work, BibEntry(key, written, title, work.authors if work else (), when, fields_by=SOURCE, note=note))
