"""What was asked and what is answered, as values: services make answers, faults change them, the server sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Ask:
    """One request as the public host would have seen it: `path` is decoded, `target` is the raw path with its query."""

    method: str
    host: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    target: str = ""


@dataclass(frozen=True)
class Wire:
    """How an answer goes over the connection; the default is as it should be.

    `declared` is a false Content-Length, `cut_at` the number of body bytes after which the connection ends, `stall_at`
    the number after which nothing more comes for `stall_s` seconds, `piece` and `pause_s` make a slow trickle,
    `delay_s` passes before the first byte, `drop` resets the connection without a byte.
    """

    declared: int | None = None
    cut_at: int | None = None
    stall_at: int | None = None
    stall_s: float = 30.0
    piece: int | None = None
    pause_s: float = 0.0
    delay_s: float = 0.0
    drop: bool = False


@dataclass(frozen=True)
class Answer:
    """A status, a body and headers; Content-Length is added by the server."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    wire: Wire = Wire()

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever its case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def with_header(self, name: str, value: str) -> Answer:
        """The same answer with one header set."""
        kept = tuple(pair for pair in self.headers if pair[0].lower() != name.lower())
        return replace(self, headers=(*kept, (name, value)))


def json_answer(value: Any, status: int = 200, /, **headers: str) -> Answer:
    """`value` as JSON; header names are written with underscores."""
    return typed_answer(json.dumps(value).encode(), "application/json; charset=utf-8", status, **headers)


def typed_answer(body: bytes, media_type: str, status: int = 200, /, **headers: str) -> Answer:
    """A body of a media type; header names are written with underscores."""
    extra = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer(status, body, (("Content-Type", media_type), *extra))
