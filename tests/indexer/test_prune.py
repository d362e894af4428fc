"""What no lineage refers to can go; what one refers to stays."""

from __future__ import annotations

import os
from pathlib import Path

from indexer.store.blobs import Blobs
from tests.demo import Demo
from tests.upstream import Upstream


def _aged(home: Path) -> None:
    for path in (*home.glob("blobs/*/*"), *home.glob("requests/*/*")):
        os.utime(path, (1, 1))


def test_what_no_lineage_refers_to_goes_and_a_build_still_needs_nothing(world, tmp_path):
    with Upstream(world) as running:
        demo = Demo(tmp_path, running.url)
        demo.build()
        stray = Blobs(tmp_path).put(b"nobody asked for this")
        assert demo.service.prune().blobs == 0, "what came today may be of a build under way"
        _aged(tmp_path)
        seen = demo.service.prune()
        assert (seen.lineages, seen.answers, seen.removed) == (1, 0, False)
        assert seen.blobs >= 1
        assert seen.bytes >= stray.size
        assert Blobs(tmp_path).has(stray.sha256), "without being told to it only counts"
        assert demo.service.prune(remove=True).removed
        assert not Blobs(tmp_path).has(stray.sha256)
        running.forget()
        demo.build()
        assert running.requests == []
