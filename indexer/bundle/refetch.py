"""What a licence kept out of a bundle, fetched once more from its source by the ordinary way, and proved to be the same.

Addresses are rebuilt from identifiers, versions and commits; none is taken from the bundle. GitHub does not promise
the same archive twice, so what is compared is the text that the same parser reads, by its hash, and each passage.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from indexer.build_context import BuildContext
from indexer.bundle.form import BundledDocument, Passage
from indexer.bundle.place import Fetched
from indexer.bundle.read import Bundle
from indexer.bundle.write import source_of
from indexer.chunking.chunker import chunks
from indexer.papers import fetch_paper
from indexer.plan import fetchable
from indexer.repositories import read_repository, tarball
from lineage.catalog import records
from lineage.errors import ParseError, SourceError
from lineage.progress import Stage
from lineage.records import Chunk, Document, Status, Work, WorkId

_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_VERSION = re.compile(r"v?([1-9]\d{0,2})\Z")
Failures = dict[WorkId, str]


def refetch(bench: BuildContext, bundle: Bundle) -> tuple[Fetched, Failures]:
    """What could be had of the texts that the bundle lacks, and why not, by work; upstream failures are not raised."""
    wanted: defaultdict[WorkId, list[BundledDocument]] = defaultdict(list)
    for document in bundle.left_out:
        wanted[document.work].append(document)
    works = [work for work in bundle.works if work.id in wanted]
    passages: defaultdict[tuple[WorkId, str], list[Passage]] = defaultdict(list)
    for passage in bundle.passages:
        passages[passage.chunk.work, passage.chunk.path].append(passage)
    texts: dict[tuple[WorkId, str], str] = {}
    rebuilt_chunks: dict[tuple[tuple[WorkId, str], str], Chunk] = {}
    failures: Failures = {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        for n, (work, (documents, why)) in enumerate(zip(works, pool.map(lambda one: documents_of(bench, one), works), strict=True), 1):
            bench.watch(Stage("fetch again", n, len(works), work.title or work.id))
            same, parts = _same(wanted[work.id], documents, passages)
            texts |= same
            rebuilt_chunks |= parts
            lost = len(wanted[work.id]) - len(same)
            if lost:
                failures[work.id] = why or f"{lost} of {len(wanted[work.id])} documents are not what they were"
    return Fetched(texts, rebuilt_chunks), failures


def documents_of(bench: BuildContext, work: Work) -> tuple[Sequence[Document], str]:
    """The documents of a work as its source hands it out now, or why there are none."""
    try:
        if source_of(work) == "GitHub":
            return _repository(bench, work)
        arxiv = fetchable(work)
        if arxiv and work.kind == "paper":
            paper_text = fetch_paper(bench, arxiv, work, _version(work))
            return ((paper_text.document,), "") if paper_text.document else ((), f"{paper_text.status}: {paper_text.detail}")
    except (SourceError, ParseError) as error:
        return (), f"{error.status}: {error}"
    return (), "nobody hands it out: it was a file of the maker's own"


def _repository(bench: BuildContext, work: Work) -> tuple[Sequence[Document], str]:
    commit = str(work.meta.get("commit"))
    if not _COMMIT.match(commit):
        raise SourceError(Status.NOT_FOUND, "the bundle names no commit")
    return read_repository(bench, work.id, tarball(bench, work)).documents, ""


def _version(work: Work) -> str:
    match = _VERSION.match(str(work.meta.get("version") or ""))
    return f"v{match[1]}" if match else ""


def _same(
    wanted: Iterable[BundledDocument], documents: Iterable[Document], passages: Mapping[tuple[WorkId, str], Sequence[Passage]]
) -> tuple[dict[tuple[WorkId, str], str], dict[tuple[tuple[WorkId, str], str], Chunk]]:
    """Of what was found, the texts and passages whose hashes are those of the bundle."""
    here = {(document.work, records.clean(document.path)): document for document in documents}
    texts: dict[tuple[WorkId, str], str] = {}
    rebuilt_chunks: dict[tuple[tuple[WorkId, str], str], Chunk] = {}
    for bundled_document in wanted:
        place = (bundled_document.work, bundled_document.path)
        document = here.get(place)
        if not document or document.parser != bundled_document.parser or digest(document.text) != bundled_document.sha256:
            continue
        parts = {chunk.id: chunk for chunk in chunks(replace(document, blob=bundled_document.blob))}
        expected_digests = {passage.chunk.id: passage.digest for passage in passages.get(place, ())}
        if all(name in parts and records.digest(records.chunk_values(parts[name])) == digest for name, digest in expected_digests.items()):
            texts[place] = document.text
            rebuilt_chunks |= {(place, name): parts[name] for name in expected_digests}
    return texts, rebuilt_chunks


def digest(text: str) -> str:
    """The hash of a text as a catalogue keeps it."""
    return hashlib.sha256(records.clean(text).encode()).hexdigest()
