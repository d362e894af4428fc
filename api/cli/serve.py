"""Commands that serve programs: serve (page, REST, MCP over HTTP) and mcp (stdio)."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Literal

import typer
from pydantic import SecretStr

from api.cli import exit_codes
from api.cli.common import Run, command, option
from api.operations import Service
from api.wire.encode import envelope


@command(offline=True)
def serve(
    run: Run,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; beyond this machine only with LINEAGE_TOKEN set.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on (0: any that is free).")] = 8765,
    private: Annotated[
        bool, typer.Option("--private", help="Ask for a token made for this start; the page's address has it, your Python clients find it.")
    ] = False,
) -> None:
    """Serve the page, REST (/docs) and MCP (/mcp) until interrupted; builds that were asked for are resumed.

    Examples:

      lineage serve

      lineage serve --private

      LINEAGE_TOKEN=secret lineage serve --host 0.0.0.0 --port 80
    """
    from api.rest.app import application
    from api.server.security import policy_of
    from api.server.server import leave
    from api.server.server import serve as listen

    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it tells of every client that goes away in mid-answer
    settings = run.settings
    if private:
        settings = settings.model_copy(update={"token": SecretStr(secrets.token_urlsafe())})
    token = settings.token.get_secret_value() if private else ""
    app = application(settings, policy_of(settings, host))

    def up(address: str) -> None:
        page = f"{address}/#?token={token}" if private else address
        print(f"listening on {page}   endpoints: {address}/docs   agents: {address}/mcp   end with Ctrl-C", file=sys.stderr)
        if run.json:
            exit_codes.say(envelope({"url": address, "home": settings.home, "token": bool(settings.token.get_secret_value())}), exact=True)

    listen(app, settings.home, host, port, up, token)
    leave()


@command(offline=True)
def mcp(
    run: Run,
    print_config: Annotated[
        Literal["claude", "codex", "cursor", "vscode"] | None,
        option("--print-config", help="Print the configuration for a client, and serve nothing."),
    ] = None,
    print_skill: Annotated[bool, typer.Option("--print-skill", help="Print a SKILL.md that teaches an agent when to ask; serve nothing.")] = False,
    local_files: Annotated[bool, typer.Option("--local-files", help="Let the agent build from papers and folders of this machine.")] = False,
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

        run.put({"skill": skill()} if run.json else skill(), lambda text: str(text).rstrip(), verbatim=True)
        return
    if print_config:
        from api.mcp.clients import CLIENTS, config

        report = {"client": print_config, "place": CLIENTS[print_config].place, "config": config(print_config, run.home, local_files)}
        run.put(report, lambda value: str(value["config"]), verbatim=True)
        print(f"goes into {report['place']}", file=sys.stderr)
        return
    from api.mcp.server import stdio
    from api.server.build_process import builder
    from api.server.engines import KeptParts
    from api.server.jobs import Jobs
    from indexer.store.atomic_files import private

    parts = KeptParts(run.settings)
    service = Service(parts)
    jobs = Jobs(parts.settings.home, builder(parts.settings), parts.settings.queue)
    with private(parts.settings.home):
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
