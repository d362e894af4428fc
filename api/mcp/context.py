"""What the tools share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.operations import Service
    from api.server.jobs import Jobs


@dataclass(frozen=True)
class Desk:
    """The operations, the build jobs, and whether a build may read local files (`local`).

    What a model asks for may be what a paper told it to ask; so files are read only where the one who started the
    server said so, and never over HTTP.
    """

    service: Service
    jobs: Jobs
    local: bool = False
