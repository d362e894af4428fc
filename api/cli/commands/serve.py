"""Commands that open a door for programs: serve."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from api.cli import exit_codes
from api.cli.commands.common import Home, Json, Offline
from api.wire import hits
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
            exit_codes.say(hits.envelope({"url": address, "home": settings.home, "token": bool(settings.token.get_secret_value())}), exact=True)

    listen(app, settings.home, host, port, up)
    leave_soon()
