"""Commands for agents: mcp."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from api.cli.commands.common import Home, Json, Offline, put
from api.operations import Service
from lineage import settings as configuration


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
    from api.server.engines import KeptParts
    from api.server.jobs import Jobs

    parts = KeptParts(configuration.load(home=home, offline=offline or None))
    service = Service(parts)
    jobs = Jobs(parts.settings.home, lambda request, watch: service.build(request, watch=watch), parts.settings.queue)
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
