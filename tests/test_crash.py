"""A build may die at any moment: what was served stays served, and the same command goes on from there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from indexer.store.generations import Store
from indexer.store.verify import check_shared
from lineage import generation as layout
from lineage.errors import DiskFull, LineageError, NotFound, StoreDamaged
from tests.crash import IN_FLIGHT, ROOT, children, gone, killed, violations
from tests.demo import NAME, TARGET, Demo
from tests.upstream import Upstream
from tests.upstream.faults import Fault, Faults, Stall

POINTS = (0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.985)
"""Where in a build it dies, as a share of its durable steps; `benchmarks/crash.py` tries every one."""
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture(scope="module")
def stage(world, tmp_path_factory):
    """An older generation to start from; the content of an undisturbed build, and its steps from nothing and from the older one."""
    folder = tmp_path_factory.mktemp("stage")
    with Upstream(world) as running:
        old = Demo(folder / "old", running.url).build(papers=0, repos=0).content_hash
        whole = killed(folder / "whole", running.url, 0)
        shutil.copytree(folder / "old", folder / "again")
        again = killed(folder / "again", running.url, 0)
    return folder, old, whole["content_hash"], (int(whole["steps"]), int(again["steps"]))


@posix
@pytest.mark.parametrize("share", POINTS)
def test_a_build_that_is_killed_leaves_the_old_generation_and_resumes_to_the_same_content(stage, tmp_path, upstream, share):
    folder, old, wanted, steps = stage
    fresh = POINTS.index(share) % 2 == 1
    if not fresh:
        shutil.copytree(folder / "old", tmp_path / "home")
    assert killed(tmp_path / "home", upstream.url, int(steps[not fresh] * share)) == {}
    assert violations(tmp_path / "home", upstream.url, wanted, "" if fresh else old) == []
    asked = Counter((request.method, request.host, request.path, request.query) for request in upstream.requests)
    assert sum(count - 1 for count in asked.values()) <= IN_FLIGHT


# -- signals


def command(home: Path, mirror: str, *words: str) -> subprocess.Popen[str]:
    """The command line in a process, hearing Ctrl-C and SIGHUP even where whoever runs the tests does not (`nohup`)."""
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler); hasattr(signal, 'SIGHUP') and signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    program = f"import signal; {heard}; from api.cli.app import main; main()"
    env = os.environ | {"LINEAGE_HOME": str(home), "LINEAGE_MIRROR": mirror}
    return subprocess.Popen(
        [sys.executable, "-c", program, *words], cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def until(process: subprocess.Popen[str], word: str) -> None:
    """Read what the process says until it says `word`."""
    for line in process.stderr:
        if word in line:
            return
    raise AssertionError(f"it never said {word!r}")


@posix
@pytest.mark.parametrize(("name", "when"), [("SIGINT", "papers"), ("SIGTERM", "parse code"), ("SIGHUP", "target")])
def test_a_build_that_is_told_to_stop_says_so_leaves_no_children_and_resumes(stage, tmp_path, upstream, name, when):
    _, _, wanted, _ = stage
    process = command(tmp_path, upstream.url, "build", TARGET, "--papers", "1", "--repos", "1")
    until(process, when)
    under = children(process.pid)
    process.send_signal(getattr(signal, name))
    out, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert said.endswith("error: interrupted\n  hint: finished work is kept; run the same command again to resume\n")
    assert "Traceback" not in said
    deadline = time.monotonic() + 60
    while not all(gone(pid) for pid in under):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert violations(tmp_path, upstream.url, wanted, "") == []


@posix
@pytest.mark.parametrize("signals", [1, 2])
def test_a_host_that_does_not_answer_holds_up_no_interrupt(tmp_path, world, signals):
    with Upstream(world, faults=Faults((Fault(r"huggingface", Stall(seconds=60)),))) as stalled:
        process = command(tmp_path, stalled.url, "build", TARGET, "--papers", "1", "--repos", "1")
        until(process, "references")
        time.sleep(0.5)  # so that requests are under way
        for _ in range(signals):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        _, said = process.communicate(timeout=30)  # half of what the host takes
    assert process.returncode == 130
    assert said.count("error: interrupted") == 1


# -- the disk


ON_A_SMALL_DISK = """
mount -t tmpfs -o size={size}k none {home} && {python} -c 'from api.cli.app import main; main()' build {target} --papers 1 --repos 1
echo "exit $?" && mount -o remount,size=100m none {home} && find {home} -name '.tmp-*' -o -name '.part-*' &&
{python} -m tests.crash {home} $LINEAGE_MIRROR 0 && {python} -c 'from api.cli.app import main; main()' check --read-data
"""


def unshared(script: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A script as root of a user namespace with mounts of its own."""
    return subprocess.run(
        ["unshare", "-Urm", "sh", "-c", script], cwd=ROOT, env=os.environ | env, capture_output=True, text=True, check=False, timeout=100
    )


def may_mount() -> bool:
    return (
        bool(shutil.which("unshare"))
        and subprocess.run(["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(not may_mount(), reason="needs a user namespace with mounts")
@pytest.mark.parametrize("size", [40, 250])
def test_a_full_disk_is_said_and_the_same_command_goes_on_when_there_is_room(stage, tmp_path, upstream, size):
    _, _, wanted, _ = stage
    script = ON_A_SMALL_DISK.format(size=size, home=tmp_path, python=sys.executable, target=TARGET)
    ended = unshared(script, LINEAGE_HOME=str(tmp_path), LINEAGE_MIRROR=upstream.url)
    first, *rest = ended.stdout.splitlines()
    assert first == "exit 4", ended.stderr
    assert "error: no room left to write" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert json.loads(rest[0])["content_hash"] == wanted
    assert rest[1] == "no problems found"


@posix
def test_vectors_that_find_no_room_are_a_full_disk_too(tmp_path):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(tmp_path).writing("small") as writing, writing.draft() as draft:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        try:
            with pytest.raises(DiskFull, match=r"vectors\.npy"):
                draft.vectors(np.ones((1_000, 384), np.float32), "any@1")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((tmp_path / "lineages/small/gen").iterdir())


# -- a damaged store


@pytest.fixture(scope="module")
def whole(world, tmp_path_factory):
    """A store with one small lineage, and an upstream that still has what it is made of."""
    with Upstream(world) as running:
        home = tmp_path_factory.mktemp("whole") / "home"
        made = Demo(home, running.url).build(papers=0, repos=0)
        yield home, running.url, made


def generation(home: Path) -> Path:
    return layout.generation_folder(home, NAME, layout.current(home, NAME))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.chmod(0o644)
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = {
    **{f"{name} {how.__name__}": (name, how) for name in (layout.CATALOG, layout.VECTORS, layout.MANIFEST) for how in (flip, cut, Path.unlink)},
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_named_and_built_anew_and_nothing_is_deleted(whole, tmp_path, name):
    source, url, made = whole
    home = tmp_path / "home"
    shutil.copytree(source, home)
    file, damage = DAMAGES[name]
    damage(generation(home) / file)
    before = sorted(path for path in home.rglob("*") if path.is_file())
    demo = Demo(home, url)
    assert any(file in finding.place for finding in demo.service.check(NAME))
    try:
        demo.service.query("how is the encoder initialized?")
    except LineageError as error:
        assert isinstance(error, StoreDamaged), error  # noqa: PT017 - a flipped bit may lie where this question does not look
    again = demo.build(papers=0, repos=0)
    assert again.content_hash == made.content_hash
    assert not again.unchanged
    assert not any(generation(home).name in finding.place for finding in demo.service.check())
    assert demo.service.query("how is the encoder initialized?").hits
    assert set(before) <= set(home.rglob("*"))


@pytest.mark.parametrize("content", [b"", b"garbage", b"000009-00000000\n", b"../../../etc\n", bytes(range(256))])
def test_a_pointer_that_points_nowhere_is_damage_and_the_next_build_sets_it_right(whole, tmp_path, content):
    source, url, made = whole
    home = tmp_path / "home"
    shutil.copytree(source, home)
    (layout.lineage_folder(home, NAME) / layout.CURRENT).write_bytes(content)
    demo = Demo(home, url)
    assert any("CURRENT" in finding.place for finding in demo.service.check(NAME))
    with pytest.raises(StoreDamaged):
        demo.service.query("how is the encoder initialized?")
    assert demo.build(papers=0, repos=0).content_hash == made.content_hash
    assert demo.service.check() == ()


def test_without_a_pointer_there_is_no_lineage_until_it_is_built_again(whole, tmp_path):
    source, url, made = whole
    home = tmp_path / "home"
    shutil.copytree(source, home)
    (layout.lineage_folder(home, NAME) / layout.CURRENT).unlink()
    demo = Demo(home, url)
    with pytest.raises(NotFound):
        demo.service.query("how is the encoder initialized?")
    assert [finding.problem for finding in demo.service.check()] == ["is missing"]
    assert demo.build(papers=0, repos=0).content_hash == made.content_hash


def test_a_damaged_blob_is_named_and_set_aside_and_fetched_anew(whole, tmp_path):
    source, url, made = whole
    home = tmp_path / "home"
    shutil.copytree(source, home)
    shutil.rmtree(home / "cache")
    shutil.rmtree(home / "lineages")
    blob = max((path for path in (home / "blobs").rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    flip(blob)
    demo = Demo(home, url)
    assert [Path(finding.place) for finding in check_shared(home)] == [blob]
    assert demo.build(papers=0, repos=0).content_hash == made.content_hash
    assert blob.with_suffix(".damaged").exists()


def test_a_cache_that_is_damaged_is_a_cache_that_is_empty(whole, tmp_path):
    source, url, made = whole
    home = tmp_path / "home"
    shutil.copytree(source, home)
    shutil.rmtree(home / "lineages")
    for path in (home / "cache").glob("*.db"):
        path.write_bytes(np.random.default_rng(0).bytes(5000))
    for path in (home / "politeness").glob("*.json"):
        path.write_text('{"last": "NaN", "not_before": [')
    assert Demo(home, url).build(papers=0, repos=0).content_hash == made.content_hash


# -- two at once


def test_two_processes_that_build_one_lineage_are_one_that_builds_and_one_that_is_told_so(stage, tmp_path, world):
    _, _, wanted, _ = stage
    with Upstream(world, faults=Faults((Fault(r"huggingface|codeload", Stall(seconds=1.5)),))) as slow:
        words = ("build", TARGET, "--papers", "1", "--repos", "1", "--json")
        one = command(tmp_path, slow.url, *words)
        until(one, "references")
        other = command(tmp_path, slow.url, *words)
        refused, said = other.communicate(timeout=60)
        one.kill()
        one.communicate()
    assert other.returncode == 4, said
    assert json.loads(refused)["error"]["type"] == "StoreBusy"
    assert f"process {one.pid}" in said
    assert wanted


def test_two_lineages_are_built_into_one_home_at_once(tmp_path, upstream):
    targets = (TARGET, "arxiv:9911.00102")
    running = [command(tmp_path, upstream.url, "build", target, "--papers", "0", "--repos", "0", "--json") for target in targets]
    ended = [(process.communicate(timeout=100), process.returncode) for process in running]
    assert [code for _, code in ended] == [0, 0], ended
    assert [json.loads(out)["data"]["target"]["id"] for (out, _), _ in ended] == list(targets)
    assert Demo(tmp_path, upstream.url).service.check(read_data=True) == ()
    asked = Counter((request.method, request.host, request.path, request.query) for request in upstream.requests)
    assert sum(asked.values()) - len(asked) <= 2 * IN_FLIGHT


def test_a_damaged_lineage_does_not_hide_the_others_from_the_list(tmp_path, upstream):
    demo = Demo(tmp_path, upstream.url)
    demo.build(papers=0, repos=0)
    demo.build(papers=0, repos=0, name="other")
    (tmp_path / "lineages" / "other" / "CURRENT").write_text("garbage")
    one, other = demo.service.lineages()
    assert one.lineage == "arxiv-9912.00001"
    assert (other.lineage, "other" in other.problem) == ("other", True)
