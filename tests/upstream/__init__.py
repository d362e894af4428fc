"""The loopback upstream: Semantic Scholar, arXiv, GitHub and Hugging Face papers over real HTTP, from a folder of facts.

It stands in for the whole outside world through `LINEAGE_MIRROR`, so that the demonstration, the tests and fault
injection run the very code path that a real build runs. Standard library only: it must start on a bare machine.

    with Upstream(World.load(Path("examples/demo"))) as upstream:
        os.environ["LINEAGE_MIRROR"] = upstream.url
        ...
        upstream.requests        # what was asked, when, on which connection
"""

from tests.upstream.answer import Answer, Ask, Wire
from tests.upstream.faults import Fault, Faults
from tests.upstream.server import Request, Upstream
from tests.upstream.world import World

__all__ = ["Answer", "Ask", "Fault", "Faults", "Request", "Upstream", "Wire", "World"]
