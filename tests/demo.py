"""The demonstration lineage as tests use it: a service over a home folder and a loopback upstream."""

from __future__ import annotations

from pathlib import Path

from api.bootstrap import Parts
from api.operations import Service
from indexer.plan import BuildReport, BuildRequest
from lineage import settings
from tests.fakes.embedder import HashingEmbedder

DEMO = Path(__file__).resolve().parent.parent / "examples" / "demo"
TARGET = "arxiv:9912.00001"
NAME = "arxiv-9912.00001"


class Demo:
    """A home, its service, and `build`; embeds with hashed words unless `packaged`."""

    report: BuildReport

    def __init__(self, home: Path, mirror: str, *, packaged: bool = False, **flags: object) -> None:
        self.home = home
        parts = Parts(settings.load(**{"home": home, "mirror": mirror, "deadline": 5.0, "patience": 5.0, **flags}))
        if not packaged:
            parts.__dict__["embedder"] = HashingEmbedder()
        self.service = Service(parts)

    def build(self, target: str = TARGET, **wanted: object) -> BuildReport:
        return self.service.build(BuildRequest(target, **wanted))
