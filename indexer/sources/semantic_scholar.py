"""Semantic Scholar through the `semanticscholar` package over our transport, and its records as ours.

The package builds the requests; what it does with answers is not used, because it drops the key on reference pages,
takes a 503 for an empty paper, ends a list at a short page and fails on `data: null`. So our requester sends,
follows the pages by their own `next`, and hands every answer through the package unopened, in a `_Carrier`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from indexer.sources.fields import arxiv, doi, items, mapping, names, number, ordered, text, year
from indexer.transport.client import Transport
from lineage import ids
from lineage.errors import SourceError
from lineage.ids import Target
from lineage.records import BibEntry, ListedReference, Mention, ReferenceList, Scalar, Status, Work, WorkId
from lineage.references.same_work import true_year

SOURCE = "semantic_scholar"
PAPER_FIELDS = (
    *("externalIds", "title", "authors", "year", "venue", "abstract", "url", "referenceCount", "citationCount"),
    *("isOpenAccess", "openAccessPdf", "publicationDate", "publicationTypes", "corpusId"),
)
EDGE_FIELDS = ("contexts", "intents", "isInfluential", "contextsWithIntent")
CITED_FIELDS = ("externalIds", "title", "authors", "year", "venue", "abstract", "citationCount", "corpusId", "openAccessPdf", "publicationDate")


def parse_paper(raw: Any) -> Work | None:
    """A paper, or None for what has no usable identifier; `meta` holds counts, dates and what the publisher held back."""
    row = mapping(raw)
    identifiers = _identifiers(row)
    if not identifiers:
        return None
    access = mapping(row.get("openAccessPdf"))
    return Work(
        id=identifiers[0],
        title=text(row.get("title")),
        authors=names(row.get("authors")),
        year=true_year(year(row.get("year")) or year(row.get("publicationDate")), identifiers),
        venue=text(row.get("venue")) or text(mapping(row.get("publicationVenue")).get("name")) or text(mapping(row.get("journal")).get("name")),
        abstract=text(row.get("abstract")),
        aliases=identifiers[1:],
        license=text(access.get("license")) or None,
        said_by=(SOURCE,),
        meta=_meta(row, access),
    )


def _identifiers(row: Mapping[str, Any]) -> tuple[WorkId, ...]:
    external = mapping(row.get("externalIds"))
    corpus = number(row.get("corpusId")) or number(external.get("CorpusId"))
    acl = text(external.get("ACL"))
    return ordered(
        (
            arxiv(external.get("ArXiv")),
            doi(external.get("DOI")),
            ids.s2_id(text(row.get("paperId"))),
            WorkId(f"s2:CorpusId:{corpus}") if corpus else None,
            WorkId(f"acl:{acl}") if acl else None,
        )
    )


def _meta(row: Mapping[str, Any], access: Mapping[str, Any]) -> dict[str, Scalar]:
    meta_fields: dict[str, Scalar] = {
        "referenceCount": number(row.get("referenceCount")),
        "citationCount": number(row.get("citationCount")),
        "publicationDate": text(row.get("publicationDate")),
        "publicationTypes": ", ".join(names(row.get("publicationTypes"))),
        "pdf_url": text(access.get("url")),
        "notice": text(access.get("disclaimer")),
        "matchScore": text(row.get("matchScore")),
    }
    return {name: value for name, value in meta_fields.items() if value not in (None, "")}


def with_target(work: Work, asked: WorkId | None) -> Work:
    """The work under all its names: what it was asked by is one of them, though the service may not list it."""
    identifiers = ordered((work.id, *work.aliases, asked))
    return replace(work, id=identifiers[0], aliases=identifiers[1:])


def parse_references(rows: Sequence[Any], expected: int | None, status: Status = Status.OK, detail: str = "") -> ReferenceList:
    """Every row as an entry, `s2-1` onwards; a work that is listed twice is one entry with the mentions of both.

    OK becomes PARTIAL when fewer rows came than `expected`, which is what the paper's own record claims.
    """
    entries: dict[str, ListedReference] = {}
    for place, row in enumerate(rows, start=1):
        entry = parse_reference(row, f"s2-{place}")
        name = entry.work.id if entry.work else entry.entry.key
        entries[name] = _joined(entries[name], entry) if name in entries else entry
    words = [detail] if detail else []
    if status is Status.OK and expected is not None and len(rows) < expected:
        status = Status.PARTIAL
        words.append(f"{len(rows)} of the {expected} references that it counts")
    if len(entries) < len(rows):
        words.append(f"{len(rows) - len(entries)} listed more than once")
    unknown = sum(not entry.work for entry in entries.values())
    if unknown:
        words.append(f"{unknown} without an identifier")
    return ReferenceList(SOURCE, tuple(entries.values()), expected, status, "; ".join(words))


def _joined(first: ListedReference, again: ListedReference) -> ListedReference:
    more = tuple(replace(mention, key=first.entry.key) for mention in again.mentions)
    fresh = tuple(mention for mention in more if mention not in first.mentions)
    return replace(first, mentions=first.mentions + fresh, influential=first.influential or again.influential)


def parse_reference(raw: Any, key: str) -> ListedReference:
    """One row: the work it was resolved to, the entry as the service has it, and the sentences that cite it."""
    row = mapping(raw)
    cited = mapping(row.get("citedPaper"))
    work = parse_paper(cited)
    external = mapping(cited.get("externalIds"))
    work_ids = arxiv(external.get("ArXiv")), doi(external.get("DOI"))
    title, authors = text(cited.get("title")), names(cited.get("authors"))
    when, where = year(cited.get("year")), text(cited.get("venue"))
    entry_parts = (", ".join(authors[:3]) + (" et al." if len(authors) > 3 else ""), title, where, str(when or ""))
    entry = BibEntry(
        key=key,
        raw=". ".join(part for part in entry_parts if part),
        title=title,
        authors=authors,
        year=when,
        venue=where,
        arxiv=work_ids[0].removeprefix("arxiv:") if work_ids[0] else None,
        doi=work_ids[1].removeprefix("doi:") if work_ids[1] else None,
        fields_by=SOURCE,
        note="" if work else "without an identifier" if title else "without a title or an identifier",
    )
    return ListedReference(work, entry, _mentions(row, key), row.get("isInfluential") is True)


def _mentions(row: Mapping[str, Any], key: str) -> tuple[Mention, ...]:
    """The sentences of `contexts`, each with the intents given for it, or those of the whole row."""
    own = {text(mapping(pair).get("context")): names(mapping(pair).get("intents")) for pair in items(row.get("contextsWithIntent"))}
    sentences = dict.fromkeys([*(text(context) for context in items(row.get("contexts"))), *own])
    general = names(row.get("intents"))
    return tuple(Mention(key, sentence, said_by=SOURCE, intents=own.get(sentence) or general) for sentence in sentences if sentence)


PAGE = 500
LAST = 9_999
"""The service answers no further than this offset and limit together."""


class SemanticScholar:
    """A metadata and reference source (lineage.ports); every failure leaves as `SourceError`."""

    name = "semantic_scholar"

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._client: Any = None
        self._lock = threading.Lock()

    def paper(self, target: Target) -> Work | None:
        """What the service says of one work, None if it does not know it; a title is matched."""
        if target.title:
            return next(iter(self.match(target.title)), None)
        try:
            carried = self._package().get_paper(quote(target.lookup, safe=":/"), fields=list(PAPER_FIELDS))
        except SourceError as error:
            if error.status is Status.NOT_FOUND:
                return None
            raise
        work = parse_paper(carried.raw_data.carried)
        if not work:
            raise SourceError(Status.WRONG_TYPE, f"Semantic Scholar's record of {target.lookup} cannot be read")
        return with_target(work, target.id)

    def references(self, work: Work) -> ReferenceList:
        """Everything the service lists for `work`, with the sentences that cite it.

        ELIDED where the publisher has the list held back, PARTIAL where less came than `referenceCount` in
        `work.meta` claims or the pages ended badly; `detail` says so in words. Raises `SourceError`.
        """
        name = next(
            (lookup_name for known_id in (*work.aliases, work.id) if known_id.startswith("s2:") and (lookup_name := lookup(known_id))), None
        ) or lookup(work.id)
        if not name:
            return ReferenceList(self.name, (), None, Status.UNRESOLVED, f"{work.id} cannot be looked up at Semantic Scholar")
        fields = [*EDGE_FIELDS, *CITED_FIELDS]
        listing = self._package().get_paper_references(quote(name, safe=":/"), fields=fields, limit=PAGE).raw_data
        return parse_references(listing.rows, number(work.meta.get("referenceCount")), listing.status, listing.detail)

    def match(self, title: str) -> list[Work]:
        """Candidates for a title, the best first; the caller compares their titles with what was asked."""
        words = " ".join(title.split())[:300]
        try:
            carried = self._package().search_paper(quote(words, safe=""), fields=list(PAPER_FIELDS), match_title=True)
        except SourceError as error:
            if error.status is Status.NOT_FOUND:
                return []
            raise
        answer = carried.raw_data.carried
        works = (parse_paper(row) for row in items(mapping(answer).get("data")))
        return [work for work in works if work]

    def _package(self) -> Any:
        """The package's client with our requester; made once, because importing it takes a while."""
        with self._lock:
            if self._client is None:
                self._client = _client(self._transport)
            return self._client


def lookup(work: WorkId) -> str:
    """The form in which Semantic Scholar understands an identifier, or the empty string."""
    scheme, _, identifier = work.partition(":")
    prefix = {"arxiv": "ARXIV:", "doi": "DOI:", "s2": "", "acl": "ACL:"}.get(scheme)
    return prefix + identifier if prefix is not None and identifier else ""


class _Carrier(dict[str, Any]):
    """An answer on its way through the package, which sees an object without content and so cannot stumble over it."""

    def __init__(self, carried: Any) -> None:
        super().__init__(paperId="")
        self.carried = carried


class _Listing(list[Any]):
    """The rows of all pages on their way through the package, which sees an empty page; and how the paging ended."""

    def __init__(self, rows: list[Any], status: Status, detail: str) -> None:
        super().__init__()
        self.rows, self.status, self.detail = rows, status, detail


def read_pages(fetch: Any) -> _Listing:
    """Follow `next` until there is none; `fetch(offset, limit)` gives a page.

    An array, an empty array, null and no array at all are four cases. A page that goes nowhere or repeats
    rows of the page before it ends the list as PARTIAL; so does the service's own end at 10,000.
    """
    rows: list[Any] = []
    offset, limit, before = 0, PAGE, None
    while offset + limit <= LAST:
        try:
            page = fetch(offset, limit)
        except SourceError as error:
            if error.status is not Status.TOO_LARGE or limit < 20:
                raise
            limit //= 5
            continue
        data = mapping(page).get("data")
        if not isinstance(data, list):
            return _without_rows(page, rows)
        if data and data == before:
            return _Listing(rows, Status.PARTIAL, "its pages repeat themselves")
        rows, before = rows + data, data
        following = mapping(page).get("next")
        if following is None:
            return _Listing(rows, Status.OK, "")
        step = number(following)
        if step is None or step <= offset or not data:
            return _Listing(rows, Status.PARTIAL, "its pages lead nowhere")
        offset = step
    return _Listing(rows, Status.PARTIAL, "it lists no more than 10,000")


def _without_rows(page: Any, rows: list[Any]) -> _Listing:
    answer = mapping(page)
    if answer.get("data", page) is None:
        notice = text(mapping(mapping(answer.get("citingPaperInfo")).get("openAccessPdf")).get("disclaimer"))
        return _Listing(rows, Status.ELIDED, (notice or "the publisher has the list held back")[:300])
    if rows:
        return _Listing(rows, Status.PARTIAL, "a page cannot be read")
    raise SourceError(Status.WRONG_TYPE, "Semantic Scholar's list of references cannot be read")


def _client(transport: Transport) -> Any:
    from semanticscholar import SemanticScholar as Package
    from semanticscholar.ApiRequester import ApiRequester

    class Requester(ApiRequester):  # type: ignore[misc]
        """Sends through our transport, which adds the key, waits, retries and keeps the answers."""

        async def get_data_async(self, url: str, parameters: str, headers: Any, payload: Any = None) -> Any:
            address = f"{url}?{parameters.lstrip('&')}" if parameters else url
            if url.endswith("/references"):
                return {"data": read_pages(lambda offset, limit: transport.get(_page(address, offset, limit), shape=_has("data")).json)}
            if url.endswith("/search/match"):
                return {"data": [_Carrier(transport.get(address, shape=_has("data")).json)]}
            return _Carrier(transport.get(address, shape=_has("paperId")).json)

    with _quiet():
        client = Package()
    inner = client._AsyncSemanticScholar  # noqa: SLF001 -- the package has no other way in
    inner._requester = Requester(timeout=transport.settings.deadline, retry=False)  # noqa: SLF001
    return client


def _has(field: str) -> Callable[[Any], bool]:
    """Whether an answer is an object with that field."""
    return lambda value: isinstance(value, dict) and field in value


def _page(address: str, offset: int, limit: int) -> str:
    """The address of a page; the package's own offset and limit are replaced."""
    url, _, query = address.partition("?")
    query_pairs = [(name, value) for name, value in parse_qsl(query) if name not in {"offset", "limit"}]
    return f"{url}?{urlencode([*query_pairs, ('offset', offset), ('limit', limit)], safe=',')}"


@contextmanager
def _quiet() -> Iterator[None]:
    """The package's constructor calls `logging.basicConfig`, which does nothing where the root has a handler."""
    logging.getLogger("semanticscholar").setLevel(logging.ERROR)
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
