"""Model Context Protocol server: the tools of `api.mcp` over stdio and streamable HTTP.

Both revisions in use are spoken, 2025-11-25 (sessions) and 2026-07-28 (each request by itself); the `mcp` package
decides by what the client sends first. What an agent sees before it asks, the tools and their descriptions, is
constant; a test pins it. An error of ours is a result that says what to do, not an error of the protocol.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, redirect_stdout
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from api.mcp import build_tools, query_tools, results
from api.mcp.arguments import ReadArguments, parse, schema
from api.mcp.results import SCHEME, Result
from api.mcp.tools import INSTRUCTIONS, TOOLS, Tool, output_schema
from api.table import Desk
from api.wire.encode import dumps
from lineage.errors import LineageError, NotFound, UpstreamError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from api.operations import Service
    from api.server.jobs import Jobs

MOST_BODY = 1024 * 1024
MOST_SESSIONS = 2000
IDLE = 600.0
"""Seconds after which a session without requests ends."""
_HOUR = CacheHint(3_600_000, "public")
"""Cache lifetime of lists that do not change while the server runs."""
_OWN = ("127.0.0.1", "localhost", "[::1]")
DEADLINE = 28.0
"""Time limit of a call in seconds: clients give up after 30 to 60."""
AT_ONCE = 4
"""Maximum number of concurrent calls; further ones wait."""
_LOOK = 0.5
"""Polling interval of a job in seconds."""
_Given = TypeVar("_Given")
TEMPLATE = f"{SCHEME}://{{lineage}}/evidence/{{chunk}}"
_ADDRESS = re.compile(rf"{SCHEME}://([A-Za-z0-9][A-Za-z0-9._-]{{0,79}})(?:/evidence/(c_[A-Za-z0-9_.-]{{1,80}}))?\Z")
_MOST = 200
"""Lineages that are listed as resources."""


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
            made,
            security_settings=_security(guarded),
            max_request_body_size=MOST_BODY,
            max_sessions=MOST_SESSIONS,
            session_idle_timeout=IDLE,
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


if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any]


class Handlers:
    """The protocol's methods for one service."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._turns = anyio.CapacityLimiter(AT_ONCE)
        self._tools = {tool.name: tool for tool in TOOLS}

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Every tool on one page."""
        _one_page(params)
        return types.ListToolsResult(tools=[_shown(tool) for tool in TOOLS])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool and return its result, or an error with a hint, within `DEADLINE`."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:80]!r}; there are: {', '.join(self._tools)}")
        try:
            with anyio.fail_after(DEADLINE):
                return _sent(await self._called(ctx, tool, params.arguments))
        except TimeoutError:
            slow = UpstreamError(f"{tool.name} took more than {DEADLINE:.0f} seconds", hint="ask for less, or ask again in a minute")
            return _sent(results.failed(slow))
        except LineageError as error:
            return _sent(results.failed(error))

    async def _called(self, ctx: Context, tool: Tool, given: dict[str, Any] | None) -> Result:
        asked = parse(tool.arguments, given)
        result = await self._away(functools.partial(tool.run, self._desk, asked))
        return await self._followed(ctx, result, getattr(asked, "wait", 0))

    async def _followed(self, ctx: Context, result: Result, seconds: int) -> Result:
        """Wait up to `seconds` for a job to end, with progress notifications if requested."""
        step = 0
        with anyio.move_on_after(seconds):
            while result.job:
                await anyio.sleep(_LOOK)
                at = build_tools.progress(self._desk.jobs, result.job)
                step += 1  # the protocol wants it to grow; stages count each from nothing
                await ctx.session.report_progress(step, message=str(at) or "waiting for its turn")
                result = build_tools.state(self._desk, result.job)
        return build_tools.state(self._desk, result.job) if result.job else result

    async def list_resources(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """List the lineages of the store."""
        _one_page(params)
        names = await self._away(self._lineages)
        return types.ListResourcesResult(
            resources=[types.Resource(uri=f"{SCHEME}://{name}", name=name, mime_type="application/json") for name in names]
        )

    async def list_templates(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        """List the only template: a piece of evidence."""
        _one_page(params)
        description = "A piece of evidence, by the lineage and chunk of a hit."
        template = types.ResourceTemplate(uri_template=TEMPLATE, name="evidence", description=description, mime_type="text/plain")
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read a resource."""
        uri = str(params.uri)
        try:
            text, kind = await self._away(functools.partial(self._resource, uri))
        except LineageError as error:
            raise MCPError(types.INVALID_PARAMS, results.failed(error).text, {"uri": uri[:200]}) from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=kind)])

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete lineage names in the template's argument."""
        values: list[str] = []
        if isinstance(params.ref, types.ResourceTemplateReference) and params.argument.name == "lineage":
            values = [name for name in await self._away(self._lineages) if name.startswith(params.argument.value)]
        return types.CompleteResult(completion=types.Completion(values=values[:100], total=len(values), has_more=len(values) > 100))

    def _lineages(self) -> list[str]:
        return [stored.lineage for stored in self._desk.service.lineages()[:_MOST]]

    def _resource(self, uri: str) -> tuple[str, str]:
        """The text of a resource and its media type. Raises `NotFound` for an unknown address."""
        match = _ADDRESS.match(uri)
        if not match:
            raise NotFound(f"there is no resource {uri[:200]!r}", hint=f"addresses are {SCHEME}://LINEAGE and {TEMPLATE}")
        lineage, chunk = match.groups()
        if not chunk:
            return dumps(self._desk.service.show(lineage).report), "application/json"
        return query_tools.read(self._desk, ReadArguments(chunk=chunk, lineage=lineage)).text, "text/plain"

    async def _away(self, work: Callable[[], _Given]) -> _Given:
        """Run in a thread. After a disconnect or timeout it ends by itself: it only reads or queues."""
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._turns)


def _one_page(params: types.PaginatedRequestParams | None) -> None:
    if params and params.cursor:
        raise MCPError(types.INVALID_PARAMS, "there is one page only; leave `cursor` out")


def _shown(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.arguments),
        output_schema=output_schema(tool),
        annotations=tool.hints,
    )


def _sent(result: Result) -> types.CallToolResult:
    links = [types.ResourceLink(uri=link.uri, name=link.chunk, mime_type="text/plain") for link in result.links]
    structured = None if result.structured is None else json.loads(dumps(result.structured))
    return types.CallToolResult(content=[types.TextContent(text=result.text), *links], structured_content=structured, is_error=result.is_error)
