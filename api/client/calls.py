"""What both clients share: each call with the model of its answer, refusals as errors, events out of lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx2

from api.rest import PREFIX, responses
from lineage import errors
from lineage.errors import LineageError, UpstreamError

URL = "http://127.0.0.1:8765"
Kind = Literal["", "paper", "code", "config", "docs"]
Stage = Literal["", "planning", "analysis", "coding"]
TRIES = 5
M = TypeVar("M", bound=responses.ResponseModel)


class Refused(LineageError):
    """The server said no; `status` is HTTP's, `problem` its whole document."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or f"the server answered {status}"), hint=str(problem.get("hint") or ""))
        self.status = status
        self.problem = problem


@dataclass(frozen=True)
class Event:
    """Something that happened to a build; `id` is where to go on after it (0 for the last one, `end`)."""

    id: int
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Call(Generic[M]):
    """A request and the model of its answer."""

    method: str
    path: str
    model: type[M]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None

    def request(self) -> dict[str, Any]:
        """Arguments of the HTTP library; what is not said is left to the server."""
        params = {name: str(value).lower() if isinstance(value, bool) else value for name, value in self.params.items() if value != ""}
        return {"method": self.method, "url": self.path, "params": params, "json": self.body}

    def answer(self, response: httpx2.Response) -> M:
        """The answer; raises what the server refused with."""
        if response.is_error:
            raise refusal(response)
        return self.model.model_validate_json(response.content)


def refusal(response: httpx2.Response) -> LineageError:
    """The error that a refusal stands for: one of `lineage.errors`, else `Refused`."""
    try:
        problem = dict(response.json())
    except (ValueError, TypeError):
        problem = {}
    name, detail, hint = str(problem.get("type", "")).rpartition(":")[2], str(problem.get("detail")), str(problem.get("hint") or "")
    if name == "ambiguous-target":
        return errors.AmbiguousTarget(detail, [line.strip() for line in hint.splitlines()[1:]])
    kind = _KINDS.get(name)
    return kind(detail, hint=hint) if kind else Refused(response.status_code, problem)


_KINDS: Mapping[str, type[LineageError]] = {
    "not-found": errors.NotFound,
    "invalid": errors.UsageError,
    "usage-error": errors.UsageError,
    "bad-identifier": errors.BadIdentifier,
    "queue-full": errors.QueueFull,
    "store-damaged": errors.StoreDamaged,
    "store-busy": errors.StoreBusy,
    "embedder-mismatch": errors.EmbedderMismatch,
}


def place(*parts: str) -> str:
    """A path whose parts are names, whatever is in them."""
    return "".join("/" + quote(part, safe="") for part in parts)


def get(path: str, model: type[M], **params: Any) -> Call[M]:
    """A call that reads; parameters that are empty are not sent."""
    return Call("GET", PREFIX + path, model, params)


def post(path: str, model: type[M], **body: Any) -> Call[M]:
    """A call with a body."""
    return Call("POST", PREFIX + path, model, body=body)


class Client:
    """What the two clients share: where the server is, and how long to be patient."""

    def __init__(self, url: str = URL, *, token: str = "", timeout: float = 120.0, patience: float = 60.0) -> None:
        self.settings: dict[str, Any] = {
            "base_url": url,
            "timeout": timeout,
            "trust_env": False,
            "follow_redirects": False,
            "headers": {"authorization": f"Bearer {token}"} if token else {},
        }
        self._url, self._patience = url, patience

    def wait_before(self, response: httpx2.Response, spent: float) -> float:
        """Seconds to wait before asking again; 0 if not to."""
        after = response.headers.get("retry-after", "")
        if response.status_code not in {429, 503} or not (after.isascii() and after.isdigit()):
            return 0.0
        wait = max(float(after), 0.1)
        return wait if wait + spent <= self._patience else 0.0

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """What the HTTP library cannot do inside the block leaves as `UpstreamError`."""
        try:
            yield
        except httpx2.HTTPError as error:
            raise UpstreamError(f"{self._url} cannot be reached: {error}", hint="is `lineage serve` running there?") from error


def ended(job: responses.Job) -> responses.Job:
    """The job, unless it failed: then why, as an error."""
    if job.state == "failed" and job.error:
        raise UpstreamError(f"the build failed: {job.error.message}", hint=job.error.hint)
    return job


class EventReader:
    """Server-sent events out of lines, with the number to go on after."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._fields: dict[str, str] = {}

    def headers(self) -> dict[str, str]:
        """Those of a request that goes on where this one was."""
        return {"last-event-id": str(self._after)} if self._after else {}

    def heard(self, line: str) -> Iterator[Event]:
        """The event that a line completes, if any."""
        name, _, value = line.partition(":")
        if name:
            self._fields[name] = value.removeprefix(" ")
        elif not line and "data" in self._fields:
            fields, self._fields = self._fields, {}
            number = int(fields["id"]) if fields.get("id", "").isdigit() else 0
            self._after = number or self._after
            yield Event(number, fields.get("event", "message"), json.loads(fields["data"]))
