"""Where a lineage comes from, and whether its sources hand out what it holds: what an altered mirror gave is found."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest

from api.cli import display
from tests.demo import DEMO, NAME, Demo
from tests.upstream import Upstream, World


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    """The demonstration lineage as a mirror gave it that had altered one file of one repository."""
    folder = tmp_path_factory.mktemp("forged")
    shutil.copytree(DEMO, folder / "demo")
    altered = next((folder / "demo" / "repos" / "qmori" / "softcrop").rglob("*.py"))
    altered.write_text(altered.read_text() + "\nFORGED = 0.5\n")
    with Upstream(World.load(folder / "demo")) as mirror:
        demo = Demo(folder / "home", mirror.url)
        demo.build()
    return demo, altered.name


def checked(demo, world):
    """The checks of its lineage against the sources of a world."""
    with Upstream(world) as running:
        return Demo(demo.home, running.url).service.against_source(NAME)


def test_what_its_sources_hand_out_matches_and_an_altered_file_is_named(forged, world):
    demo, name = forged
    answers = {path.name: path.read_bytes() for path in (demo.home / "requests").rglob("*.json")}
    checks = checked(demo, world)
    assert Counter(row.verdict for row in checks)["differs"] == 1
    (wrong,) = [row for row in checks if row.verdict == "differs"]
    assert wrong.work == "repo:github.com/qmori/softcrop"
    assert name in wrong.detail
    assert wrong.same == wrong.checked - 1
    assert {row.verdict for row in checks} == {"match", "differs"}
    assert display.source_checks(checks).endswith(f"{len(checks) - 1} match, 1 differs, 0 gone, 0 not checked")
    assert {path.name: path.read_bytes() for path in (demo.home / "requests").rglob("*.json")} == answers


def test_a_repository_that_is_gone_is_said_to_be_so(forged, world):
    demo, _ = forged
    without = {name: repository for name, repository in world.repositories.items() if name != "qmori/softcrop"}
    verdicts = {row.work: row.verdict for row in checked(demo, World(world.root, world.papers, without, world.hub))}
    assert verdicts["repo:github.com/qmori/softcrop"] == "gone"


def test_every_answer_says_that_a_mirror_was_asked_and_a_bundle_that_it_was_imported(forged, tmp_path):
    demo, _ = forged
    expected = {"built": "here", "upstream": "mirror", "verified": False, "bundle": None, "signer": None}
    results = (
        demo.service.query("learning rate"),
        demo.service.gaps(),
        demo.service.context("write the training loop"),
        demo.service.status(),
        demo.service.show(),
        demo.service.lineages()[0],
        demo.service.grep("lr"),
    )
    assert [vars(result.provenance) for result in results] == [expected] * len(results)
    file = tmp_path / "demo.lineage"
    exported = demo.service.export(out=file)
    other = Demo(tmp_path / "home", "", offline=True)
    brought = other.service.import_(file)
    origin = other.service.query("learning rate").provenance
    assert (origin.built, origin.upstream, origin.verified) == ("imported", "unknown", False)
    assert (origin.bundle.sha256, origin) == (exported.sha256, brought.provenance)
    assert "imported from a bundle of " in display.lineages(other.service.lineages())
    manifest = next(other.home.glob("lineages/*/gen/*/manifest.json"))
    assert json.loads(manifest.read_bytes())["provenance"]["bundle"]["id"] == origin.bundle.id
