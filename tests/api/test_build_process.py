"""Builds in a process of their own: told to stop they end at once, whatever they are at, and lose nothing."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest

from api.server import build_process
from api.server.build_process import builder
from api.server.jobs import Jobs
from indexer.plan import BuildRequest
from lineage import settings
from lineage.errors import UpstreamError
from tests.crash import children, gone

SLOW = "def f{n}(x):\n    return x * {n} + sum(i for i in range({n}))\n\n\n"
PATIENCE = 600.0
"""Seconds before a test gives up; nothing is measured by it."""


@pytest.fixture
def code(tmp_path):
    """A folder whose files take the packaged model half a minute and more to embed."""
    folder = tmp_path / "code"
    folder.mkdir()
    for n in range(40):
        body = "".join(SLOW.format(n=100 * n + k) * 3 for k in range(20))
        (folder / f"m{n}.py").write_text(body)
    return folder


def made(home, **flags):
    """A queue of builds in processes of their own over a home without network."""
    chosen = settings.load(home=home, offline=True, **flags)
    return Jobs(home, builder(chosen))


def until(holds):
    """Wait for it."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def at(stage, jobs, job):
    """Whether the build has come to a stage."""
    return any(event.kind == "stage" and event.data["name"] == stage for event in jobs.events(job.id))


def kept(home):
    """How many results of parsing and embedding the store keeps."""
    total = 0
    for path in (home / "cache").glob("*.db"):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=PATIENCE)) as db:
            total += db.execute("SELECT count(*) FROM kept").fetchone()[0]
    return total


@pytest.fixture
def leaders(monkeypatch):
    """The processes of builds, as they are started."""
    started, known = build_process._started, []

    def noted():
        known.append(started())
        return known[-1]

    monkeypatch.setattr(build_process, "_started", noted)
    return known


def test_a_build_that_embeds_is_cancelled_before_it_ends_leaves_no_process_and_keeps_what_it_did(tmp_path, code, leaders):
    jobs = made(tmp_path / "home")
    jobs.start()
    try:
        job = jobs.submit(BuildRequest(str(code)))
        until(lambda: at("embed", jobs, job))
        under, before = children(leaders[0].pid), kept(tmp_path / "home")
        jobs.cancel(job.id)
        until(lambda: jobs.get(job.id).finished)
        assert jobs.get(job.id).state == "cancelled"
        assert leaders[0].poll() is not None
        until(lambda: all(gone(pid) for pid in under))
        assert kept(tmp_path / "home") >= before
        assert jobs.resume(job.id).state == "queued"
    finally:
        jobs.close()


def test_a_queue_that_builds_closes_leaves_no_process_and_the_job_waits_for_the_next(tmp_path, code, leaders):
    jobs = made(tmp_path / "home")
    jobs.start()
    job = jobs.submit(BuildRequest(str(code)))
    until(lambda: at("chunk", jobs, job))
    under = children(leaders[0].pid)
    jobs.close()
    until(lambda: jobs.get(job.id).state == "queued")
    assert leaders[0].poll() is not None
    until(lambda: all(gone(pid) for pid in under))


def test_a_job_is_done_in_a_process_and_its_report_comes_back(tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "x.py").write_text("def learning_rate():\n    return 0.1\n")
    jobs = made(tmp_path / "home")
    jobs.start()
    try:
        job = jobs.submit(BuildRequest(str(tmp_path / "small")))
        until(lambda: jobs.get(job.id).finished)
    finally:
        jobs.close()
    ended = jobs.get(job.id)
    assert (ended.state, ended.error) == ("done", None)
    assert ended.report["chunks"] == 1
    assert ended.report["provenance"] == {"built": "here", "upstream": "none", "verified": True, "bundle": None, "signer": None}


def test_errors_of_the_process_come_back_as_errors_of_their_kind(tmp_path):
    class Watch:
        def __call__(self, event):
            """It hears of it."""

        def check(self):
            """It is never told to stop."""

    with pytest.raises(UpstreamError, match="nothing is sent offline"):
        builder(settings.load(home=tmp_path, offline=True))(BuildRequest("arxiv:9912.00001"), Watch())
