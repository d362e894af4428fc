"""Semantic Scholar through the `semanticscholar` package, with our transport put under it.

The package builds the requests; what it does with answers is not used, because it drops the key on reference pages,
takes a 503 for an empty paper, ends a list at a short page and fails on `data: null`. So our requester sends,
follows the pages by their own `next`, and hands every answer through the package unopened, in a `_Carrier`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from indexer.sources.fields import items, mapping, number, text
from indexer.sources.scholar_records import CITED_FIELDS, EDGE_FIELDS, PAPER_FIELDS, parse_paper, parse_references, with_target
from indexer.transport.client import Transport
from lineage.errors import SourceError
from lineage.ids import Target
from lineage.records import ReferenceList, Status, Work, WorkId

BATCH = 500
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

    def papers(self, ids: Sequence[WorkId]) -> dict[WorkId, Work]:
        """The same for many, 500 a request; works that the service does not know or cannot look up are absent."""
        wanted = [(work, name) for work in dict.fromkeys(ids) if (name := lookup(work))]
        works_by_key: dict[WorkId, Work] = {}
        for start in range(0, len(wanted), BATCH):
            works_by_key |= self._batch(wanted[start : start + BATCH])
        return works_by_key

    def _batch(self, wanted: Sequence[tuple[WorkId, str]]) -> dict[WorkId, Work]:
        try:
            carried = self._package().get_papers([name for _, name in wanted], fields=list(PAPER_FIELDS))
        except SourceError as error:
            if error.status is Status.NOT_FOUND:
                return {}
            raise
        rows = items(carried[0].raw_data.carried)
        if len(rows) != len(wanted):
            raise SourceError(Status.WRONG_TYPE, f"Semantic Scholar answered {len(rows)} rows for {len(wanted)} papers")
        read = ((work, parse_paper(row)) for (work, _), row in zip(wanted, rows, strict=True))
        return {work: with_target(paper, work) for work, paper in read if paper}

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
            if payload:
                return [_Carrier(transport.post(address, json_body=payload, shape=_is_array).json)]
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


def _is_array(value: Any) -> bool:
    return isinstance(value, list)


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
