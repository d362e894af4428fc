"""What has changed since a lineage was built is found, built and told."""

from __future__ import annotations

from tests.demo import NAME, Demo
from tests.indexer.test_lock import MOVED, later
from tests.upstream import Upstream


def test_a_new_commit_is_found_and_what_it_changes_is_told(world, tmp_path):
    with Upstream(world) as running:
        demo = Demo(tmp_path, running.url)
        demo.build()
        (same,) = demo.service.update()
        assert (same.lineage, same.works, same.values) == (NAME, (), ())
    with Upstream(later(world)) as running:
        demo = Demo(tmp_path, running.url)
        (updated,) = demo.service.update(every=True)
    assert updated.generation > same.generation
    assert MOVED in {change.after for change in updated.works}
    assert updated.values, "the settings of another repository stand there now"
