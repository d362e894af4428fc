"""Lock files: the same content from the same bytes, whatever the services say by then."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from api.requests import Build
from indexer.lock.form import read
from indexer.plan import BOUNDS
from lineage.errors import BadBundle, NotFound, UsageError
from lineage.generation import open_generation
from tests.demo import NAME, TARGET, Demo
from tests.upstream import Upstream
from tests.upstream.faults import Fault, Faults
from tests.upstream.faults import Status as Answer
from tests.upstream.world import Citation, repacked

MOVED = "a" * 40
OTHER = "repos/slateworks/plainvit"


@pytest.fixture(scope="module")
def locked(world, tmp_path_factory):
    """(report, path of the lock): the demonstration, built and locked."""
    home = tmp_path_factory.mktemp("locked")
    with Upstream(world) as running:
        demo = Demo(home, running.url)
        report = demo.build()
        running.forget()
        demo.service.lock(out=home / "lineage.lock")
        assert running.requests == []
    return report, home / "lineage.lock"


def later(world):
    """The same services some months on: heads and versions have moved, lists have grown, code links are gone."""
    repositories = {}
    for name, repo in world.repositories.items():
        moved = replace(
            repo, sha=MOVED, date="2026-01-01T00:00:00Z", folder="repos/slateworks/plainvit", stars=repo.stars + 900, past={repo.sha: repo.folder}
        )
        repositories[name] = moved
    papers = {}
    for key, paper in world.papers.items():
        grown = (*paper.references, Citation(None, "A Paper That Was Added Later")) if paper.references else paper.references
        former = {f"v{paper.versions}": paper.source} if paper.source else {}
        source = "papers/9908.00105.tex" if paper.source else ""
        papers[key] = replace(
            paper, versions=paper.versions + 1, source=source, former=former, references=grown, abstract=paper.abstract + " Revised."
        )
    return replace(world, repositories=repositories, papers=papers, hub={})


def test_without_a_lock_a_later_build_is_another_one(world, locked, tmp_path):
    with Upstream(later(world)) as running:
        assert Demo(tmp_path, running.url).build().content_hash != locked[0].content_hash


def test_with_a_lock_another_machine_builds_the_same_content_from_services_that_have_moved_on(world, locked, tmp_path):
    report, lock = locked
    with Upstream(later(world)) as running:
        made = Demo(tmp_path, running.url).service.build_locked(lock)
        asked = [(request.host, request.path) for request in running.requests]
    assert made.content_hash == report.content_hash
    assert made.lineage == NAME
    assert any("what the lock file pins" in note for note in made.notes)
    assert {host for host, _ in asked} == {"codeload.github.com", "export.arxiv.org"}
    commits = {path.rpartition("/")[2] for host, path in asked if host == "codeload.github.com"}
    assert commits == {repo.at for repo in read(lock).repositories}
    assert all("v" in path.rpartition("/")[2] for host, path in asked if host == "export.arxiv.org")


def test_archives_that_hold_the_same_commit_in_other_bytes_give_the_same_content(world, locked, tmp_path):
    with Upstream(repacked(world)) as running:
        demo = Demo(tmp_path, running.url)
        assert demo.service.build_locked(locked[1]).content_hash == locked[0].content_hash
        assert demo.service.check(read_data=True) == ()
        running.forget()
        assert demo.service.build_locked(locked[1]).unchanged
        assert running.requests == []


def test_a_second_build_with_a_lock_sends_nothing_and_one_offline_neither(world, locked, tmp_path):
    with Upstream(later(world)) as running:
        first = Demo(tmp_path, running.url).service.build_locked(locked[1])
        running.forget()
        assert Demo(tmp_path, running.url).service.build_locked(locked[1]).unchanged
        assert running.requests == []
    assert Demo(tmp_path, "", offline=True).service.build_locked(locked[1]).generation == first.generation


def test_a_build_with_a_lock_leaves_no_answers_behind_that_a_build_without_would_read(world, locked, tmp_path):
    with Upstream(later(world)) as running:
        demo = Demo(tmp_path, running.url)
        demo.service.build_locked(locked[1], name="pinned")
        assert demo.build().content_hash == Demo(tmp_path / "other", running.url).build().content_hash


def test_a_lock_without_the_targets_code_keeps_it_out_on_the_other_machine_too(world, tmp_path):
    with Upstream(world) as running:
        demo = Demo(tmp_path / "a", running.url)
        report = demo.build("arxiv:9911.00102", no_target_code=True)
        demo.service.lock(out=tmp_path / "lineage.lock")
    with Upstream(later(world)) as running:
        other = Demo(tmp_path / "b", running.url)
        made = other.service.build_locked(tmp_path / "lineage.lock")
        assert not any("patchmask" in request.path for request in running.requests)
    assert made.content_hash == report.content_hash
    assert other.service.check() == ()


def test_a_file_that_is_not_the_pinned_one_is_not_taken_and_the_report_says_so(world, locked, tmp_path):
    changed = {key: replace(paper, source="papers/9908.00105.tex") if paper.arxiv == "9911.00102" else paper for key, paper in world.papers.items()}
    with Upstream(replace(world, papers=changed)) as running:
        made = Demo(tmp_path, running.url).service.build_locked(locked[1])
    assert made.content_hash != locked[0].content_hash
    assert any("not what the lock file pins" in note and "9911.00102" in note for note in made.notes), made.notes


def test_what_no_service_answered_is_named_as_open(world, tmp_path):
    with Upstream(world, faults=Faults((Fault("huggingface", Answer(500)),))) as running:
        demo = Demo(tmp_path, running.url)
        demo.build()
        made = demo.service.lock(out=tmp_path / "lineage.lock")
    assert any("hugging" in item.lower() for item in made.open), made.open


def test_a_lineage_of_ones_own_files_cannot_be_locked(tmp_path, upstream):
    (tmp_path / "paper.tex").write_text(r"\documentclass{article}\begin{document}\title{Mine}\section{One}Words.\end{document}")
    demo = Demo(tmp_path / "home", upstream.url)
    demo.build(str(tmp_path / "paper.tex"), name="mine")
    with pytest.raises(UsageError, match="files of yours"):
        demo.service.lock("mine", tmp_path / "lineage.lock")


def test_a_lineage_that_another_program_built_is_not_locked_as_if_it_were_ours(world, tmp_path, monkeypatch):
    with Upstream(world) as running:
        demo = Demo(tmp_path, running.url)
        demo.build()
    monkeypatch.setattr("indexer.pipeline.versions", lambda: "select@9")
    with pytest.raises(UsageError, match="not what a build would give now"):
        demo.service.lock(out=tmp_path / "lineage.lock")


def _changed(lock: Path, path: Path, **values: object) -> Path:
    path.write_text(json.dumps(json.loads(lock.read_text()) | values))
    return path


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", "[" * 50_000, '{"format": "lineage-lock"}', "\ud800".encode("utf-8", "surrogatepass")])
def test_what_is_no_lock_is_refused(tmp_path, content):
    (tmp_path / "x.lock").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadBundle, match="not a lock file"):
        read(tmp_path / "x.lock")


@pytest.mark.parametrize(
    "values",
    [
        {"version": 2},
        {"format": "uv"},
        {"settings": {"home": "/etc"}},
        {"settings": {"max_json": 1, "max_eprint": 1, "max_pdf": 1, "max_tarball": 10**15}},
        {"request": {"target": "/etc/passwd"}},
        {"request": {"target": TARGET, "add": ["./x.pdf"]}},
        {"request": {"target": TARGET, "depth": 10**9}},
        {"request": {"target": TARGET, "depth": -1}},
        {"request": {"target": TARGET, "papers": -5}},
        {"request": {"target": TARGET, "papers": 1e30}},
        {"request": {"target": TARGET, "repos": 501}},
        {"request": {"target": TARGET, "name": "../x"}},
        {"answers": [{"method": "GET", "url": "https://api.github.com/repos/a/b", "status": 200, "sha256": "0" * 64, "size": 2, "body": "{}"}]},
        {
            "answers": [
                {
                    "method": "GET",
                    "url": "https://codeload.github.com/a/b/tar.gz/c",
                    "status": 200,
                    "sha256": "0" * 64,
                    "size": 2,
                    "fetch": "file:///etc/passwd",
                }
            ]
        },
        {"answers": [{"method": "GET", "url": "https://x.org/", "status": 200, "sha256": "0" * 64, "size": 2, "body": "base64:%%%"}]},
    ],
)
def test_a_lock_that_says_what_no_lock_may_say_is_refused(locked, tmp_path, values):
    with pytest.raises(BadBundle):
        read(_changed(locked[1], tmp_path / "x.lock", **values))


@pytest.mark.parametrize("field", BOUNDS)
def test_a_lock_may_ask_for_what_the_other_doors_may_and_no_more(locked, tmp_path, field):
    for end, beyond in zip(BOUNDS[field], (-1, 1), strict=True):
        assert getattr(read(_changed(locked[1], tmp_path / "x.lock", request={"target": TARGET, field: end})).request, field) == end
        assert getattr(Build(target=TARGET, **{field: end}), field) == end
        with pytest.raises(BadBundle, match=field):
            read(_changed(locked[1], tmp_path / "x.lock", request={"target": TARGET, field: end + beyond}))
        with pytest.raises(ValidationError):
            Build(target=TARGET, **{field: end + beyond})


def test_an_address_in_a_lock_passes_the_same_gate_as_any_other(locked, tmp_path):
    value = json.loads(locked[1].read_text())
    for pin in value["answers"]:
        if "fetch" in pin:
            pin["fetch"] = "https://169.254.169.254/latest/meta-data"
    (tmp_path / "x.lock").write_text(json.dumps(value))
    made = Demo(tmp_path / "home", "").service.build_locked(tmp_path / "x.lock")
    with open_generation(tmp_path / "home", NAME) as generation:
        said = {row.detail for row in generation.catalog.ledger("source") if "codeload" in row.detail or "only these hosts" in row.detail}
    assert made.requests == {}
    assert any("only these hosts are asked" in detail for detail in said)


def test_a_lock_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(NotFound):
        read(tmp_path / "x.lock")
