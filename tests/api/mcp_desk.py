"""A store, its operations and its jobs for the tests of the MCP door, and a client's call in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from api.bootstrap import Parts
from api.mcp.server import server
from api.operations import Service
from api.server.jobs import Jobs
from lineage import settings
from tests.fakes import small_lineage
from tests.fakes.embedder import HashingEmbedder

MODES = ("auto", "legacy")
"""How the SDK's client is told to speak: 2026-07-28 (it asks first), or the handshake of 2025-11-25."""


class Store:
    """The small lineage under `home`, as a server has it; builds are done by `build` where one is given."""

    def __init__(self, home: Path, build: Callable[..., Any] | None = None, pieces: Any = None) -> None:
        parts = Parts(settings.load(home=home))
        parts.__dict__["embedder"] = HashingEmbedder()
        self.home = home
        self.manifest = small_lineage.build(home, parts.embedder, pieces)
        self.service = Service(parts)
        self.jobs = Jobs(home, build or (lambda request, watch: self.service.build(request, watch=watch)))

    def server(self, local: bool = False) -> Server[Any]:
        """The MCP server over it."""
        return server(self.service, self.jobs, local=local)


def talk(made: Any, use: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """What `use` gives with a client that is connected to a server, a command or a URL; errors of the protocol as they are."""

    async def main() -> Any:
        async with Client(made, mode=mode, read_timeout_seconds=30) as client:
            try:
                return await use(client)
            except MCPError as error:  # else the client's task group wraps it
                return error

    found = asyncio.run(main())
    if isinstance(found, MCPError):
        raise found
    return found


def called(made: Any, tool: str, mode: str = "auto", **arguments: Any) -> Any:
    """The result of one call."""
    return talk(made, lambda client: client.call_tool(tool, arguments), mode)
