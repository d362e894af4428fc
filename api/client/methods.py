"""The methods of the two synchronous clients, over a server and in process, which differ in `send` and `events`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self

from api.client import calls
from api.client.calls import Call, R
from api.client.connection import Event, ended
from api.wire.stored import JobView

P = ParamSpec("P")


def _sent(make: Callable[P, Call[R]]) -> Callable[Concatenate[Methods, P], R]:
    """A method that sends the call."""

    @wraps(make)
    def method(self: Methods, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.send(make(*args, **kwargs))

    return method


class Methods(ABC):
    """The calls of `api.client.calls` as methods. To be closed, or used as a context."""

    @abstractmethod
    def send(self, call: Call[R]) -> R:
        """The result of a call."""

    @abstractmethod
    def events(self, id_: str, after: int = 0) -> Iterator[Event]:
        """What happens to a build until it ends."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    search = _sent(calls.search)
    evidence = _sent(calls.evidence)
    grep = _sent(calls.grep)
    read = _sent(calls.read)
    context = _sent(calls.context)
    answer = _sent(calls.answer)
    gaps = _sent(calls.gaps)
    facts = _sent(calls.facts)
    decide = _sent(calls.decide)
    decisions = _sent(calls.decisions)
    withdraw = _sent(calls.withdraw)
    details = _sent(calls.details)
    audit = _sent(calls.audit)
    lineages = _sent(calls.lineages)
    show = _sent(calls.show)
    references = _sent(calls.references)
    report = _sent(calls.report)
    status = _sent(calls.status)
    graph = _sent(calls.graph)
    build = _sent(calls.build)
    jobs = _sent(calls.jobs)
    job = _sent(calls.job)
    cancel = _sent(calls.cancel)
    resume = _sent(calls.resume)

    def wait(self, job: JobView, watch: Callable[[Event], None] | None = None) -> JobView:
        """The build when it has ended; `watch` hears what happens meanwhile. Raises `UpstreamError` if it failed, saying why."""
        for event in self.events(job.id):
            if watch:
                watch(event)
        return ended(self.job(job.id))
