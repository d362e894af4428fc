"""Model Context Protocol server: the tools of `api.mcp` over stdio and streamable HTTP.

Both revisions in use are spoken, 2025-11-25 (sessions) and 2026-07-28 (each request by itself); the `mcp` package
decides by what the client sends first. What an agent sees before it asks, the tools and their descriptions, is
constant; a test pins it. An error of ours is a result that says what to do, not an error of the protocol.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from api.mcp.handlers import Handlers
from api.mcp.tools import INSTRUCTIONS
from api.table import Desk

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from api.operations import Service
    from api.server.jobs import Jobs

MOST_BODY = 1024 * 1024
MOST_SESSIONS = 200
_HOUR = CacheHint(3_600_000, "public")
"""Cache lifetime of lists that do not change while the server runs."""


def server(service: Service, jobs: Jobs, *, local: bool = False) -> Server[Any]:
    """The server of one store; `local` lets builds read local files."""
    handlers = Handlers(Desk(service, jobs, local))
    return Server(
        "lineage",
        version=version("paper-lineage"),
        title="Lineage",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": _HOUR, "resources/templates/list": _HOUR, "server/discover": _HOUR},
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_completion=handlers.complete,
    )


class Door:
    """The ASGI application of the endpoint, at any path. Serves while inside its `lifespan`."""

    def __init__(self, made: Server[Any], guarded: bool = False) -> None:
        self._manager = StreamableHTTPSessionManager(
            made, security_settings=_security(guarded), max_request_body_size=MOST_BODY, max_sessions=MOST_SESSIONS
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Start serving; leaving ends every session. Can be entered once."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        await self._manager.handle_request(scope, receive, send)


def asgi(service: Service, jobs: Jobs, *, guarded: bool = False) -> Door:
    """The HTTP endpoint over one store: `Route("/mcp", door)` in an application that enters `door.lifespan()`.

    `guarded` says that Host and Origin are checked already (`api.server.security.Guard`); otherwise only this machine's own
    names are taken here.
    """
    return Door(server(service, jobs), guarded)


_OWN = ("127.0.0.1", "localhost", "[::1]")


def _security(guarded: bool) -> TransportSecuritySettings:
    names = [form for name in _OWN for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    return TransportSecuritySettings(enable_dns_rebinding_protection=not guarded, allowed_hosts=names, allowed_origins=origins)


def stdio(service: Service, jobs: Jobs, *, local: bool = False) -> None:
    """Serve on stdin and stdout until the client closes them; stdout carries the protocol alone, logs go to stderr."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    made = server(service, jobs, local=local)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            with redirect_stdout(sys.stderr):  # what a library prints would wait in a buffer and end among the messages
                await made.run(read, write, made.create_initialization_options())

    anyio.run(serve)
