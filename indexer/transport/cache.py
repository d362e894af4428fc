"""Cache of responses, so that the second build of a target sends no request.

Final answers are kept, the negative ones for a while (`negative_days`); those that may end better another time are not.
One small sealed JSON file a request under `home/requests`, its body in the blob store; a damaged one counts as absent.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from indexer.store.blobs import Blobs
from lineage.errors import StoreDamaged, failures
from lineage.records import Blob
from lineage.sealed import sealed, unsealed

VERSION = 2
UNSEALED = 1
"""The version before files were sealed; read as it is, and sealed when the answer is used."""
DAY = 86_400
KEPT_HEADERS = ("etag", "last-modified", "content-type", "content-disposition", "location", "link")


@dataclass(frozen=True)
class Request:
    """What was asked: `url` is the public address with its query, `body` what was sent with it."""

    method: str
    url: str
    body: bytes = b""

    @property
    def key(self) -> str:
        """The name under which the answer is kept."""
        return hashlib.sha256(b"\0".join((self.method.encode(), self.url.encode(), self.body))).hexdigest()


@dataclass(frozen=True)
class CachedResponse:
    """What came back. `url` is where it came from after redirects, `headers` have lower-case names.

    `asked` is the request it is kept under, `mirrored` says that a mirror answered, `cap` the
    size limit under which the body was refused (0: it was not).
    """

    status: int
    headers: Mapping[str, str]
    blob: Blob
    url: str
    cached: bool = False
    mirrored: bool = False
    cap: int = 0
    asked: Request | None = None
    blobs: Blobs | None = field(default=None, repr=False, compare=False)

    @property
    def body(self) -> bytes:
        """The bytes, read from the blob store and verified; raises `StoreDamaged`."""
        if self.blobs is None:
            raise StoreDamaged(f"the body of {self.url} is not at hand")
        return self.blobs.get(self.blob.sha256)

    @property
    def json(self) -> Any:
        """The body as JSON; the transport has made sure that it is, where `json` was asked for."""
        return json.loads(self.body)


class Answers:
    """The answers of one home."""

    def __init__(self, home: Path, blobs: Blobs) -> None:
        self.root = home / "requests"
        self.blobs = blobs

    def get(self, request: Request) -> CachedResponse | None:
        """What the request was answered before, if that and its body are still there and sound."""
        try:
            row = read_row(self._path(request).read_bytes())
        except (OSError, ValueError):
            return None
        try:
            blob = Blob(row["sha256"], row["media_type"], row["size"], row["url"], row["fetched_at"])
            status, mirrored, cap = int(row["status"]), bool(row["mirrored"]), int(row["cap"])
            self.blobs.whole(blob.sha256)
        except (KeyError, TypeError, ValueError, StoreDamaged):
            return None
        answer = CachedResponse(status, dict(row["headers"]), blob, blob.url, True, mirrored, cap, request, self.blobs)
        if row["version"] == UNSEALED:
            self.keep(request, answer)
        return answer

    def keep(self, request: Request, answer: CachedResponse) -> None:
        """Remember an answer; raises `DiskFull` or `SettingsError`."""
        row = {
            "version": VERSION,
            "method": request.method,
            "asked": request.url,
            "url": answer.url,
            "status": answer.status,
            "headers": {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers},
            "sha256": answer.blob.sha256,
            "size": answer.blob.size,
            "media_type": answer.blob.media_type,
            "fetched_at": answer.blob.fetched_at,
            "mirrored": answer.mirrored,
            "cap": answer.cap,
        }
        # Whole or not at all, but not forced to the disk: what a power cut takes from here is only asked again.
        path = self._path(request)
        part = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        with failures(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                part.write_bytes(sealed(row))
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)

    def forget(self, request: Request) -> None:
        """Ask anew next time (an answer that turned out to be damaged within)."""
        self._path(request).unlink(missing_ok=True)

    def _path(self, request: Request) -> Path:
        return self.root / request.key[:2] / f"{request.key}.json"


def read_row(content: bytes) -> dict[str, Any]:
    """The values of a remembered answer; raises `ValueError` for a file that is damaged or of another version."""
    row = json.loads(content)
    if isinstance(row, dict) and row.get("version") == UNSEALED and "seal" not in row:
        return row
    row = unsealed(content)
    if row.get("version") != VERSION:
        raise ValueError("another version")
    return row


def moment(wall: float) -> str:
    """A time (seconds since 1970) in UTC, ISO 8601, to the second."""
    return datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def age(fetched_at: str, wall: float) -> float:
    """Seconds since then; without end where nobody can tell."""
    try:
        return abs(wall - datetime.fromisoformat(fetched_at).timestamp())
    except ValueError:
        return float("inf")
