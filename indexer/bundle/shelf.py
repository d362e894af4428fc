"""Shelves: bundles at an address that fsspec knows (a folder, `s3://…`, `hf://…`), with an index of what is there.

    ADDRESS/index.json                         name, title, file, size, SHA-256, licenses and signer of each bundle
    ADDRESS/NAME-<16 hex digits>.lineage       bundles, and NAME-….lineage.minisig where one is signed

A bundle's file is named after its bytes, so that a reader never meets one half-written: the index is switched when the file is
there. Nothing on a shelf is trusted: the index is bounded and checked, names of files are of one form, what arrives is held against
the size and hash that the index gives, and then imported like any stranger's bundle.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from indexer.archives.members import MIB
from indexer.bundle import form
from indexer.bundle.signature import signature_path
from indexer.bundle.write import Exported
from indexer.store.atomic_files import written
from lineage import ids
from lineage.errors import AmbiguousTarget, BadBundle, LineageError, NotFound, UpstreamError, UsageError
from lineage.generation import Manifest
from lineage.licenses import terms
from lineage.records import WorkId
from lineage.text.hidden_text import inline

INDEX = "index.json"
FORMAT, VERSION = "lineage-shelf", 1
MAX_INDEX = 8 * MIB
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}-[0-9a-f]{16}\.lineage\Z")
_SIGNATURE = 8192
_BLOCK = MIB
_TRIES = 3
_LONGEST = 2_000
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub", "az": "adlfs", "abfs": "adlfs"}


@dataclass(frozen=True)
class Shelved:
    """A bundle on a shelf. `licenses` counts the works whose texts it carries by license, `left_out` those whose texts it does not.

    `signer` is the key that its pusher names; only `--signer` proves it.
    """

    lineage: str
    target: WorkId
    title: str
    file: str
    size: int
    sha256: str
    content_hash: str
    created: str
    licenses: Mapping[str, int]
    left_out: int
    signer: str | None = None


class Shelf:
    """The bundles at an address. Raises `UsageError` for an address that nothing here can open."""

    def __init__(self, address: str, *, offline: bool = False) -> None:
        from fsspec.core import url_to_fs

        if "::" in address or not address.strip():
            raise UsageError(
                f"{address[:80]!r} is no address of a shelf", hint="name a folder, or an address as s3://bucket/folder or hf://datasets/me/shelf"
            )
        self.address = re.sub(r"//[^/@]*@", "//…@", inline(address))[:200]
        scheme = address.partition("://")[0]
        if offline and "://" in address and scheme not in {"file", "local", "memory"}:
            raise UsageError(f"{self.address} is not on this machine, and nothing is sent offline", hint="leave --offline out")
        try:
            self._fs, self._root = url_to_fs(address)
        except ImportError as error:
            raise UsageError(
                f"addresses of {scheme[:20]}:// need a package", hint=f"pip install {_PACKAGES.get(scheme, 'it')}: {error}"[:200]
            ) from error
        except ValueError as error:
            raise UsageError(f"{self.address} is no address of a shelf: {error}") from error
        names = self._fs.protocol if isinstance(self._fs.protocol, tuple) else (self._fs.protocol,)
        self._local = "file" in names

    def bundles(self) -> tuple[Shelved, ...]:
        """The rows of the index; raises `NotFound` if there is none and `BadBundle` if it is invalid."""
        with self._reached():
            content = self._head(INDEX, MAX_INDEX)
        if content is None:
            raise NotFound(f"there is no shelf at {self.address}", hint="`lineage push LINEAGE ADDRESS` puts a first lineage there")
        return _checked(content, self.address)

    def find(self, wanted: str) -> Shelved:
        """The one bundle whose lineage, target or title is `wanted`; raises `NotFound` with what is there."""
        rows = self.bundles()
        names = {wanted, _identifier(wanted)} - {""}
        matches = (
            [row for row in rows if row.lineage == wanted]
            or [row for row in rows if {row.lineage, row.target} & names]
            or [row for row in rows if ids.normal_title(row.title) == ids.normal_title(wanted)]
        )
        if not matches:
            there = ", ".join(row.lineage for row in rows[:10]) + (" ..." if len(rows) > 10 else "")
            raise NotFound(f"{wanted[:80]!r} is not on the shelf {self.address}", hint=f"it holds {there}" if rows else "it is empty")
        if len(matches) > 1:
            raise AmbiguousTarget(f"{len(matches)} bundles are of {wanted[:80]!r}", [f"{row.lineage}  {row.title[:80]}" for row in matches])
        return matches[0]

    def put(self, made: Exported, manifest: Manifest, title: str) -> Shelved:
        """Put an exported bundle and its signature there and name it in the index, in place of the last one of its name."""
        carried = [work for work in made.works if work.carried]
        row = Shelved(
            lineage=made.lineage,
            target=WorkId(manifest.target),
            title=inline(title)[:_LONGEST],
            file=f"{made.lineage}-{made.sha256[:16]}.lineage",
            size=made.size,
            sha256=made.sha256,
            content_hash=made.content_hash,
            created=manifest.created,
            licenses=dict(Counter(work.license if terms(work.license).allowed else "abstract only" for work in carried)),
            left_out=len(made.works) - len(carried),
            signer=made.signer,
        )
        with self._reached():
            self._fs.makedirs(self._root, exist_ok=True)
            self._send(Path(made.path), row.file)
            if made.signer:
                self._send(signature_path(Path(made.path)), f"{row.file}.minisig")
        before = self._listed(row)
        with self._reached():
            for old in {shelved.file for shelved in before if shelved.lineage == row.lineage} - {row.file}:
                for name in (old, f"{old}.minisig"):
                    if self._fs.exists(self._at(name)):
                        self._fs.rm_file(self._at(name))
        return row

    def _listed(self, row: Shelved) -> tuple[Shelved, ...]:
        """Write the index with a row; gives what it was. One who writes at the same moment is noticed, and the row added once more."""
        for _ in range(_TRIES):
            try:
                before = self.bundles()
            except NotFound:
                before = ()
            rows = sorted((*(shelved for shelved in before if shelved.lineage != row.lineage), row), key=lambda shelved: shelved.lineage)
            text = json.dumps({"format": FORMAT, "version": VERSION, "bundles": [asdict(shelved) for shelved in rows]}, ensure_ascii=False, indent=1)
            with self._reached():
                self._write(INDEX, text.encode() + b"\n")
            if row in self.bundles():
                return before
        raise UpstreamError(f"others write to {self.address} at the same time", hint="run the same command again")

    def take(self, row: Shelved, folder: Path) -> Path:
        """The bundle in a folder, with its signature where there is one; raises `BadBundle` if it is not what the index says."""
        path = folder / row.file
        with self._reached():
            size, sha256 = self._receive(row.file, path, row.size)
            signature = self._head(f"{row.file}.minisig", _SIGNATURE)
        if (size, sha256) != (row.size, row.sha256):
            raise BadBundle(f"{row.file} is not what the index of {self.address} says (size or SHA-256)", hint="have it pushed once more")
        if signature is not None:
            signature_path(path).write_bytes(signature)
        return path

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def _opened(self, name: str) -> Any:
        """A file to read; a pipe or a device that lies there under its name would never end."""
        if self._fs.info(self._at(name))["type"] != "file":
            raise BadBundle(f"{name} of {self.address} is not a file", hint="do not trust this shelf")
        return self._fs.open(self._at(name), "rb")

    def _head(self, name: str, most: int) -> bytes | None:
        """A small file, or None if it is missing. Raises `BadBundle` if it is too large."""
        try:
            with self._opened(name) as file:
                content: bytes = file.read(most + 1)
        except FileNotFoundError:
            return None
        if len(content) > most:
            raise BadBundle(f"{name} of {self.address} has more than {most:,} bytes")
        return content

    def _send(self, path: Path, name: str) -> None:
        if not self._local:
            self._fs.put_file(str(path), self._at(name))
            return
        with written(Path(self._at(name))) as out, path.open("rb") as file:
            shutil.copyfileobj(file, out)

    def _write(self, name: str, content: bytes) -> None:
        if not self._local:
            self._fs.pipe_file(self._at(name), content)
            return
        with written(Path(self._at(name))) as out:  # never through a link that lies there
            out.write(content)

    def _receive(self, name: str, path: Path, most: int) -> tuple[int, str]:
        """Copy at most a byte more than `most`; gives size and SHA-256 of what came."""
        digest, size = hashlib.sha256(), 0
        with self._opened(name) as file, path.open("wb") as out:
            while size <= most and (block := file.read(min(_BLOCK, most + 1 - size))):
                out.write(block)
                digest.update(block)
                size += len(block)
        return size, digest.hexdigest()

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """What goes wrong at the address as an error of ours."""
        try:
            yield
        except LineageError:
            raise
        except FileNotFoundError as error:
            raise NotFound(f"{self.address} cannot be used: {inline(str(error))[:200]}", hint="check the address") from error
        except Exception as error:  # packages behind fsspec raise errors of their own, which share no root
            raise UpstreamError(
                f"{self.address} cannot be used: {type(error).__name__}: {inline(str(error))[:300]}", hint="check address and credentials"
            ) from error


def _checked(content: bytes, address: str) -> tuple[Shelved, ...]:
    """The rows of an index, each of the form that a push writes."""
    try:
        index: Any = json.loads(content)
        if not isinstance(index, dict) or index.get("format") != FORMAT:
            raise BadBundle(f"{INDEX} of {address} is not the index of a shelf")
        if index.get("version") != VERSION:
            raise BadBundle(f"the shelf {address} has another version than {VERSION}", hint="use the version that made it")
        rows = TypeAdapter(tuple[Shelved, ...]).validate_python(index.get("bundles"))
    except (ValueError, RecursionError) as error:
        detail = error.errors(include_url=False, include_input=False)[0]["msg"] if isinstance(error, ValidationError) else type(error).__name__
        raise BadBundle(f"{INDEX} of {address} cannot be read: {detail}", hint="have its bundles pushed once more") from None
    for row in rows:
        _check(row, address)
    return rows


def _check(row: Shelved, address: str) -> None:
    texts: Iterable[str] = (row.title, row.created, row.signer or "", *row.licenses)
    if not _FILE.match(row.file) or not row.file.startswith(f"{row.lineage}-") or not form.is_work(row.target):
        raise BadBundle(f"{INDEX} of {address} names what no push writes: {row.file[:80]!a}", hint="do not trust this shelf")
    if (
        any(inline(text) != text or len(text) > _LONGEST for text in texts)
        or not 0 <= row.size <= form.LIMITS.packed
        or not re.match(r"[0-9a-f]{64}\Z", row.sha256)
    ):
        raise BadBundle(f"{INDEX} of {address} says of {row.file} what cannot be", hint="do not trust this shelf")


def _identifier(text: str) -> str:
    """What is asked for as an identifier of a work, if it is one."""
    try:
        return ids.parse(text).id or ""
    except UsageError:
        return ""
