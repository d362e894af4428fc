"""Shared code through a whole build: it raises the reference, is stored, and `show` prints it."""

from __future__ import annotations

import shutil
from dataclasses import replace

from api.cli import display
from api.wire.encode import to_json
from tests.demo import DEMO, Demo
from tests.upstream import Upstream

NAME = "arxiv-9911.00102"


def _plainvit(world, folder):
    """The demonstration's world, in which PatchMask's masking was taken from PlainViT too, besides the layers it has from there."""
    known = world.repositories["slateworks/plainvit"]
    shutil.copytree(DEMO / known.folder, folder)
    shutil.copy(DEMO / "repos" / "northlake-vision" / "patchmask" / "patchmask" / "masking.py", folder / "plainvit_masking.py")
    return replace(world, repositories={**world.repositories, "slateworks/plainvit": replace(known, folder=str(folder))})


def test_a_reference_whose_code_the_target_took_over_is_raised_and_says_so(tmp_path, world):
    with Upstream(world) as running:
        Demo(tmp_path / "before", running.url).build("arxiv:9911.00102")
        before = Demo(tmp_path / "before", running.url).service.show(NAME)
    with Upstream(_plainvit(world, tmp_path / "plainvit")) as running:
        demo = Demo(tmp_path / "after", running.url)
        made = demo.build("arxiv:9911.00102")
        after = demo.service.show(NAME)
        running.forget()
        assert demo.build("arxiv:9911.00102").content_hash == made.content_hash
        assert running.requests == []
    plain, raised = (next(r for r in shown.references if r.cited == "arxiv:9910.00103") for shown in (before, after))
    assert raised.score > plain.score
    assert "its repository shares 1 file with the target's" in plain.why
    assert "its repository shares 2 files with the target's" in raised.why
    assert [(one.one, one.other, one.files) for one in after.shared_code] == [
        ("repo:github.com/northlake-vision/patchmask", "repo:github.com/slateworks/plainvit", 2)
    ]
    assert (
        "github.com/northlake-vision/patchmask and github.com/slateworks/plainvit: 2 files (patchmask/masking.py, patchmask/vendor/layers.py)"
        in display.overview(after)
    )
    assert to_json(after)["shared_code"][0]["files"] == 2
    assert before.shared_code[0].examples == ("patchmask/vendor/layers.py",)
    model = next(one for one in after.ancestors if one.part == "model")
    assert model.work == "arxiv:9910.00103"
    assert "ancestors by part:" in display.overview(after)
    assert to_json(after)["ancestors"][0]["title"]
