"""What an HTTP status means for a build: a ledger status and a sentence (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from indexer.transport.politeness import quota_reset
from lineage.errors import SourceError
from lineage.records import Status

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
    """What the body says in words, one short line."""
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
