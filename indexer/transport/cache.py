"""Cache of responses, so that the second build of a target sends no request, and what a refusal means: a ledger status and a sentence.

Final answers are kept, the negative ones for a while (`negative_days`); those that may end better another time are not.
One small sealed JSON file a request under `home/requests`, its body in the blob store; a damaged one counts as absent.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from indexer.store.blobs import Blobs
from indexer.transport.politeness import quota_reset
from lineage.errors import SourceError, StoreDamaged, failures
from lineage.records import Blob, Status
from lineage.sealed import keep, unsealed

FINAL = {400, 404, 409, 410, 413, 414, 422, 451}
"""Statuses that asking again does not change: kept like an answer."""

_STATUS = {
    **dict.fromkeys((400, 404, 422), Status.NOT_FOUND),
    408: Status.TIMEOUT_FETCH,
    409: Status.EMPTY,
    410: Status.GONE,
    **dict.fromkeys((413, 414), Status.TOO_LARGE),
    425: Status.TIMEOUT_FETCH,
    429: Status.RATE_LIMITED,
    451: Status.LEGAL_451,
}
_SAYS = {
    400: "did not accept the request",
    401: "did not accept the credentials",
    403: "refused",
    404: "does not know it",
    409: "has nothing in it yet",
    410: "says that it is gone",
    422: "does not know it",
    429: "asks for fewer requests",
    451: "may not show it for legal reasons",
}
_HINTS = {
    ("api.github.com", 401): "check LINEAGE_GITHUB_TOKEN",
    ("api.semanticscholar.org", 401): "check LINEAGE_S2_API_KEY",
    ("api.semanticscholar.org", 403): "check LINEAGE_S2_API_KEY",
    ("api.semanticscholar.org", 429): "a free key from Semantic Scholar in LINEAGE_S2_API_KEY raises the limit",
}


class HttpRefusal(SourceError):
    """A `SourceError` that knows its HTTP status and headers, from which the time to wait is read."""

    def __init__(self, status: Status, message: str, *, url: str, code: int = 0, headers: Mapping[str, str] | None = None, hint: str = "") -> None:
        super().__init__(status, message, url=url, hint=hint)
        self.code = code
        self.headers = headers or {}


def refusal(code: int, headers: Mapping[str, str], body: bytes, url: str) -> HttpRefusal:
    """The error that an HTTP status and the beginning of its body stand for."""
    host = urlsplit(url).netloc
    body_message = _said(body)
    status = _STATUS.get(code) or (Status.UPSTREAM_5XX if code >= 500 else Status.FORBIDDEN if code >= 400 else Status.WRONG_TYPE)
    says, hint = _SAYS.get(code, f"answered {code}"), _HINTS.get((host, code), "")
    if code in {403, 429} and (quota_reset(headers) is not None or "retry-after" in headers):
        status, says = Status.RATE_LIMITED, _SAYS[429]
        hint = hint or ("a token in LINEAGE_GITHUB_TOKEN raises the limit from 60 to 5,000 an hour" if host == "api.github.com" else "")
    if code == 400 and "maximum size" in body_message:
        status = Status.TOO_LARGE
    message = f"{host} {says} (HTTP {code}{': ' + body_message if body_message else ''})"
    return HttpRefusal(status, message, url=url, code=code, headers=headers, hint=hint)


def misshapen(body: bytes, url: str) -> SourceError:
    """The error for an answer that came with 200 and is not what was asked for; it is not remembered."""
    words = _said(body)
    return SourceError(Status.WRONG_TYPE, f"the answer of {urlsplit(url).netloc} cannot be read{': ' + words if words else ''}", url=url)


def _said(body: bytes) -> str:
    """The message in an error body, as one short line."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        block = value.get("block")
        words = [value.get("error"), value.get("message"), block.get("reason") if isinstance(block, dict) else None]
        return "; ".join(_line(word) for word in words if isinstance(word, str) and word)
    text = body.decode("utf-8", "replace")
    return "" if "<" in text else _line(text)


def _line(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).strip()[:200]


VERSION = 2
DAY = 86_400
_NOTHING = re.compile(rb'"data":\s*(?:null|\[\s*\])')
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
    def start(self) -> bytes:
        """The first 64 KiB, not verified: enough to tell what it is."""
        if self.blobs is None:
            raise StoreDamaged(f"the body of {self.url} is not at hand")
        with self.blobs.path(self.blob.sha256).open("rb") as file:
            return file.read(65536)

    @property
    def is_doubtful(self) -> bool:
        """Whether it is believed no longer than a refusal: its `data` is nothing, or it is a PDF without an end mark, probably cut short."""
        if self.blobs is None or not self.start.startswith(b"%PDF"):
            return self.blobs is not None and bool(_NOTHING.search(self.start, 0, 4096))
        with self.blobs.path(self.blob.sha256).open("rb") as file:
            file.seek(max(0, self.blob.size - 2048))
            return b"%%EOF" not in file.read()

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
        return CachedResponse(status, dict(row["headers"]), blob, blob.url, True, mirrored, cap, request, self.blobs)

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
        path = self._path(request)
        with failures(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            keep(path, row)

    def forget(self, request: Request) -> None:
        """Ask anew next time (an answer that turned out to be damaged within)."""
        self._path(request).unlink(missing_ok=True)

    def _path(self, request: Request) -> Path:
        return self.root / request.key[:2] / f"{request.key}.json"


def read_row(content: bytes) -> dict[str, Any]:
    """The values of a remembered answer; raises `ValueError` for a file that is damaged or of another version."""
    row = unsealed(content)
    if row.get("version") != VERSION:
        raise ValueError("another version")
    return row


def moment(wall: float) -> str:
    """A time (seconds since 1970) in UTC, ISO 8601, to the second."""
    return datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def age(fetched_at: str, wall: float) -> float:
    """Age in seconds; infinite if the date is invalid."""
    try:
        return abs(wall - datetime.fromisoformat(fetched_at).timestamp())
    except ValueError:
        return float("inf")
