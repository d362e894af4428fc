"""MCP resources: every lineage, and every piece of evidence that a hit links to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from api.mcp import search_tools
from api.mcp.arguments import ReadArguments
from api.mcp.context import Desk
from api.mcp.results import SCHEME
from api.wire import hits
from lineage.errors import NotFound

TEMPLATE = f"{SCHEME}://{{lineage}}/evidence/{{chunk}}"
_ADDRESS = re.compile(rf"{SCHEME}://([A-Za-z0-9][A-Za-z0-9._-]{{0,79}})(?:/evidence/(c_[A-Za-z0-9_.-]{{1,80}}))?\Z")
_MOST = 200


@dataclass(frozen=True)
class ResourceEntry:
    """A resource as listed."""

    uri: str
    name: str
    kind: str = "application/json"


def listed(desk: Desk) -> list[ResourceEntry]:
    """The lineages of the store, by name."""
    return [ResourceEntry(f"{SCHEME}://{row.lineage}", row.lineage) for row in desk.service.lineages()[:_MOST]]


def read(desk: Desk, uri: str) -> tuple[str, str]:
    """The text of a resource and its media type. Raises `NotFound` for an unknown address."""
    match = _ADDRESS.match(uri)
    if not match:
        raise NotFound(f"there is no resource {uri[:200]!r}", hint=f"addresses are {SCHEME}://LINEAGE and {TEMPLATE}")
    lineage, chunk = match.groups()
    if not chunk:
        return hits.dumps(hits.overview_to_json(desk.service.show(lineage))["report"]), "application/json"
    return search_tools.read(desk, ReadArguments(chunk=chunk, lineage=lineage)).text, "text/plain"
