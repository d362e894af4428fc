"""What is in a bundle: its members, its manifest, its lines. Pure.

Manifest versions: 1, the first.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from indexer.archives.members import MIB, ArchiveLimits
from indexer.plan import BuildRequest
from lineage.catalog.reader import StoredDocument
from lineage.code_reuse.derivation import Derivation
from lineage.code_reuse.reuse import Shared
from lineage.errors import BadBundle
from lineage.generation import FileRecord
from lineage.records import Chunk, CodeLink, Fact, LedgerRow, Reference, Work, WorkId
from lineage.references.signals import Ancestor
from lineage.text.hidden_text import is_word

VERSION = 1
FORMAT = "lineage-bundle"
MANIFEST = "manifest.json"
META = "meta.json"
VECTORS = "vectors.npy"
LICENSES = "LICENCES.md"
DECISIONS = "decisions.jsonl"
"""There only where something was decided; without the quoted lines, whose licence may keep them in."""
LIMITS = ArchiveLimits(packed=2048 * MIB, members=16, member=1024 * MIB, total=4096 * MIB, seconds=600.0)
"""Caps on a bundle that is read; a lineage of 15,000 passages takes a hundredth of them."""
MAX_ROWS = 2_000_000
MAX_NUMBER = 2**63 - 1
"""The largest number that a catalogue holds."""
_ID = re.compile(r"(?:arxiv|doi|s2|repo|ref|local|acl|url|mag|pmid|pmcid|dblp|openalex):\S{1,400}\Z")
T = TypeVar("T")


@dataclass(frozen=True)
class Passed:
    """What a bundle carries of one work: all its texts, or only the places; `terms` is the condition, or why not.

    `source` says where the text can be had (`arXiv`, `GitHub`, or nothing for a file of somebody's own).
    """

    work: WorkId
    title: str
    license: str
    carried: bool
    terms: str
    documents: int
    chunks: int
    source: str = ""


@dataclass(frozen=True)
class BundleManifest:
    """What a bundle is. `content_hash` is that of the whole lineage, texts that are left out included.

    `texts` is `licensed`, or `all` in a bundle that its maker keeps. `id` is the SHA-256 of the manifest's bytes.
    """

    lineage: str
    target: WorkId
    created: str
    made_by: str
    content_hash: str
    embedder: str
    dim: int
    counts: Mapping[str, int]
    texts: str
    works: tuple[Passed, ...]
    members: Mapping[str, FileRecord]
    format: str = FORMAT
    version: int = VERSION

    def to_json(self) -> bytes:
        """The file's bytes."""
        return json.dumps(TypeAdapter(BundleManifest).dump_python(self, mode="json"), indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class BundledDocument(StoredDocument):
    """A document in a bundle; `text` is None where it is left out, `sha256` and `length` (bytes of UTF-8) are the whole text's."""

    text: str | None = None


@dataclass(frozen=True)
class Passage:
    """A chunk in a bundle. Without `text` it is the slice `start`..`end` of its document; `digest` is that of the whole row where
    the text is left out, and the header with it."""

    chunk: Chunk
    sliced: bool = True
    digest: str = ""


@dataclass(frozen=True)
class Meta:
    """What the catalogue says of itself, in the shapes that its readers rely on; the rest as it is."""

    target: WorkId
    request: BuildRequest
    shared_code: tuple[Shared, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    ancestors: tuple[Ancestor, ...] = ()
    ancestors_by_text: tuple[Ancestor, ...] = ()
    code_signals: Mapping[WorkId, tuple[tuple[str, float, str], ...]] = field(default_factory=dict)
    facts_notes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    coverage: Mapping[str, Any] = field(default_factory=dict)
    kept_out: tuple[str, ...] = ()
    kept_out_names: tuple[str, ...] = ()


ROWS: Mapping[str, Any] = {
    "works.jsonl": Work,
    "references.jsonl": Reference,
    "links.jsonl": CodeLink,
    "documents.jsonl": BundledDocument,
    "chunks.jsonl": Passage,
    "facts.jsonl": Fact,
    "ledger.jsonl": LedgerRow,
}
"""The record of each line, by member."""
MEMBERS = frozenset((*ROWS, META, VECTORS, LICENSES, DECISIONS))


def lines(records: Iterable[Any], kind: Any) -> bytes:
    """Records as lines of JSON."""
    adapter = TypeAdapter(kind)
    return b"".join(adapter.dump_json(record) + b"\n" for record in records)


def rows(data: bytes, kind: type[T], member: str) -> tuple[T, ...]:
    """The records of a member; raises `BadBundle`."""
    if data.count(b"\n") > MAX_ROWS:
        raise BadBundle(f"{member} has more than {MAX_ROWS:,} rows")
    adapter = TypeAdapter(kind)
    return tuple(_checked(adapter, line, f"{member}, line {n}") for n, line in enumerate(data.split(b"\n"), 1) if line)


def record(data: bytes, kind: type[T], member: str) -> T:
    """The one record of a member; raises `BadBundle`."""
    parsed_record: T = _checked(TypeAdapter(kind), data, member)
    return parsed_record


def _checked(adapter: TypeAdapter[Any], data: bytes, place: str) -> Any:
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadBundle(f"{place} is not as it should be: {where}: {first['msg']}"[:300]) from None


def sealed(data: bytes) -> FileRecord:
    """Size and SHA-256 of a member."""
    return FileRecord(len(data), hashlib.sha256(data).hexdigest())


def is_work(name: str) -> bool:
    """Whether a name has the form of a work's identifier."""
    return bool(_ID.match(name)) and is_word(name)
