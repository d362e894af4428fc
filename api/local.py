"""The operations in process: the methods and results of `api.client.Lineage`, over a store of this machine and without a server.

    from api.local import Lineage

    with Lineage() as lineage:
        for hit in lineage.search("how is the encoder initialized?", k=5).hits:
            print(hit.citation, hit.license)

Engines stay open between calls. The worker of builds starts with the first one that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from api import notebook as notebook
from api.client.calls import Call, R, Synchronous
from api.client.connection import Event
from api.operations import Service
from api.server.build_process import builder, here
from api.server.engines import KeptParts
from api.server.jobs import Jobs
from api.table import Desk
from api.wire.encode import to_json
from lineage import settings as configuration

_LOOK = 0.2


class Lineage(Synchronous):
    """The store at `home` (default: as the settings say). Safe to use from several threads; to be closed, or used as a context."""

    def __init__(self, home: Path | str | None = None, *, parts: KeptParts | None = None) -> None:
        self._parts = parts or KeptParts(configuration.load(home=Path(home) if home else None))
        service, settings = Service(self._parts), self._parts.settings
        self.desk = Desk(service, Jobs(settings.home, here(service) if parts else builder(settings), settings.queue))

    def close(self) -> None:
        """Close the engines; a running build goes back into the queue."""
        self.desk.jobs.close()
        self._parts.close()

    def send(self, call: Call[R]) -> R:
        """The result of a call."""
        return call.run(self.desk)

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

    def _work(self) -> None:
        """Work at the queue of builds, unless another process does."""
        if not self.desk.jobs.alive():
            self.desk.jobs.start()
