"""A live server of this project on loopback, in a thread, for tests that need a real socket."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from api.rest.app import application
from api.server.engines import KeptParts
from api.server.security import AccessPolicy, policy_of
from api.server.server import made
from lineage import settings

PATIENCE = 60.0


class Serving:
    """`with Serving(home) as server: server.url`. Flags are settings; `limits` are fields of `api.server.security.Policy`."""

    def __init__(self, home: Path, limits: dict[str, object] | None = None, parts: KeptParts | None = None, **flags: object) -> None:
        chosen = settings.load(home=home, **flags)
        self.policy: AccessPolicy = replace(policy_of(chosen, "127.0.0.1"), **(limits or {}))
        self.app = application(chosen, self.policy, parts)
        self._up = threading.Event()
        self._server = made(self.app, self._up.set)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],), daemon=True)

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        return len(self._server.server_state.connections)

    @property
    def unread(self) -> int:
        """Clients that have not read all of what was written."""
        return sum(connection.is_unread for connection in self._server.server_state.connections)  # type: ignore[union-attr]

    @property
    def tasks(self) -> int:
        """Requests at work."""
        return len(self._server.server_state.tasks)

    def __enter__(self) -> Serving:
        self._thread.start()
        assert self._up.wait(PATIENCE)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        self._listener.close()
        assert not self._thread.is_alive()
