"""The connection of both clients to a server: refusals as errors, patience, events out of lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

from lineage import errors, settings
from lineage.errors import LineageError, UpstreamError
from lineage.generation import server_file

if TYPE_CHECKING:
    from api.table import Operation
    from api.wire.stored import JobView

URL = "http://127.0.0.1:8765"
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
TRIES = 5


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
    "store-unreachable": errors.StoreUnreachable,
    "embedder-mismatch": errors.EmbedderMismatch,
}


def token_of_start(url: str) -> str:
    """The token that this user's server at a loopback address was started with (`lineage serve --private`); empty if there is none."""
    try:
        address = urlsplit(url)
        if address.hostname not in LOOPBACK:
            return ""
        owner = json.loads(server_file(settings.load().home, address.port or 80).read_bytes())
        return str(owner["token"])
    except (OSError, ValueError, KeyError, TypeError, LineageError):
        return ""


class Client:
    """What the two clients share: where the server is, and how long to be patient."""

    def __init__(self, url: str = URL, *, token: str = "", timeout: float = 120.0, patience: float = 60.0) -> None:
        token = token or token_of_start(url)
        self.settings: dict[str, Any] = {
            "base_url": url,
            "timeout": timeout,
            "trust_env": False,
            "follow_redirects": False,
            "headers": {"authorization": f"Bearer {token}"} if token else {},
        }
        self._url, self._patience = url, patience

    def result(self, operation: Operation, response: httpx2.Response) -> Any:
        """The result in an answer; raises what the server refused with."""
        if response.is_error:
            raise refusal(response)
        return operation.read(response.content)

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


def ended(job: JobView) -> JobView:
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
