"""What has changed since a lineage was built is found, built and told."""

from __future__ import annotations

import shutil
from dataclasses import replace

from indexer.sandbox.pool import Sandbox
from tests.demo import DEMO, NAME, Demo
from tests.indexer.test_lock import MOVED, OTHER, later
from tests.upstream import Upstream
from tests.upstream.world import World


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


def test_another_commit_parses_only_the_files_that_it_changed(tmp_path, monkeypatch):
    members, parsed = Sandbox.members, []

    def noted(self, items, *rest, **more):
        if "parser" not in more and len(rest) < 3:
            parsed.extend(path for path, _ in items)
        return members(self, items, *rest, **more)

    with Upstream(World.load(DEMO)) as running:
        Demo(tmp_path / "one", running.url).build()
    shutil.copytree(DEMO, tmp_path / "later")
    (changed,) = (tmp_path / "later" / OTHER).rglob("optim.py")
    changed.write_text(changed.read_text() + "\nwarmup_epochs = 7\n")
    world = World.load(tmp_path / "later")
    moved = {name: replace(repo, sha=MOVED) if repo.folder == OTHER else repo for name, repo in world.repositories.items()}
    with Upstream(replace(world, repositories=moved)) as running, monkeypatch.context() as patch:
        patch.setattr(Sandbox, "members", noted)
        demo = Demo(tmp_path / "one", running.url)
        (updated,) = demo.service.update()
        patch.undo()
        content, scratch = demo.build().content_hash, Demo(tmp_path / "other", running.url).build().content_hash
    assert parsed == [changed.relative_to(tmp_path / "later" / OTHER).as_posix()]
    assert [change.after for change in updated.works] == [MOVED]
    assert content == scratch
