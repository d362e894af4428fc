"""The lock file: its records, reading and writing, and what of a build request is portable. One answer per line, so a diff shows what moved.

Versions: 1, the first.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from indexer.archives.members import MIB
from indexer.build_context import BuildContext
from indexer.chunking.chunker import VERSION as CHUNKER
from indexer.parsers.select import versions
from indexer.plan import BOUNDS, BuildRequest
from indexer.sources.local import is_path
from indexer.store.atomic_files import write_whole
from indexer.transport.cache import Request
from lineage import ids
from lineage.errors import BadBundle, BadIdentifier, NotFound, failures
from lineage.hyperparameters.ontology import ontology


def excess(request: BuildRequest) -> str:
    """Why a request is out of bounds, or the empty string."""
    for name, (least, most) in BOUNDS.items():
        if not least <= getattr(request, name) <= most:
            return f"its request has a {name} that is not between {least} and {most:,}"
    try:
        ids.check_name(request.name or "none")
    except BadIdentifier:
        return "its request names the lineage as none can be called"
    return ""


def files(request: BuildRequest) -> tuple[str, ...]:
    """The target and additions that mean files of a machine."""
    return tuple(requested_path for requested_path in (request.target, *request.add) if is_path(requested_path))


def without_files(request: BuildRequest) -> tuple[BuildRequest, tuple[str, ...]]:
    """The request with only what an identifier, URL or title names, written so that no file can ever be meant, and what was dropped.

    Which words are a path depends on the folder one stands in, so that asking `is_path` once is not enough for a request
    that is kept. A target that is dropped is empty.
    """
    portable_names = {requested_item: identifier(requested_item) for requested_item in (request.target, *request.add)}
    add = tuple(portable_names[requested_item] for requested_item in request.add if portable_names[requested_item])
    dropped = tuple(requested_item for requested_item, portable_name in portable_names.items() if requested_item and not portable_name)
    return replace(request, target=portable_names[request.target], add=add), dropped


def identifier(text: str) -> str:
    """A target written so that it means the same in every folder, or the empty string for a path and for what names nothing."""
    if is_path(text):
        return ""
    if repo := ids.repo_id(text):
        return ids.abs_url(repo)
    try:
        target = ids.parse(text)
    except BadIdentifier:
        return ""
    if target.title:
        return f'"{target.title}"'
    if "://" in text:
        return text.strip()
    return f"{target.id}{target.version}".replace("s2:CorpusId:", "CorpusId:")


FORMAT, VERSION = "lineage-lock", 1
MAX_BYTES = 256 * MIB
MAX_FILE = 4096 * MIB
_AGAIN = "make it once more: lineage export LINEAGE --lock"


@dataclass(frozen=True)
class Pin:
    """One request and what it was answered. `body` is the answer itself (`base64:` before what is no text), or None for a
    file: then `fetch` is the address of exactly these bytes."""

    method: str
    url: str
    status: int
    sha256: str
    size: int
    media_type: str = ""
    asked_with: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    came_from: str = ""
    cap: int = 0
    body: str | None = None
    fetch: str = ""

    @property
    def key(self) -> str:
        """The name of the request among the answers of a store."""
        return Request(self.method, self.url, self.asked_with.encode()).key

    @property
    def content(self) -> bytes | None:
        """The answer's bytes, None for a file."""
        if self.body is None:
            return None
        return base64.b64decode(self.body[7:]) if self.body.startswith("base64:") else self.body.encode()


@dataclass(frozen=True)
class Derived:
    """What was worked out from bytes that are not kept (hashes of the target's own code): `value` is JSON or a sentence."""

    input: str
    stage: str
    version: str
    value: str


@dataclass(frozen=True)
class Pinned:
    """A paper or repository whose files are pinned, for a reader: which version or commit."""

    work: str
    at: str


@dataclass(frozen=True)
class Told:
    """Settings that the services' answers depend on; `max_*` are in bytes."""

    max_json: int
    max_eprint: int
    max_pdf: int
    max_tarball: int
    sources: str = ""


@dataclass(frozen=True)
class Lock:
    """A lineage pinned. `content_hash` is what a build with it gives; `open` are items that no service had answered when it was made."""

    lineage: str
    target: str
    made_by: str
    content_hash: str
    request: BuildRequest
    settings: Told
    tools: Mapping[str, str]
    references: tuple[str, ...] = ()
    papers: tuple[Pinned, ...] = ()
    repositories: tuple[Pinned, ...] = ()
    open: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    answers: tuple[Pin, ...] = ()
    format: str = FORMAT
    version: int = VERSION

    @cached_property
    def pins(self) -> Mapping[str, Pin]:
        """Pins by the key of their request."""
        return {pin.key: pin for pin in self.answers}

    def write(self, path: Path) -> int:
        """Write it, whole or not at all; gives its size in bytes."""
        value = TypeAdapter(Lock).dump_python(replace(self, derived=(), answers=()), mode="json")
        del value["derived"], value["answers"]
        parts = [json.dumps(value, indent=1, ensure_ascii=False).rstrip("}\n") + ","]
        for name, kind, rows in (("derived", Derived, self.derived), ("answers", Pin, self.answers)):
            lines = ",\n  ".join(TypeAdapter(kind).dump_json(row, exclude_defaults=True).decode() for row in rows)
            parts.append(f' "{name}": [\n  {lines}\n ]' + ("," if name == "derived" else ""))
        data = ("\n".join(parts) + "\n}\n").encode()
        with failures(path):
            write_whole(path, data)
        return len(data)


def read(path: Path) -> Lock:
    """The lock in a file, every answer held against its hash; raises `NotFound` and `BadBundle`."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadBundle(f"{path} has more than {MAX_BYTES:,} bytes", hint=_AGAIN)
        data = path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}", hint="check the path") from error
    try:
        lock = TypeAdapter(Lock).validate_json(data)
        _check(lock)
    except (ValidationError, ValueError) as error:
        error_message = error.errors(include_url=False, include_input=False)[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise BadBundle(f"{path} is not a lock file: {error_message}"[:300], hint=_AGAIN) from None
    return lock


def _check(lock: Lock) -> None:
    if (lock.format, lock.version) != (FORMAT, VERSION):
        raise ValueError(f"it has format {lock.format[:30]} {lock.version}, this program reads {FORMAT} {VERSION}")
    if files(lock.request):
        raise ValueError("it names files of a machine")
    if wrong := excess(lock.request):
        raise ValueError(wrong)
    if not all(
        0 <= size <= MAX_FILE for size in (lock.settings.max_json, lock.settings.max_eprint, lock.settings.max_pdf, lock.settings.max_tarball)
    ):
        raise ValueError("its limits are out of bounds")
    for pin in lock.answers:
        if not re.fullmatch(r"[0-9a-f]{64}", pin.sha256):
            raise ValueError(f"the hash of {pin.url[:100]} is damaged")
        content = pin.content
        if content is not None and (len(content) != pin.size or hashlib.sha256(content).hexdigest() != pin.sha256):
            raise ValueError(f"the answer of {pin.url[:100]} is not what was written (SHA-256 differs)")
        if content is None and not (pin.fetch.startswith("https://") and pin.method == "GET"):
            raise ValueError(f"{pin.url[:100]} is pinned to nothing")


def tools(bench: BuildContext) -> dict[str, str]:
    """Versions of parsers and of chunking, and the digest of the vocabulary."""
    return {"parsers": versions(), "chunks": CHUNKER, "ontology": ontology(bench.settings.ontology).digest}
