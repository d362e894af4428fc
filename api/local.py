"""The operations in process: the methods and results of `api.client.Lineage`, over a store of this machine and without a server.

    from api.local import Lineage

    with Lineage() as lineage:
        for hit in lineage.search("how is the encoder initialized?", k=5).hits:
            print(hit.citation, hit.license)

Engines stay open between calls. The worker of builds starts with the first one that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec

from api.client import calls
from api.client.calls import Call, R
from api.client.connection import Event, ended
from api.operations import Service
from api.server.build_process import builder, here
from api.server.engines import KeptParts
from api.server.jobs import Jobs
from api.table import Desk
from api.wire.encode import to_json
from api.wire.stored import JobView
from lineage import settings as configuration

P = ParamSpec("P")
_LOOK = 0.2


def _run(make: Callable[P, Call[R]]) -> Callable[Concatenate[Lineage, P], R]:
    """A method that runs the call here."""

    @wraps(make)
    def method(self: Lineage, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return make(*args, **kwargs).run(self.desk)

    return method


class Lineage:
    """The store at `home` (default: as the settings say). Safe to use from several threads; to be closed, or used as a context."""

    def __init__(self, home: Path | str | None = None, *, parts: KeptParts | None = None) -> None:
        self._parts = parts or KeptParts(configuration.load(home=Path(home) if home else None))
        service, settings = Service(self._parts), self._parts.settings
        self.desk = Desk(service, Jobs(settings.home, here(service) if parts else builder(settings), settings.queue))

    def __enter__(self) -> Lineage:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the engines; a running build goes back into the queue."""
        self.desk.jobs.close()
        self._parts.close()

    search = _run(calls.search)
    evidence = _run(calls.evidence)
    grep = _run(calls.grep)
    read = _run(calls.read)
    context = _run(calls.context)
    answer = _run(calls.answer)
    gaps = _run(calls.gaps)
    facts = _run(calls.facts)
    details = _run(calls.details)
    audit = _run(calls.audit)
    lineages = _run(calls.lineages)
    show = _run(calls.show)
    references = _run(calls.references)
    status = _run(calls.status)
    graph = _run(calls.graph)
    build = _run(calls.build)
    jobs = _run(calls.jobs)
    job = _run(calls.job)
    cancel = _run(calls.cancel)
    resume = _run(calls.resume)

    def events(self, id_: str, after: int = 0) -> Iterator[Event]:
        """What happens to a build until it ends."""
        self._work()
        while True:
            job = self.desk.jobs.get(id_)  # before its events, so that none is missed at the end
            for event in (news := self.desk.jobs.events(id_, after)):
                after = event.id
                yield Event(event.id, event.kind, {"at": event.at, **event.data})
            if job.finished and not news:
                yield Event(0, "end", to_json(self.job(id_)))
                return
            time.sleep(0 if news else _LOOK)

    def wait(self, job: JobView, watch: Callable[[Event], None] | None = None) -> JobView:
        """The build when it has ended; `watch` hears what happens meanwhile. Raises `UpstreamError` if it failed, saying why."""
        for event in self.events(job.id):
            if watch:
                watch(event)
        return ended(self.job(job.id))

    def _work(self) -> None:
        """Work at the queue of builds, unless another process does."""
        if not self.desk.jobs.alive():
            self.desk.jobs.start()
