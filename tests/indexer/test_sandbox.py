"""The killable child: what it denies, how each way of dying is told, and that only the culprit is lost."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexer.sandbox.pool import Limits, Sandbox
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId

HOSTILE = "tests.indexer.hostile_parser"
WORK = WorkId("repo:github.com/a/b")
MIB = 1024 * 1024
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can deny this; elsewhere limits and the wall clock remain")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2, limits=Limits(wall=1.5, cpu=1, memory=1024 * MIB, result=2 * MIB)) as made:
        yield made


def act(sandbox: Sandbox, what: str) -> str:
    return sandbox.paper(HOSTILE, {"a": what.encode()}, WORK, "sha").text


def status(sandbox: Sandbox, what: str) -> Status:
    with pytest.raises(ParseError) as caught:
        act(sandbox, what)
    return caught.value.status


def outcomes(found: list[Document | ParseError]) -> list[str]:
    return [one.status.value if isinstance(one, ParseError) else one.text for one in found]


def test_a_document_comes_back_under_the_work_and_blob_that_were_asked_about(sandbox: Sandbox) -> None:
    found = sandbox.paper(HOSTILE, {"a": b"say hello"}, WORK, "sha")
    assert (found.text, found.work, found.blob) == ("hello", WORK, "sha")


@linux
def test_it_names_the_guards_that_hold(sandbox: Sandbox) -> None:
    act(sandbox, "say x")
    assert {"cpu", "memory", "file size", "no core"} <= sandbox.guards


@linux
def test_it_cannot_reach_the_network(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert act(sandbox, f"connect {server.getsockname()[1]}").startswith("denied")
    if "seccomp" in sandbox.guards:
        assert act(sandbox, "udp") == "denied: PermissionError"


@linux
def test_it_cannot_write_read_or_remove_a_file_of_the_user(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    act(sandbox, "say x")
    if "landlock" not in sandbox.guards:
        pytest.skip("this kernel has no Landlock")
    for what in (f"write {tmp_path}/new", f"append {secret}", f"remove {secret}", f"read {secret}"):
        assert act(sandbox, what) == "denied: PermissionError"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


@linux
def test_it_cannot_start_or_touch_another_process(sandbox: Sandbox) -> None:
    act(sandbox, "say x")
    if "seccomp" not in sandbox.guards:
        pytest.skip("this kernel has no seccomp filters")
    assert [act(sandbox, what) for what in ("fork", "exec", "kill")] == ["denied: PermissionError"] * 3
    assert act(sandbox, "trace") == "denied: ptrace"
    assert act(sandbox, "thread") == "a thread ran"


@linux
def test_four_gibibytes_are_refused_and_told(sandbox: Sandbox) -> None:
    assert status(sandbox, f"alloc {4096 * MIB}") is Status.PARSE_OOM


@linux
@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("sleep 1000", Status.PARSE_TIMEOUT),
        ("spin", Status.PARSE_TIMEOUT),
        ("crash", Status.PARSE_SIGNAL),
        ("exit 3", Status.PARSE_ERROR),
        ("recurse", Status.PARSE_ERROR),
        ("bug key", Status.PARSE_ERROR),
        (f"flood {3 * MIB}", Status.TOO_LARGE),
        ("refuse it is locked", Status.ENCRYPTED),
    ],
)
def test_every_way_to_end_has_its_status_and_the_next_job_runs(sandbox: Sandbox, what: str, expected: Status) -> None:
    assert status(sandbox, what) is expected
    assert act(sandbox, "say next") == "next"


@linux
def test_only_the_culprits_of_a_batch_are_lost(sandbox: Sandbox) -> None:
    acts = ["say a", "crash", "say b", "bug x", "exit 1", "say c", "sleep 1000", "say d"]
    found = sandbox.members([(f"f{n}", what.encode()) for n, what in enumerate(acts)], WORK, "sha", HOSTILE)
    assert outcomes(found) == ["a", "parse_signal", "b", "parse_error", "parse_error", "c", "parse_timeout", "d"]
    assert [one.path for one in found if isinstance(one, Document)] == ["f0", "f2", "f5", "f7"]


def test_members_go_to_the_parsers_of_their_names(sandbox: Sandbox) -> None:
    items = [
        ("a.py", b"def f():\n    pass\n"),
        ("b.png", b"\x89PNG"),
        ("c.json", b"[" + b"1," * 500 + b"1]"),
        ("README.md", b"# Hi\n"),
        ("d.ipynb", b"{"),
    ]
    found = sandbox.members(items, WORK, "sha")
    assert [one.status.value for one in found] == ["ok", "policy_skipped", "policy_skipped", "ok", "parse_error"]
    assert found[0] == Document(WORK, "a.py", "def f():\n    pass\n", found[0].spans, "code@2", "code", "python", "sha")  # type: ignore[union-attr]


def test_no_members_are_no_documents(sandbox: Sandbox) -> None:
    assert sandbox.members([], WORK, "sha") == []


def test_threads_share_the_workers(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda n: act(sandbox, f"say {n}"), range(12))) == [str(n) for n in range(12)]


def test_a_parser_that_does_not_exist_is_told_and_the_next_job_runs(sandbox: Sandbox) -> None:
    with pytest.raises(ParseError, match="no parser"):
        sandbox.paper("nonesuch", {"a": b"x"}, WORK, "sha")
    assert act(sandbox, "say next") == "next"


def test_the_model_of_layouts_that_comes_with_pymupdf_is_not_loaded(sandbox: Sandbox) -> None:
    assert act(sandbox, "loads pymupdf.layout") == "not to be had"


def test_tokens_of_the_user_are_not_in_the_childs_environment(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "canary")
    with Sandbox(workers=1) as fresh:
        found = fresh.paper(HOSTILE, {"a": b"environment"}, WORK, "sha").text
    assert "canary" not in found
    assert "PYTHONPATH" in found
