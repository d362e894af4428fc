"""A build whose parsing and embedding run on a Dask cluster of local processes makes what a build here makes."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from indexer import cluster as remote
from indexer.sandbox.pool import Limits, Sandbox
from indexer.store.computed_cache import VectorCache
from lineage import settings
from lineage.errors import EmbedderMismatch, ParseError, SettingsError, UpstreamError
from lineage.generation import open_generation
from lineage.records import WorkId
from tests.demo import NAME, Demo
from tests.fakes.embedder import HashingEmbedder

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.timeout(300)
FILES = [(f"a{n}.py", f"def f{n}(x):\n    return x + {n}\n".encode()) for n in range(7)] + [("b.py", b"def (:\n"), ("c.md", b"# Title\n\ntext\n")]


@pytest.fixture(scope="module")
def workers():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster


@pytest.fixture
def address(workers):
    with distributed.Client(workers, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    return workers.scheduler_address


def _vectors(demo):
    with open_generation(demo.home, NAME) as generation:
        return np.asarray(generation.vectors)


def test_the_content_and_the_vectors_are_those_of_a_build_here(built, address, upstream, tmp_path):
    there = Demo(tmp_path / "there", upstream.url, packaged=True, dask=address)
    assert there.build().content_hash == built.report.content_hash
    assert _vectors(there) == pytest.approx(_vectors(built), abs=1e-5)


def test_a_worker_that_is_killed_in_mid_build_costs_its_tasks_only(built, address, upstream, tmp_path, monkeypatch):
    there, killed, put = Demo(tmp_path / "there", upstream.url, packaged=True, dask=address), [], VectorCache.put
    monkeypatch.setattr("indexer.documents._BATCH", 40)

    def put_and_kill(self, embedder, vectors):
        put(self, embedder, vectors)
        if not killed:
            with distributed.Client(address, set_as_default=False) as client:
                pid = next(iter(client.run(os.getpid).values()))
            killed.append(threading.Timer(0.2, os.kill, (pid, signal.SIGKILL)))
            killed[0].start()

    monkeypatch.setattr(VectorCache, "put", put_and_kill)
    assert there.build().content_hash == built.report.content_hash
    assert killed
    assert _vectors(there) == pytest.approx(_vectors(built), abs=1e-5)


def test_members_come_in_order_with_the_documents_of_a_sandbox_here(address):
    work, blob = WorkId("repo:github.com/o/n"), "0" * 64
    with Sandbox() as here, remote.connected(settings.load(dask=address)) as cluster, cluster.sandbox(Limits()) as there:
        mine, theirs = there.members(FILES, work, blob), here.members(FILES, work, blob)
        assert [str(one) if isinstance(one, ParseError) else one for one in mine] == [
            str(one) if isinstance(one, ParseError) else one for one in theirs
        ]
        assert there.members([], work, blob) == []


def test_a_file_that_kills_its_child_is_a_row_and_the_worker_lives(address):
    with remote.connected(settings.load(dask=address)) as cluster, cluster.sandbox(Limits(wall=1.0, cpu=1)) as there:
        found = there.members(
            [("a", b"say hello"), ("b", b"crash"), ("c", b"say hello")], WorkId("local:x"), "0" * 64, parser="tests.indexer.hostile_parser"
        )
        assert [isinstance(one, ParseError) for one in found] == [False, True, False]


def test_a_worker_with_another_model_is_refused(address):
    own = HashingEmbedder()
    with remote.connected(settings.load(dask=address)) as cluster:
        embedder = cluster.embedder(own, settings.load(embedder="static"))
        with pytest.raises(EmbedderMismatch, match="a worker embeds with static-"):
            embedder.passages(["a text"])
        assert np.array_equal(embedder.queries(["a text"]), own.queries(["a text"]))


def test_a_cluster_that_is_lost_is_an_error_that_says_to_go_on():
    lost = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50)
    with lost, remote.connected(settings.load(dask=lost.scheduler_address)) as cluster:
        lost.scale(0)
        threading.Timer(1.0, lost.close).start()
        with pytest.raises(UpstreamError, match="cluster was lost"):
            cluster.run(time.sleep, 60)


def test_where_nobody_answers_the_error_says_what_to_start(monkeypatch):
    monkeypatch.setattr(remote, "_WAIT", 1.0)
    with pytest.raises(UpstreamError, match="no scheduler answers"), remote.connected(settings.load(dask="tcp://127.0.0.1:9")):
        pass
    with pytest.raises(SettingsError):
        settings.load(dask="elsewhere")


def test_local_means_processes_of_this_machine():
    with remote.connected(settings.load(dask="local:1")) as cluster:
        assert cluster.workers == 1
        assert cluster.run(os.getpid) != os.getpid()
