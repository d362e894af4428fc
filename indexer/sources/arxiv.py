"""arXiv: metadata through the `arxiv` package, with our transport put under it, and e-prints and PDFs as bytes.

The package has no time-outs, retries what will not change and passes over errors that arXiv sends as entries with
status 200; so it neither waits nor retries here, and a feed is looked at before the package sees it.
"""

from __future__ import annotations

import logging
import re
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from indexer.archives.sniff import sniff
from indexer.sources.fields import arxiv, doi, ordered, text
from indexer.transport.cache import CachedResponse
from indexer.transport.client import Transport
from lineage import ids
from lineage.errors import SourceError
from lineage.ids import Target
from lineage.records import Blob, Scalar, Status, Work, WorkId

BATCH = 200
"""Identifiers in one request: they go in the address, which must not grow too long."""
_MEDIA = {"gzip": "application/gzip", "tar": "application/x-tar", "pdf": "application/pdf", "tex": "text/x-tex", "text": "text/x-tex"}
SOURCE = "arxiv"
_WITHDRAWN = re.compile(
    r"\b(?:paper|article|submission|manuscript|preprint|version)\b[^.]{0,60}\bwithdrawn\b"
    r"|^\W*withdrawn\b|\bwithdrawn by (?:the |arxiv|author)",
    re.IGNORECASE,
)
_ERROR = re.compile(rb"arxiv\.org/api/errors#([^<\"\s]{0,200})")


class Arxiv:
    """A metadata source and the source of papers' bytes; every failure leaves as `SourceError`."""

    name = "arxiv"

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._client: Any = None
        self._lock = threading.Lock()

    def paper(self, target: Target) -> Work | None:
        """What arXiv says of one work, in the version asked for; None where it is not on arXiv."""
        if not target.id or not target.id.startswith("arxiv:"):
            return None
        return self._query([target.id.removeprefix("arxiv:") + target.version]).get(target.id)

    def papers(self, ids: Sequence[WorkId]) -> dict[WorkId, Work]:
        """The same for many, 200 a request; ids that arXiv does not know, or that are none of its own, are absent."""
        names = [work.removeprefix("arxiv:") for work in wanted(ids)]
        works_by_key: dict[WorkId, Work] = {}
        for start in range(0, len(names), BATCH):
            works_by_key |= self._query(names[start : start + BATCH])
        return works_by_key

    def _query(self, names: Sequence[str]) -> dict[WorkId, Work]:
        """One request; if arXiv chokes on an identifier, halves of it until the bad one stands alone."""
        try:
            return self._feed(names)
        except SourceError as error:
            if error.status is not Status.NOT_FOUND:
                raise
            if len(names) == 1:
                return {}
            half = len(names) // 2
            return self._query(names[:half]) | self._query(names[half:])

    def _feed(self, names: Sequence[str]) -> dict[WorkId, Work]:
        package, client = self._package()
        works_by_key: dict[WorkId, Work] = {}
        try:
            for result in client.results(package.Search(id_list=list(names), max_results=len(names))):
                work = parse_entry(result)
                works_by_key |= {work.id: work} if work else {}
        except (package.ArxivError, ValueError) as error:  # ValueError: a date that is none
            if not works_by_key:
                raise SourceError(Status.WRONG_TYPE, f"arXiv's feed cannot be read: {type(error).__name__}") from None
        return works_by_key

    def eprint(self, arxiv: WorkId, version: str = "") -> Blob:
        """The source of a paper as arXiv has it: gzip, tar, TeX or, where that is all there is, the PDF.

        `media_type` is what the bytes are. Raises `SourceError`: WITHDRAWN, NOT_FOUND, and WRONG_TYPE for
        PostScript and other formats that hold no TeX.
        """
        answer = self._file("e-print", arxiv, version, self._transport.settings.max_eprint)
        kind = sniff(answer.start)
        if kind not in _MEDIA:
            raise SourceError(Status.WRONG_TYPE, f"the e-print is {_said(kind)}, not TeX", url=answer.url)
        if kind in {"gzip", "tex", "text"} and _is_withdrawn(answer.start):
            raise SourceError(Status.WITHDRAWN, "the authors withdrew it; this version has no source", url=answer.url)
        return replace(answer.blob, media_type=_MEDIA[kind])

    def pdf(self, arxiv: WorkId, version: str = "") -> Blob:
        """The PDF of a paper; raises `SourceError`."""
        answer = self._file("pdf", arxiv, version, self._transport.settings.max_pdf)
        kind = sniff(answer.start)
        if kind != "pdf":
            raise SourceError(Status.WRONG_TYPE, f"{_said(kind)} came instead of the PDF", url=answer.url)
        return replace(answer.blob, media_type=_MEDIA[kind])

    def _file(self, what: str, arxiv: WorkId, version: str, cap: int) -> CachedResponse:
        name = arxiv.removeprefix("arxiv:") + version
        answer = self._transport.get(f"https://export.arxiv.org/{what}/{name}", accept="file", max_bytes=cap)
        if answer.start.lstrip()[:1] in {b"{", b"["} or answer.start.strip() == b"null":  # a message to programs, not to be kept
            self._transport.forget(answer)
            raise SourceError(Status.WRONG_TYPE, "JSON came instead of a file", url=answer.url)
        return answer

    def _package(self) -> tuple[Any, Any]:
        """The package and its client with our session; made once."""
        import arxiv as package

        with self._lock:
            if self._client is None:
                logging.getLogger("arxiv").setLevel(logging.ERROR)
                self._client = package.Client(page_size=BATCH, delay_seconds=0.0, num_retries=0)
                self._client._session = _Session(self._transport)  # noqa: SLF001 -- the package has no other way in
            return package, self._client


def _said(kind: str) -> str:
    return {"postscript": "PostScript", "html": "a web page", "empty": "nothing", "binary": "an unknown format"}.get(kind, kind)


def _is_withdrawn(head: bytes) -> bool:
    """Whether a source is arXiv's stand-in for a withdrawn paper: a few lines that begin with %auto-ignore."""
    if head.startswith(b"\x1f\x8b"):
        inflate = zlib.decompressobj(31)
        try:
            head = inflate.decompress(head, 4096)
        except zlib.error:
            return False
        if not inflate.eof:
            return False
    return head.lstrip().startswith(b"%auto-ignore") and b"withdrawn" in head.lower() and b"\\documentclass" not in head


@dataclass(frozen=True)
class _Response:
    """What the package reads of a response."""

    content: bytes
    status_code: int = 200


class _Session:
    """Stands where the package keeps its `requests.Session`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, url: str, headers: Any = None) -> _Response:
        """The feed; raises `SourceError`, NOT_FOUND for an error that came as an entry.

        A feed without entries for identifiers that were asked for is asked for once more: arXiv sends such pages
        by mistake, and a mistake would be kept for ever.
        """
        answer = self._transport.get(url, accept="atom")
        feed = answer.body
        if b"<entry" not in feed and not answer.cached:
            self._transport.forget(answer)
            answer = self._transport.get(url, accept="atom")
            feed = answer.body
        feed_error = error_entry(feed)
        if feed_error:
            raise SourceError(Status.NOT_FOUND, f"arXiv says: {feed_error}", url=url)
        return _Response(feed)


def parse_entry(result: Any) -> Work | None:
    """An `arxiv.Result` as a work, or None where its address holds no identifier.

    `meta` has version (a number), comment, journal_ref, categories, published, updated, pdf_url and withdrawn.
    """
    name = str(result.entry_id).partition("/abs/")[2]
    id_and_version = ids.arxiv_id(name)
    if not id_and_version:
        return None
    identifiers = ordered((id_and_version[0], doi(result.doi)))
    comment, abstract = text(result.comment), text(result.summary)
    meta: dict[str, Scalar] = {
        "version": int(id_and_version[1].removeprefix("v") or 0) or None,
        "comment": comment,
        "journal_ref": text(result.journal_ref),
        "categories": " ".join(result.categories),
        "published": result.published.date().isoformat(),
        "updated": result.updated.date().isoformat(),
        "pdf_url": text(result.pdf_url),
        "links": " ".join(sorted({link.href for link in result.links if link.title != "pdf" and "/abs/" not in link.href})),
        "withdrawn": is_withdrawn(comment, abstract) or None,
    }
    return Work(
        id=identifiers[0],
        title=text(result.title),
        authors=tuple(text(author.name) for author in result.authors if text(author.name)),
        year=result.published.year,
        venue=text(result.journal_ref),
        abstract=abstract,
        aliases=identifiers[1:],
        license=next((link.href for link in result.links if link.rel == "license"), None),
        said_by=(SOURCE,),
        meta={key: value for key, value in meta.items() if value not in (None, "")},
    )


def is_withdrawn(comment: str, abstract: str) -> bool:
    """Whether a submission says of itself that it was withdrawn; abstracts only count in their beginning."""
    return bool(_WITHDRAWN.search(comment[:2000]) or _WITHDRAWN.search(abstract[:160]))


def error_entry(feed: bytes) -> str | None:
    """What arXiv says is wrong, where a feed is an error in disguise (it comes with status 200); else None."""
    match = _ERROR.search(feed)
    return match[1].decode("utf-8", "replace").replace("_", " ") if match else None


def wanted(works: Any) -> list[WorkId]:
    """The arXiv identifiers among some, each once."""
    return [work for work in dict.fromkeys(works) if work.startswith("arxiv:") and arxiv(work)]
