"""`lineage check --against-source`: fetch every pinned repository and paper again and compare.

Nothing that is remembered counts as an answer, and nothing is remembered of these. GitHub does not promise the same archive twice, so
what is compared is the text that the same parser reads of each file, by its hash.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexer.build_context import BuildContext
from indexer.bundle.write import source_of
from indexer.papers import fetch_paper
from indexer.plan import fetchable
from indexer.read_document import ReadDocument
from indexer.repositories import read_repository, tarball
from indexer.store.blobs import Blobs
from indexer.store.computed_cache import DerivedCache
from indexer.transport.cache import Answers, CachedResponse, Request
from indexer.transport.client import Transport
from lineage.catalog import records
from lineage.catalog.reader import StoredDocument
from lineage.errors import ParseError, SourceError
from lineage.generation import Generation
from lineage.progress import Stage, Waiting, Watch
from lineage.records import Status, Work
from lineage.settings import Settings

Verdict = Literal["match", "differs", "gone", "not checked"]
_ENDS: dict[str, Verdict] = {Status.NOT_FOUND: "gone", Status.GONE: "gone", Status.WITHDRAWN: "gone", Status.HASH_MISMATCH: "differs"}
_ABSTRACT = "abstract@1"
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_VERSION = re.compile(r"v?([1-9]\d{0,2})\Z")


@dataclass(frozen=True)
class SourceCheck:
    """A work as its source hands it out now: `checked` of its files were compared, `same` of them are what the lineage has."""

    lineage: str
    work: str
    verdict: Verdict
    checked: int
    same: int
    detail: str = ""


class Afresh:
    """Makes a transport for which nothing is remembered."""

    def transport(self, settings: Settings, blobs: Blobs, watch: Watch) -> Transport:
        """A transport that asks every time and keeps no answer."""
        made = Transport(settings, blobs, watch=lambda text: watch(Waiting(text)))
        made.answers = _Unkept(settings.home, blobs)
        return made

    def derived(self, home: Path) -> DerivedCache:
        """What parsers made of the same bytes is what they would make again."""
        return DerivedCache(home)


class _Unkept(Answers):
    def get(self, request: Request) -> CachedResponse | None:
        return None

    def keep(self, request: Request, answer: CachedResponse) -> None:
        pass


def against_source(bench: BuildContext, generation: Generation) -> Iterator[SourceCheck]:
    """Compare every work that has a text with its source; `bench` is made with `Afresh`."""
    stored: defaultdict[str, list[StoredDocument]] = defaultdict(list)
    for document in generation.catalog.documents():
        if document.parser != _ABSTRACT:
            stored[document.work].append(document)
    works = [work for work in generation.catalog.works() if work.id in stored]
    for n, work in enumerate(works, 1):
        bench.watch(Stage("compare", n, len(works), work.title or work.id))
        yield _compared(generation.manifest.lineage, work, stored[work.id], *documents_of(bench, work))


def _compared(lineage: str, work: Work, stored: Sequence[StoredDocument], now: Sequence[ReadDocument], why: str) -> SourceCheck:
    if not now:
        return SourceCheck(lineage, work.id, _ENDS.get(why.partition(":")[0], "not checked"), 0, 0, why)
    here = {records.clean(document.path): document for document in now}
    known = [(document, here.get(document.path)) for document in stored]
    comparable = [(document, other) for document, other in known if other is None or other.parser == document.parser]
    other_names = [document.path for document, other in comparable if other is None or digest(other.text) != document.sha256]
    if not comparable:
        return SourceCheck(lineage, work.id, "not checked", 0, 0, "other versions of the parsers read it")
    detail = f"not as its source has it: {', '.join(other_names[:3])}{' ...' if other_names[3:] else ''}" if other_names else ""
    return SourceCheck(lineage, work.id, "differs" if other_names else "match", len(comparable), len(comparable) - len(other_names), detail)


def documents_of(bench: BuildContext, work: Work) -> tuple[Sequence[ReadDocument], str]:
    """The documents of a work as its source provides them now, or why there are none."""
    try:
        if source_of(work) == "GitHub":
            return _repository(bench, work)
        arxiv = fetchable(work)
        if arxiv and work.kind == "paper":
            paper_text = fetch_paper(bench, arxiv, work, _version(work))
            return ((paper_text.document,), "") if paper_text.document else ((), f"{paper_text.status}: {paper_text.detail}")
    except (SourceError, ParseError) as error:
        return (), f"{error.status}: {error}"
    return (), "it has no public source: it was a local file of the maker"


def _repository(bench: BuildContext, work: Work) -> tuple[Sequence[ReadDocument], str]:
    commit = str(work.meta.get("commit"))
    if not _COMMIT.match(commit):
        raise SourceError(Status.NOT_FOUND, "the bundle names no commit")
    return read_repository(bench, work.id, tarball(bench, work)).documents, ""


def _version(work: Work) -> str:
    match = _VERSION.match(str(work.meta.get("version") or ""))
    return f"v{match[1]}" if match else ""


def digest(text: str) -> str:
    """The hash of a text as a catalogue keeps it."""
    return hashlib.sha256(records.clean(text).encode()).hexdigest()
