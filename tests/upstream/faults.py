"""Scripted misbehaviour, by request: which requests, how often, and what becomes of their answers.

An action is a pure function `Answer -> Answer`; everything here is a frozen record, so a failing run is replayed by
its script and seed alone. The first fault of a script that matches a request and has turns left acts on it.

    Faults((
        Fault(r"^export.arxiv.org/e-print/", Status(503), times=2),
        Fault(r"references", MutateJson(lambda page: page | {"data": None})),
        Fault(r".", Status(429), chance=0.3),
    ), seed=7)
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tests.upstream.answer import Answer, Ask, Wire, typed_answer
from tests.upstream.archives import gz

CAPTCHA = (
    b"<!doctype html><html><head><title>Just a moment...</title></head>"
    b"<body><h1>500 Internal Server Error</h1><p>Verify you are human.</p></body></html>"
)


class Action(Protocol):
    """Turns the right answer into what the client gets."""

    def __call__(self, answer: Answer) -> Answer: ...


@dataclass(frozen=True)
class Fault:
    """`action` for the requests whose `METHOD HOST/PATH?QUERY` has a match of `match`.

    `times` is the number of requests it acts on (None: all), after `skip` matching ones were left alone; with `chance`
    under 1 each request is decided by the seed, its own target and its turn, so the order of arrival does not matter.
    """

    match: str
    action: Action
    times: int | None = None
    skip: int = 0
    chance: float = 1.0


@dataclass(frozen=True)
class Faults:
    """A script of faults and the seed of its dice."""

    script: tuple[Fault, ...] = ()
    seed: int = 0

    def __add__(self, other: Faults) -> Faults:
        """This script, then the other; this seed."""
        return Faults(self.script + other.script, self.seed)


@dataclass
class Turns:
    """How often each fault was met and has acted in one run: the only state, owned by one server and its lock."""

    faults: Faults
    met: dict[int, int] = field(default_factory=dict)
    acted: dict[int, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def act(self, ask: Ask, answer: Answer) -> Answer:
        """The answer as the script has it."""
        target = f"{ask.method} {ask.host}{ask.target or ask.path}"
        turn = self.asked[target] = self.asked.get(target, 0) + 1
        for number, fault in enumerate(self.faults.script):
            if re.search(fault.match, target) and self._due(number, fault, target, turn):
                return fault.action(answer)
        return answer

    def _due(self, number: int, fault: Fault, target: str, turn: int) -> bool:
        if dice(self.faults.seed, number, target, turn) >= fault.chance:
            return False
        self.met[number] = self.met.get(number, 0) + 1
        if self.met[number] <= fault.skip or (fault.times is not None and self.acted.get(number, 0) >= fault.times):
            return False
        self.acted[number] = self.acted.get(number, 0) + 1
        return True


def dice(seed: int, number: int, target: str, turn: int) -> float:
    """A number in [0, 1) that depends on nothing but its arguments."""
    digest = hashlib.sha256(f"{seed}|{number}|{target}|{turn}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


@dataclass(frozen=True)
class Status:
    """Another status, with its own headers and body (429 with or without Retry-After, 403, 503, HTML with 200)."""

    status: int
    body: bytes = b'{"message": "refused by script"}'
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"

    def __call__(self, answer: Answer) -> Answer:
        made = typed_answer(self.body, self.media_type, self.status)
        return replace(made, headers=(*made.headers, *self.headers.items()), wire=answer.wire)


def too_many(retry_after: str | None = None) -> Status:
    """429, with Retry-After as given: seconds, an HTTP date, or nonsense."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Status(429, b'{"message": "Too Many Requests. Please wait and try again.", "code": "429"}', headers)


def captcha(status: int = 200) -> Status:
    """A page for people where data was asked for, by default with status 200."""
    return Status(status, CAPTCHA, media_type="text/html; charset=utf-8")


def rate_limited(reset: str = "4102444800") -> Status:
    """GitHub's primary limit: 403 with nothing remaining until `reset` (seconds since 1970)."""
    headers = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    return Status(403, b'{"message": "API rate limit exceeded for 127.0.0.1."}', headers)


@dataclass(frozen=True)
class Truncate:
    """The connection ends after `share` of the body, its full length having been declared."""

    share: float = 0.5

    def __call__(self, answer: Answer) -> Answer:
        cut = int(len(answer.body) * self.share)
        return replace(answer, wire=replace(answer.wire, cut_at=cut))


@dataclass(frozen=True)
class Shorten:
    """`share` of the body as if it were all of it: complete by HTTP, damaged within."""

    share: float = 0.5

    def __call__(self, answer: Answer) -> Answer:
        return replace(answer, body=answer.body[: int(len(answer.body) * self.share)])


@dataclass(frozen=True)
class Stall:
    """Nothing more after `after` bytes of the body, for `seconds` or until the server closes."""

    after: int = 0
    seconds: float = 30.0

    def __call__(self, answer: Answer) -> Answer:
        return replace(answer, wire=replace(answer.wire, stall_at=self.after, stall_s=self.seconds))


@dataclass(frozen=True)
class LieAboutLength:
    """Content-Length off by `by` bytes (negative: too short), or exactly `exactly`."""

    by: int = 0
    exactly: int | None = None

    def __call__(self, answer: Answer) -> Answer:
        declared = self.exactly if self.exactly is not None else max(0, len(answer.body) + self.by)
        return replace(answer, wire=replace(answer.wire, declared=declared))


@dataclass(frozen=True)
class Trickle:
    """The body in pieces of `piece` bytes, `pause_s` seconds apart."""

    piece: int = 1
    pause_s: float = 0.01

    def __call__(self, answer: Answer) -> Answer:
        return replace(answer, wire=replace(answer.wire, piece=self.piece, pause_s=self.pause_s))


@dataclass(frozen=True)
class Delay:
    """The right answer, `seconds` late."""

    seconds: float

    def __call__(self, answer: Answer) -> Answer:
        return replace(answer, wire=replace(answer.wire, delay_s=self.seconds))


@dataclass(frozen=True)
class Drop:
    """The connection is reset before a byte is sent."""

    def __call__(self, answer: Answer) -> Answer:
        return replace(answer, wire=Wire(drop=True))


@dataclass(frozen=True)
class Redirect:
    """To another place: another host, a private address, `file:`, the request itself."""

    location: str
    status: int = 302

    def __call__(self, answer: Answer) -> Answer:
        return Answer(self.status, headers=(("Location", self.location),), wire=answer.wire)


@dataclass(frozen=True)
class MutateJson:
    """The JSON of the answer after `change`; an answer that is not JSON is left as it is."""

    change: Callable[[Any], Any]

    def __call__(self, answer: Answer) -> Answer:
        try:
            value = json.loads(answer.body)
        except ValueError:
            return answer
        return replace(answer, body=json.dumps(self.change(value)).encode())


@dataclass(frozen=True)
class ReplaceBody:
    """The same status and headers over other bytes."""

    body: bytes

    def __call__(self, answer: Answer) -> Answer:
        return replace(answer, body=self.body)


@dataclass(frozen=True)
class SetHeader:
    """One header with another value: a wrong type, an encoding that is not there."""

    name: str
    value: str

    def __call__(self, answer: Answer) -> Answer:
        return answer.with_header(self.name, self.value)


@dataclass(frozen=True)
class Gzip:
    """The body compressed `times` times, of which `declared` are named in Content-Encoding."""

    times: int = 2
    declared: int = 1

    def __call__(self, answer: Answer) -> Answer:
        body = answer.body
        for _ in range(self.times):
            body = gz(body)
        packed = replace(answer, body=body)
        return packed.with_header("Content-Encoding", ", ".join(["gzip"] * self.declared)) if self.declared else packed


@dataclass(frozen=True)
class Both:
    """Several actions, one after the other."""

    actions: tuple[Action, ...]

    def __call__(self, answer: Answer) -> Answer:
        for action in self.actions:
            answer = action(answer)
        return answer
