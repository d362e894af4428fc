"""The killable child: what it denies, how each way of dying is told, and that only the culprit is lost."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.extraction.extract import units
from indexer.parsers.stored import document_from_json, document_to_json
from indexer.read_document import Bounds, ExtractedFact, ReadDocument, Stated, Wanted
from indexer.sandbox.pool import Limits, Sandbox, Zygote
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId

HOSTILE = "tests.indexer.hostile_parser"
WORK = WorkId("repo:github.com/a/b")
MIB = 1024 * 1024
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can deny this; elsewhere limits and the wall clock remain")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2, limits=Limits(wall=60.0, cpu=1, memory=1024 * MIB, result=2 * MIB)) as made:
        yield made


@pytest.fixture(scope="module")
def hasty(sandbox: Sandbox) -> Iterator[Sandbox]:
    """The same for what sleeps: it ends after so long that a busy machine does everything else in that time."""
    with Sandbox(workers=1, limits=replace(sandbox.limits, wall=5.0)) as made:
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
def test_only_the_culprits_of_a_batch_are_lost(hasty: Sandbox) -> None:
    acts = ["say a", "crash", "say b", "bug x", "exit 1", "say c", "sleep 1000", "say d"]
    found = hasty.members([(f"f{n}", what.encode()) for n, what in enumerate(acts)], WORK, "sha", HOSTILE)
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
    assert found[0] == ReadDocument(WORK, "a.py", "def f():\n    pass\n", found[0].spans, "code@2", "code", "python", "sha")  # type: ignore[union-attr]


def test_chunks_and_facts_are_made_in_the_child(sandbox: Sandbox) -> None:
    text = "import torch\n\n\ndef main():\n    batch_size = 64\n    optimizer = torch.optim.AdamW(params, lr=1e-4)\n"
    (found,) = sandbox.members([("train.py", text.encode())], WORK, "sha", wanted=Wanted(10))
    assert isinstance(found, ReadDocument)
    (chunk, *_), read = units(found)
    assert (chunk.work, chunk.path, chunk.text) == (WORK, "train.py", text.strip())
    assert {(fact.name, fact.value, fact.chunk) for fact in read.facts} >= {("learning_rate", "0.0001", chunk.id)}
    assert found.spans == ()  # a function of three lines is compared with nothing


def test_a_file_of_too_many_chunks_costs_only_itself(sandbox: Sandbox) -> None:
    many = "\n".join(f"def f{n}():\n" + "    x = 1\n" * 20 for n in range(50)).encode()
    found = sandbox.members([("many.py", many), ("a.py", b"x = 1\n")], WORK, "sha", wanted=Wanted(20))
    assert [one.status.value for one in found] == ["too_large", "ok"]
    assert "repo_chunks" in str(found[0])


@linux
def test_a_reader_of_facts_that_is_killed_costs_only_its_file(sandbox: Sandbox) -> None:
    """What the parser accepts at once takes the readers of facts longer than a job may take here: a second."""
    slow = b"lr = 1\n" * 140_000
    found = sandbox.members([("slow.py", slow), ("a.py", b"x = 1\n")], WORK, "sha", wanted=Wanted(100_000))
    assert [one.status.value for one in found] == ["parse_timeout", "ok"]


@linux
def test_results_that_are_too_many_bytes_cost_only_the_file_they_are_of(sandbox: Sandbox) -> None:
    acts = ["say a", f"flood {3 * MIB}", "say b"]
    found = sandbox.members([(f"f{n}", what.encode()) for n, what in enumerate(acts)], WORK, "sha", HOSTILE)
    assert outcomes(found) == ["a", "too_large", "b"]


def test_units_of_a_child_that_lies_are_refused(sandbox: Sandbox) -> None:
    for cut in (
        Bounds(0, 9, 1, 1, "text", ""),
        Bounds(3, 3, 1, 1, "text", ""),
        Bounds(0, 2, 0, 1, "text", ""),
        Bounds(0, 2, 1, 90, "text", ""),
    ):
        forged = ReadDocument(WORK, "a", "words", (), "p", "docs", cuts=(cut,))
        with pytest.raises(ParseError, match="leaves the text"):
            document_from_json(document_to_json(forged))
    fact = ExtractedFact(1, "learning_rate", "0.1", "", "default", "lr", "0.1")
    with pytest.raises(ParseError, match="more facts"):
        document_from_json(document_to_json(ReadDocument(WORK, "a", "words", (), "p", "docs", stated=Stated(facts=601 * (fact,)))))


def test_documents_that_are_in_no_file_get_their_units(sandbox: Sandbox) -> None:
    abstract = Document(WorkId("arxiv:1"), "abstract", "We train with a learning rate of 0.1.", (), "abstract@1", "paper")
    (found,) = sandbox.documents([abstract], Wanted(10))
    assert isinstance(found, ReadDocument)
    assert (found.work, [chunk.text for chunk in units(found)[0]]) == (abstract.work, [abstract.text])


def test_no_members_are_no_documents(sandbox: Sandbox) -> None:
    assert sandbox.members([], WORK, "sha") == []


def test_threads_share_the_workers(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda n: act(sandbox, f"say {n}"), range(12))) == [str(n) for n in range(12)]


def test_closing_ends_every_child() -> None:
    made: list[Zygote] = []
    with Sandbox(workers=2, child=lambda: made.append(Zygote()) or made[-1]) as two, ThreadPoolExecutor(2) as pool:  # type: ignore[func-returns-value]
        list(pool.map(lambda n: act(two, "sleep 0.3"), range(2)))
    assert [zygote.reusable() for zygote in made] == [False, False]


def test_a_parser_that_does_not_exist_is_told_and_the_next_job_runs(sandbox: Sandbox) -> None:
    with pytest.raises(ParseError, match="no parser"):
        sandbox.paper("nonesuch", {"a": b"x"}, WORK, "sha")
    assert act(sandbox, "say next") == "next"


def test_the_model_of_layouts_that_comes_with_pymupdf_is_not_loaded(sandbox: Sandbox) -> None:
    assert act(sandbox, "loads pymupdf.layout") == "not to be had"


def test_tokens_of_the_user_are_not_in_the_childs_environment(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "canary")
    with Sandbox(workers=1, child=Zygote) as fresh:
        found = fresh.paper(HOSTILE, {"a": b"environment"}, WORK, "sha").text
    assert "canary" not in found
    assert "PYTHONPATH" in found
