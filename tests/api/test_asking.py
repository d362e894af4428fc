"""What is wrong with a request is said before any work is done for it, in the same words at every door."""

from __future__ import annotations

import shutil
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.bootstrap import Parts
from api.cli import common
from api.operations import Service
from api.server.engines import KeptParts
from lineage import settings
from lineage.errors import NotFound, UsageError
from tests.api.mcp_desk import Store
from tests.fakes import small_lineage
from tests.fakes.embedder import HashingEmbedder


class Idle(Parts):
    """Parts of which no engine may be opened."""

    def kept_gaps(self, lineage, no_target_code):
        return None

    def engine(self, lineage):
        raise AssertionError("work was begun")


@pytest.mark.parametrize(
    ("ask", "said", "hint"),
    [
        (lambda service: service.context("  ", lineage="x"), "the task is empty", "say what is to be written"),
        (lambda service: service.context("x", lineage="x", tokens=10), "a budget of 10 tokens holds no", "at least 100 tokens"),
        (lambda service: service.context("x", lineage="x", tokens=0), "1 to 1,000,000", ""),
        (lambda service: service.context("x", lineage="x", tokens=2_000_000), "1 to 1,000,000", ""),
        (lambda service: service.context("x" * 70_000, lineage="x"), "70,000 bytes; at most 65,536", ""),
        (lambda service: service.context("x", lineage="x", stage="dreaming"), "no stage 'dreaming'", "planning, analysis, coding"),
        (lambda service: service.gaps(lineage="x", topic="banana"), "no detail has the topic 'banana'", "architecture, "),
        (lambda service: service.gaps(lineage="x", state="banana"), "no state 'banana'", "partially_specified"),
    ],
)
def test_wrong_arguments_are_refused_before_an_engine_is_opened(tmp_path, ask, said, hint):
    with pytest.raises(UsageError) as refused:
        ask(Service(Idle(settings.load(home=tmp_path))))
    assert said in str(refused.value)
    assert hint in refused.value.hint


@pytest.mark.parametrize(("state", "topic"), [("", ""), ("partial", "Optimiser"), ("unspecified", "optimizer")])
def test_what_a_report_may_have_is_let_through(tmp_path, state, topic):
    (tmp_path / "lineages" / "x").mkdir(parents=True)
    (tmp_path / "lineages" / "x" / "CURRENT").write_text("000001-00000000")
    with pytest.raises(AssertionError, match="work was begun"):
        Service(Idle(settings.load(home=tmp_path))).gaps(lineage="x", state=state, topic=topic)


def test_which_lineage_is_asked_without_a_flag_that_only_some_commands_have(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "lineages" / name).mkdir(parents=True)
        (tmp_path / "lineages" / name / "CURRENT").write_text("000001-00000000")
    with pytest.raises(UsageError) as refused:
        Service(Parts(settings.load(home=tmp_path))).status()
    assert refused.value.hint == "name one of: one, two"


def test_long_questions_say_what_they_are_at(tmp_path):
    events = []
    service = Store(tmp_path).service
    service.gaps(watch=events.append)
    service.context("adapt the model at test time", watch=events.append)
    assert [event.name for event in events] == ["gaps", "gaps", "pack"]


@pytest.mark.parametrize(("quiet", "terminal", "silent"), [(False, True, False), (True, True, True), (False, False, True)])
def test_progress_of_seconds_is_for_terminals(monkeypatch, quiet, terminal, silent):
    told = []
    monkeypatch.setattr("api.cli.progress.watching", told.append)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    common.Run({}, quiet=quiet).watching_on_a_terminal()
    assert told == [silent]


def test_a_lineage_that_is_being_opened_holds_up_nobody_who_asks_another(tmp_path):
    for name in ("one", "two"):
        small_lineage.build(tmp_path, HashingEmbedder(), name=name)
    parts, opening, go_on = KeptParts(settings.load(home=tmp_path)), threading.Event(), threading.Event()
    parts.__dict__["embedder"] = HashingEmbedder()
    whole = parts.opened

    def opened(name):
        if name == "one":
            opening.set()
            assert go_on.wait(60)
        return whole(name)

    def used(name):
        with parts.engine(name) as engine:
            return engine

    parts.opened = opened
    with ThreadPoolExecutor(2) as pool:
        slow = [pool.submit(used, "one") for _ in range(2)]
        assert opening.wait(60)
        used("two")
        go_on.set()
        assert slow[0].result() is slow[1].result()
    assert parts.open_engines() == 2
    parts.close()


def test_evidence_is_found_beside_a_damaged_lineage(tmp_path):
    store = Store(tmp_path)
    damaged = tmp_path / "lineages" / "0bad"
    shutil.copytree(tmp_path / "lineages" / "small", damaged)
    for manifest in damaged.rglob("manifest.json"):
        manifest.write_text("{")
    chunk = small_lineage.chunks()[0].id
    assert store.service.evidence(chunk).lineage == "small"
    with pytest.raises(NotFound) as missing:
        store.service.evidence("c_00000000")
    assert missing.value.hint.endswith("not searched because it cannot be read: 0bad")


def test_what_an_engine_left_behind_goes_when_the_next_one_opens(tmp_path):
    """Open engines are kept from the garbage collector; what they leave in a circle must not be kept with them for good."""
    for name in ("one", "two"):
        small_lineage.build(tmp_path, HashingEmbedder(), name=name)
    parts = KeptParts(settings.load(home=tmp_path))
    parts.__dict__["embedder"] = HashingEmbedder()
    circle: list[object] = [type("Left", (), {})()]
    left = weakref.ref(circle[0])
    circle.append(circle)
    with parts.engine("one"):
        del circle
    with parts.engine("two"):
        assert left() is None
    parts.close()
