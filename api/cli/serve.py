"""Commands that serve programs: serve (page, REST, MCP over HTTP) and mcp (stdio)."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from api.cli import exit_codes
from api.cli.common import Home, Json, Offline, put
from api.operations import Service
from api.wire.encode import envelope
from lineage import settings as configuration


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on; beyond this machine only with LINEAGE_TOKEN set.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on (0: any that is free).")] = 8765,
    offline: Offline = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Serve the page, REST (/docs) and MCP (/mcp) until interrupted; builds that were asked for are resumed.

    Examples:

      lineage serve

      LINEAGE_TOKEN=secret lineage serve --host 0.0.0.0 --port 80
    """
    from api.rest.app import application
    from api.server.security import policy_of
    from api.server.server import leave_soon
    from api.server.server import serve as listen

    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it tells of every client that goes away in mid-answer
    settings = configuration.load(home=home, offline=offline or None)
    app = application(settings, policy_of(settings, host))

    def up(address: str) -> None:
        print(f"listening on {address}   endpoints: {address}/docs   agents: {address}/mcp   end with Ctrl-C", file=sys.stderr)
        if json:
            exit_codes.say(envelope({"url": address, "home": settings.home, "token": bool(settings.token.get_secret_value())}), exact=True)

    listen(app, settings.home, host, port, up)
    leave_soon()


class ClientName(StrEnum):
    """The clients whose configuration can be printed."""

    CLAUDE = "claude"
    CODEX = "codex"
    CURSOR = "cursor"
    VSCODE = "vscode"


def mcp(
    print_config: Annotated[
        ClientName | None, typer.Option("--print-config", help="Print the configuration for a client, and serve nothing.", show_default=False)
    ] = None,
    print_skill: Annotated[bool, typer.Option("--print-skill", help="Print a SKILL.md that teaches an agent when to ask; serve nothing.")] = False,
    local_files: Annotated[bool, typer.Option("--local-files", help="Let the agent build from papers and folders of this machine.")] = False,
    offline: Offline = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Serve coding agents over the Model Context Protocol, on stdin and stdout.

    A client starts this command by itself; what it must be told is printed by --print-config.

    Examples:

      lineage mcp --print-config claude > .mcp.json

      lineage mcp --print-config codex >> ~/.codex/config.toml

      lineage mcp --print-skill > .claude/skills/lineage/SKILL.md
    """
    if print_skill:
        from api.mcp.clients import skill

        put({"skill": skill()} if json else skill(), json, lambda text: str(text).rstrip(), verbatim=True)
        return
    if print_config:
        from api.mcp.clients import CLIENTS, config

        report = {"client": print_config.value, "place": CLIENTS[print_config.value].place, "config": config(print_config.value, home, local_files)}
        put(report, json, lambda value: str(value["config"]), verbatim=True)
        print(f"belongs into {report['place']}", file=sys.stderr)
        return
    from api.mcp.server import stdio
    from api.server.build_process import builder
    from api.server.engines import KeptParts
    from api.server.jobs import Jobs

    parts = KeptParts(configuration.load(home=home, offline=offline or None))
    service = Service(parts)
    jobs = Jobs(parts.settings.home, builder(parts.settings), parts.settings.queue)
    jobs.start()
    _leave_when_told(jobs.close)
    try:
        stdio(service, jobs, local=local_files)
    finally:
        jobs.close()
        parts.close()


def _leave_when_told(close: Callable[[], None]) -> None:
    """Exit cleanly on a signal after `close`; the thread that reads stdin would otherwise wait forever for its client."""

    def leave(*_: object) -> None:
        close()
        os._exit(0)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
