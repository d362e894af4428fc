"""`python -m tests.upstream --data examples/demo --port 0`: serve a folder of facts until interrupted; prints the URL."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from tests.upstream.server import Upstream
from tests.upstream.world import World


def main() -> None:
    """Serve; the first line on stdout is the URL for LINEAGE_MIRROR."""
    parser = argparse.ArgumentParser(prog="python -m tests.upstream", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder with upstream.json")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    args = parser.parse_args()
    with Upstream(World.load(args.data), port=args.port) as upstream:
        print(upstream.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            upstream.join()


if __name__ == "__main__":
    main()
