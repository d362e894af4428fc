"""Shared by every test: nobody's settings, no network but loopback, and the demonstration's upstream."""

from __future__ import annotations

import os

import pytest

from indexer.sandbox import pool
from tests import honest_world
from tests.demo import DEMO, Demo
from tests.upstream import Upstream, World


@pytest.fixture(autouse=True)
def _settings_of_nobody(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("LINEAGE_")] + ["S2_API_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LINEAGE_CONFIG", os.devnull)
    monkeypatch.setenv("LINEAGE_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="session", autouse=True)
def _kept_children():
    """The builds of a test process share their parsing children: one costs half a second of processor time to start, and forks for every job."""
    idle: list[pool.Zygote] = []

    class Kept(pool.Zygote):
        def close(self) -> None:
            if self.reusable():
                idle.append(self)
            else:
                super().close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "Zygote", lambda: idle.pop() if idle else Kept())
        yield
    for child in idle:
        pool.Zygote.close(child)


@pytest.fixture(scope="session")
def world():
    return World.load(DEMO)


@pytest.fixture
def upstream(world):
    with Upstream(world) as running:
        yield running


@pytest.fixture(scope="session")
def built(world, tmp_path_factory):
    """The demonstration lineage, built once with the packaged embedder; tests only read it."""
    with Upstream(world) as running:
        demo = Demo(tmp_path_factory.mktemp("built"), running.url, packaged=True)
        demo.report = demo.build()
    return demo


@pytest.fixture(scope="session")
def honest(tmp_path_factory):
    """The lineage of `honest_world`, built with the target's code (`with`) and without (`without`); tests only read it."""
    with Upstream(honest_world.world(tmp_path_factory.mktemp("world"))) as running:
        demo = Demo(tmp_path_factory.mktemp("honest"), running.url, packaged=True)
        for flag, name in ((False, "with"), (True, "without")):
            demo.build(honest_world.TARGET, name=name, no_target_code=flag)
    return demo
