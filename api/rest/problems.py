"""Errors as RFC 9457 problem documents: the one place where an error of ours becomes a status of HTTP.

A problem never holds a stack trace, a secret or text longer than a reader wants; `hint` says what to do next, as it
does on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from lineage import errors
from lineage.errors import LineageError

MEDIA_TYPE = "application/problem+json"
MOST = 2000
"""Characters of a detail or hint; both may quote what the client sent."""
URN = "urn:lineage:problem:"


@dataclass(frozen=True)
class Invalid:
    """One invalid field of a request."""

    pointer: str
    detail: str


@dataclass(frozen=True)
class ProblemDocument:
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    hint: str | None = None
    instance: str | None = None
    errors: tuple[Invalid, ...] | None = None


# The first that an error is an instance of counts, so the special stand before the general.
STATUSES: tuple[tuple[type[LineageError], int], ...] = (
    (errors.SettingsError, 500),
    (errors.AmbiguousTarget, 422),
    (errors.UsageError, 422),
    (errors.NotFound, 404),
    (errors.DiskFull, 507),
    (errors.UpstreamError, 502),
    (errors.QueueFull, 503),
    (errors.Cancelled, 409),
    (errors.StoreBusy, 503),
    (errors.StoreUnreachable, 503),
    (errors.EmbedderMismatch, 409),
    (errors.LineageError, 500),
)
RETRY_AFTER: Mapping[int, int] = {429: 1, 503: 5}


@dataclass(frozen=True)
class Problem:
    """What went wrong with a request; `kind` names it in `type`, `invalid` are (JSON pointer, what is wrong there)."""

    status: int
    kind: str
    detail: str
    hint: str = ""
    invalid: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self, instance: str = "") -> dict[str, Any]:
        """The members of the problem document."""
        errors = tuple(Invalid(pointer[:MOST], detail[:MOST]) for pointer, detail in self.invalid) or None
        words = (self.detail[:MOST], self.hint[:MOST] or None, instance[:MOST] or None)
        body = ProblemDocument(URN + self.kind, HTTPStatus(self.status).phrase, self.status, *words, errors)
        return {name: value for name, value in asdict(body).items() if value is not None}

    def response(self, instance: str = "") -> Response:
        """The answer to send, with `Retry-After` where waiting helps."""
        retry = {"retry-after": str(RETRY_AFTER[self.status])} if self.status in RETRY_AFTER else {}
        body = json.dumps(self.document(instance), ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status, {**retry, **self.headers}, MEDIA_TYPE)


def problem_of(error: LineageError) -> Problem:
    """The problem that an error of the tree is."""
    status = next(status for kind, status in STATUSES if isinstance(error, kind))
    return Problem(status, kebab(type(error).__name__), str(error), error.hint)


def kebab(name: str) -> str:
    """`NotFound` as `not-found`."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
