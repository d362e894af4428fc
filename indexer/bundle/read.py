"""Read a bundle's file as checked records. The file is untrusted: everything in it is validated.

Members are streamed out of the archive under caps (`indexer.archives.members`: links, devices, names that climb, bombs and
doubles are refused there), each is held against its hash, every line against its record, the records against
each other. Whatever does not fit is a `BadBundle`, before anything is written.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, cast

import numpy as np

from indexer.archives import members as archive
from indexer.bundle import form
from indexer.bundle.form import BundledDocument, BundleManifest, Meta, Passage
from indexer.lock.form import excess, without_files
from lineage import ids
from lineage.decisions import Decision, bounded
from lineage.errors import BadBundle, BadIdentifier, NotFound, there
from lineage.ports import Vectors
from lineage.records import CodeLink, Fact, LedgerRow, Reference, Status, Work, WorkId
from lineage.text.hidden_text import inline, is_name, is_word

_AGAIN = "have it exported or copied once more"
_UNIT = 1e-3
_MOST_DECISIONS = 2_000


@dataclass(frozen=True)
class Bundle:
    """Everything a bundle holds, checked. `id` is the SHA-256 (hex) of its manifest.

    `dropped` are files of the maker's machine that its request named: they are in neither `meta` nor `plain_meta`.
    """

    id: str
    manifest: BundleManifest
    meta: Meta
    plain_meta: Mapping[str, Any]
    works: tuple[Work, ...]
    references: tuple[Reference, ...]
    links: tuple[CodeLink, ...]
    documents: tuple[BundledDocument, ...]
    passages: tuple[Passage, ...]
    facts: tuple[Fact, ...]
    ledger: tuple[LedgerRow, ...]
    decisions: tuple[Decision, ...] = ()
    dropped: tuple[str, ...] = ()
    vectors: Vectors | None = field(repr=False, default=None)

    @property
    def left_out(self) -> tuple[BundledDocument, ...]:
        """Documents whose text is not here."""
        return tuple(document for document in self.documents if document.text is None)


def read(path: Path) -> Bundle:
    """The bundle in a file; raises `NotFound` and `BadBundle`."""
    if not there(str(path)) or not path.is_file():
        raise NotFound(f"there is no file {path}", hint="check the path")
    members = _members(path)
    raw = members.pop(form.MANIFEST, None)
    if raw is None:
        raise BadBundle(f"{path} is not a bundle: it has no {form.MANIFEST}", hint="`lineage export` makes one")
    manifest = _manifest(raw)
    _check_members(manifest, members)
    bundle = _bundle(hashlib.sha256(raw).hexdigest(), manifest, members)
    for wrong in _misfits(bundle):
        raise BadBundle(f"{path}: {wrong}", hint=_AGAIN)
    return bundle


def _members(path: Path) -> dict[str, bytes]:
    """Name and bytes of every member; the first that cannot be had is an error."""
    members_by_name: dict[str, bytes] = {}
    for member in archive.members(path, form.LIMITS):
        if member.status is not Status.OK or member.data is None:
            raise BadBundle(f"{path} cannot be read as a bundle: {member.name[:100]}: {member.detail or member.status}", hint=_AGAIN)
        if member.name not in form.MEMBERS and member.name != form.MANIFEST:
            raise BadBundle(f"{path} is not a bundle of this version: it holds {member.name[:100]!r}", hint="`lineage export` makes one")
        members_by_name[member.name] = member.data
    return members_by_name


def _manifest(raw: bytes) -> BundleManifest:
    try:
        manifest_json = json.loads(raw)
        kind, version = (manifest_json.get("format"), manifest_json.get("version")) if isinstance(manifest_json, dict) else (None, None)
    except (ValueError, RecursionError):
        raise BadBundle(f"{form.MANIFEST} cannot be read", hint=_AGAIN) from None
    if kind != form.FORMAT:
        raise BadBundle("this is not a bundle of a lineage", hint="`lineage export` makes one")
    if version != form.VERSION:
        raise BadBundle(f"the bundle has format {str(version)[:20]}, this program reads format {form.VERSION}", hint="use the version that made it")
    manifest = form.record(raw, BundleManifest, form.MANIFEST)
    try:
        ids.check_name(manifest.lineage)
    except BadIdentifier as error:
        raise BadBundle(f"{form.MANIFEST}: {error}") from None
    if any(inline(text_field) != text_field for text_field in (manifest.created, manifest.made_by, manifest.embedder)):
        raise BadBundle(f"{form.MANIFEST} holds characters that cannot be seen", hint=_AGAIN)
    return manifest


def _check_members(manifest: BundleManifest, members: Mapping[str, bytes]) -> None:
    optional = {form.DECISIONS} & set(manifest.members)
    wanted = {*form.ROWS, form.META, form.LICENSES, *optional, *((form.VECTORS,) if manifest.embedder else ())}
    if set(members) != wanted or set(manifest.members) != wanted:
        odd = ", ".join(sorted(wanted.symmetric_difference(members) | wanted.symmetric_difference(manifest.members)))
        raise BadBundle(f"the bundle's members are not those of its manifest: {odd[:200]}", hint=_AGAIN)
    for name, data in members.items():
        if form.sealed(data) != manifest.members[name]:
            raise BadBundle(f"{name} is not what was written (SHA-256 differs)", hint=_AGAIN)


def _bundle(name: str, manifest: BundleManifest, members: Mapping[str, bytes]) -> Bundle:
    rows_by_member = {member: form.rows(members[member], kind, member) for member, kind in form.ROWS.items()}
    meta = form.record(members[form.META], Meta, form.META)
    if wrong := excess(meta.request):
        raise BadBundle(f"{form.META}: {wrong}", hint=_AGAIN)
    request, dropped = without_files(meta.request)
    plain: dict[str, Any] = form.record(members[form.META], dict[str, Any], form.META)
    return Bundle(
        id=name,
        manifest=manifest,
        meta=replace(meta, request=request),
        plain_meta={**plain, "request": request.as_meta()},
        works=rows_by_member["works.jsonl"],
        references=rows_by_member["references.jsonl"],
        links=rows_by_member["links.jsonl"],
        documents=rows_by_member["documents.jsonl"],
        passages=rows_by_member["chunks.jsonl"],
        facts=rows_by_member["facts.jsonl"],
        ledger=rows_by_member["ledger.jsonl"],
        decisions=_decisions(members.get(form.DECISIONS, b"")),
        dropped=dropped,
        vectors=_vectors(members[form.VECTORS], manifest) if form.VECTORS in members else None,
    )


def _decisions(data: bytes) -> tuple[Decision, ...]:
    if data.count(b"\n") > _MOST_DECISIONS:
        raise BadBundle(f"{form.DECISIONS} has more than {_MOST_DECISIONS:,} rows")
    try:
        return tuple(map(bounded, form.rows(data, Decision, form.DECISIONS)))
    except ValueError:
        raise BadBundle(f"{form.DECISIONS} holds a row that is no decision", hint=_AGAIN) from None


def _vectors(data: bytes, manifest: BundleManifest) -> Vectors:
    wanted = (manifest.counts.get("chunks", -1), manifest.dim)
    try:
        stored_vectors = np.load(io.BytesIO(data), allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise BadBundle(f"{form.VECTORS} cannot be read: {str(error)[:100]}", hint=_AGAIN) from None
    if not isinstance(stored_vectors, np.ndarray) or stored_vectors.dtype != np.float32 or stored_vectors.shape != wanted:
        raise BadBundle(f"{form.VECTORS} does not hold float32 {wanted}", hint=_AGAIN)
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(stored_vectors, axis=1)
    if not bool(np.all(np.abs(lengths - 1.0) <= _UNIT)):
        raise BadBundle(f"{form.VECTORS} holds rows that are not unit vectors", hint=_AGAIN)
    return cast(Vectors, stored_vectors)


def _misfits(bundle: Bundle) -> Iterator[str]:
    """What in a bundle does not fit together, in words."""
    yield from _miscounts(bundle)
    work_ids = {work.id for work in bundle.works}
    if len(work_ids) != len(bundle.works):
        yield "a work is there twice"
    yield from _misnamed(bundle)
    if any(number is not None and abs(number) > form.MAX_NUMBER for number in _numbers(bundle)):
        yield "a number in it is larger than any that can be kept"
    if bundle.manifest.target != bundle.meta.target or bundle.manifest.target not in work_ids:
        yield "its target is not among its works"
    if any(not isfinite(edge.score) for edge in bundle.references):
        yield "a score is not a number"
    if twice := [row for row, n in Counter((row.kind, row.work, row.subject) for row in bundle.ledger).items() if n > 1]:
        yield f"the ledger has two rows of {twice[0]}"
    yield from _missummed(bundle)
    yield from _misplaced(bundle, work_ids)


def _misnamed(bundle: Bundle) -> Iterator[str]:
    """Identifiers and paths that are none; a row of the ledger may be of a service, not of a work."""
    works = {name for work in bundle.works for name in (work.id, *work.aliases)}
    works |= {name for edge in bundle.references for name in (edge.citing, edge.cited)}
    works |= {name for link in bundle.links for name in (link.paper, link.repo)}
    works |= {fact.work for fact in bundle.facts} | {passed.work for passed in bundle.manifest.works}
    for name in sorted(works):
        if not form.is_work(name):
            yield f"{name[:80]!a} is not an identifier of a work"
    for row in bundle.ledger:
        if not is_word(row.work):
            yield f"{row.work[:80]!a} in the ledger is not an identifier"
    for document in bundle.documents:
        if not is_name(document.path):
            yield f"the path {document.path[:80]!a} has characters that cannot be seen"


def _numbers(bundle: Bundle) -> Iterator[int | None]:
    """Every number that becomes one of the catalogue; those of a passage that lie within its document are checked there."""
    yield from (work.year for work in bundle.works)
    yield from (number for edge in bundle.references for number in (edge.number, edge.distance))
    yield from (number for document in bundle.documents for number in (document.pages, document.length))
    yield from (number for passage in bundle.passages for number in (passage.chunk.page, passage.chunk.end_line))
    yield from (fact.line for fact in bundle.facts)


def _missummed(bundle: Bundle) -> Iterator[str]:
    """Sums of the ledger that are not those of its rows."""
    rows = Counter(str(row.kind) for row in bundle.ledger)
    for key, value in bundle.plain_meta.items():
        kind = key.removeprefix("ledger_in.")
        if kind != key and (type(value) is not int or value != rows[kind]):
            yield f"its ledger has {rows[kind]} rows of the kind {kind[:20]!a}, its sum is another"


def _miscounts(bundle: Bundle) -> Iterator[str]:
    rows = (bundle.works, bundle.references, bundle.links, bundle.documents, bundle.passages, bundle.facts, bundle.ledger)
    for name, records in zip(("works", "edges", "code_links", "documents", "chunks", "facts", "ledger"), rows, strict=True):
        if bundle.manifest.counts.get(name) != len(records):
            yield f"it has {len(records)} {name}, its manifest says {bundle.manifest.counts.get(name)}"


def _misplaced(bundle: Bundle, known: set[WorkId]) -> Iterator[str]:
    """Documents and passages that are not where they say they are."""
    carried = {passed.work: passed.carried for passed in bundle.manifest.works}
    texts: dict[tuple[str, str], BundledDocument] = {}
    for document in bundle.documents:
        if document.work not in known or document.work not in carried:
            yield f"a document of {document.work[:80]!r}, which is not among its works"
        if (document.work, document.path) in texts:
            yield f"two documents are called {document.path[:80]!r}"
        if document.text is not None and form.sealed(document.text.encode("utf-8", "replace")).sha256 != document.sha256:
            yield f"the text of {document.path[:80]!r} is not what its hash says"
        texts[document.work, document.path] = document
    for passage in bundle.passages:
        chunk = passage.chunk
        home = texts.get((chunk.work, chunk.path))
        if home is None:
            yield f"a passage of {chunk.path[:80]!r}, which is not among its documents"
            return
        end = len(home.text) if home.text is not None else home.length
        if not 0 <= chunk.start <= chunk.end <= end or not 0 <= chunk.start_line <= chunk.end_line:
            yield f"a passage of {chunk.path[:80]!r} lies outside of it"
