"""Nothing is lost without a row that says so, and no wrong answer is kept once it can be had right."""

from __future__ import annotations

import io
import tarfile
import time
from dataclasses import replace

import pytest

from indexer.archives.members import TARBALL, Member, members
from indexer.archives.tarstream import BoundedStream
from indexer.build_context import BuildContext
from indexer.parsers.latex.parser import parse
from indexer.read_document import Bounds, ReadDocument, Wanted
from indexer.repositories import Code, read_members, told
from indexer.sandbox.pool import Sandbox
from indexer.sources.arxiv import Arxiv
from indexer.sources.huggingface import HuggingFace
from indexer.store.blobs import Blobs
from indexer.store.computed_cache import DerivedCache
from indexer.transport.cache import DAY
from indexer.transport.client import Transport
from indexer.work_budget import Allowance, WorkBudget, budget_of
from lineage.errors import ParseError, SourceError
from lineage.generation import open_generation
from lineage.records import LedgerRow, Status, WorkId
from lineage.settings import Settings
from tests.demo import DEMO, TARGET, Demo
from tests.fakes.http import Clock, Reply, Scripted, reply_json
from tests.upstream import Upstream, World
from tests.upstream.faults import Fault, Faults, ReplaceBody
from tests.upstream.faults import Redirect as Away

GITHUB = "https://api.github.com/repos/a/b"
HUB = "https://huggingface.co/api/papers/2504.17192"
PAPER = WorkId("arxiv:2504.17192")
REPO = WorkId("repo:github.com/a/b")


@pytest.fixture
def asking(tmp_path):
    """A transport over scripted answers; give the answers by address, and settings."""
    opened = []

    def made(script, **flags):
        server = Scripted({url.removeprefix("https://"): replies for url, replies in script.items()}).__enter__()
        clock = Clock()
        settings = Settings(home=tmp_path, mirror=server.url, **flags)
        transport = Transport(settings, Blobs(tmp_path), wall=clock, sleep=clock.sleep)
        opened.append((server, transport))
        transport.clock, transport.server = clock, server
        return transport

    yield made
    for server, transport in opened:
        transport.close()
        server.__exit__(None, None, None)


def test_a_tarball_redirected_to_a_login_page_fails_and_is_not_excluded(tmp_path, world):
    away = Faults((Fault("codeload.github.com", Away("https://sso.example.org/login?next=x")),))
    with Upstream(world, away) as upstream:
        demo = Demo(tmp_path, upstream.url)
        made = demo.build(TARGET)
    with open_generation(demo.home, made.lineage) as generation:
        rows = [row for row in generation.catalog.ledger("source") if "redirected away" in row.detail]
    assert len(rows) == 3  # the fourth is only named by a README
    assert {row.status.outcome for row in rows} == {"failed"}


@pytest.mark.parametrize("answer", [{}, [], {"data": None}])
def test_a_shape_that_hugging_face_never_had_is_a_failure_and_is_asked_again(asking, answer):
    transport = asking({HUB: [reply_json(answer), reply_json({"id": "2504.17192", "githubRepo": "https://github.com/a/b"})]})
    with pytest.raises(SourceError, match=r"huggingface\.co cannot be read"):
        HuggingFace(transport).links(PAPER)
    assert [link.repo for link in HuggingFace(transport).links(PAPER)] == [REPO]


def test_such_an_answer_gives_a_row_in_a_build(tmp_path, world):
    with Upstream(world, Faults((Fault("huggingface.co", ReplaceBody(b"{}")),))) as upstream:
        demo = Demo(tmp_path, upstream.url)
        made = demo.build(TARGET)
    assert any(row.subject == "code links by huggingface" and row.status.outcome == "failed" for row in made.losses)


def test_a_refusal_expires_and_is_asked_again(asking):
    transport = asking({GITHUB: [reply_json({}, 404), reply_json({"full_name": "a/b"})]}, negative_days=7)
    for _ in range(2):
        with pytest.raises(SourceError) as refused:
            transport.get(GITHUB)
    assert "remembered since" in refused.value.hint
    assert (len(transport.server.seen), len(transport.remembered)) == (1, 1)
    transport.clock.sleep(8 * DAY)
    assert transport.get(GITHUB).status == 200


@pytest.mark.parametrize("nothing", [{"data": None}, {"offset": 0, "data": []}])
def test_a_list_of_nothing_is_believed_no_longer_than_a_refusal(asking, nothing):
    transport = asking({GITHUB: [reply_json(nothing), reply_json({"data": [{"n": 1}]})]}, negative_days=7)
    assert [transport.get(GITHUB).json for _ in range(2)] == [nothing] * 2
    transport.clock.sleep(8 * DAY)
    assert transport.get(GITHUB).json == {"data": [{"n": 1}]}


def test_a_pdf_without_its_end_is_believed_no_longer_than_a_refusal(asking):
    url, whole = "https://export.arxiv.org/pdf/2504.17192", (DEMO / "papers" / "9909.00104.pdf").read_bytes()
    transport = asking({url: [Reply(200, whole[:-10]), Reply(200, whole)]}, negative_days=7)
    assert [Arxiv(transport).pdf(PAPER).size for _ in range(2)] == [len(whole) - 10] * 2
    transport.clock.sleep(8 * DAY)
    assert Arxiv(transport).pdf(PAPER).size == len(whole)
    transport.clock.sleep(8 * DAY)
    assert Arxiv(transport).pdf(PAPER).size == len(whole)
    assert len(transport.server.seen) == 2


@pytest.mark.parametrize("what", ["api.github.com", "https://api.github.com/", "repo:github.com/a/b", "a/b", "all"])
def test_refresh_asks_once_more_about_a_host_or_work(asking, what):
    transport = asking({GITHUB: [reply_json({"n": 1}), reply_json({"n": 2})]})
    assert transport.get(GITHUB).json == {"n": 1}
    transport.refresh([what])
    assert [transport.get(GITHUB).json for _ in range(2)] == [{"n": 2}, {"n": 2}]


def test_refresh_forgets_what_is_known_of_a_tarball_too(asking):
    transport = asking({GITHUB: reply_json({"n": 1})})
    transport.get(GITHUB)
    assert transport.known(GITHUB)
    transport.refresh(["all"])
    assert transport.known(GITHUB) is None


@pytest.mark.parametrize("body", [b"[]", b"null", b'{"data": null}'])
def test_json_instead_of_an_eprint_is_a_failure_and_is_not_kept(asking, body):
    url = "https://export.arxiv.org/e-print/2504.17192"
    transport = asking({url: [Reply(200, body), Reply(200, b"\\documentclass{article}")]})
    with pytest.raises(SourceError, match="JSON came"):
        Arxiv(transport).eprint(PAPER)
    assert Arxiv(transport).eprint(PAPER).size == 23


@pytest.mark.parametrize("what", ["github.com", "a/bc", "arxiv:2504.17192", "export.arxiv.org"])
def test_refresh_leaves_the_rest_alone(asking, what):
    transport = asking({GITHUB: reply_json({"n": 1})})
    transport.get(GITHUB)
    transport.refresh([what])
    assert transport.get(GITHUB).cached


def test_an_answer_that_rots_is_asked_again_whichever_bit_flips(asking):
    transport = asking({GITHUB: reply_json({"n": 1})})
    transport.get(GITHUB)
    path = next(transport.answers.root.rglob("*.json"))
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 97):
        path.write_bytes(whole[: bit // 8] + bytes([whole[bit // 8] ^ (1 << bit % 8)]) + whole[bit // 8 + 1 :])
        assert transport.answers.get(transport.get(GITHUB).asked) is not None
    assert len(transport.server.seen) == 1 + len(range(0, 8 * len(whole), 97))


def test_the_clock_of_an_archive_stands_still_while_its_members_are_parsed():
    stream = BoundedStream(io.BytesIO(b"x" * 200_000).read, 1 << 20, 0.05)
    for _ in range(3):
        assert stream.read(60_000)
        time.sleep(0.06)
    assert len(stream.read(20_000)) == 20_000


def _tar(*names):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 1
            archive.addfile(info, io.BytesIO(b"x"))
    return out.getvalue()


def test_files_after_a_lone_block_of_zeros_are_read():
    whole = _tar("a.tex", "b.tex")
    assert [member.name for member in members(whole[:1024] + bytes(512) + whole[1024:])] == ["a.tex", "b.tex"]


def test_bytes_after_the_end_of_an_archive_have_a_row():
    rows = [(member.name, member.status) for member in members(_tar("a.tex") + _tar("b.tex"))]
    assert rows == [("a.tex", Status.OK), ("*", Status.PARTIAL)]


def _tex(body, **files):
    source = r"\documentclass{article}\begin{document}" + body
    return parse({"main.tex": source.encode(), **{f"{name}.tex": text.encode() for name, text in files.items()}}, PAPER, "")


def test_tex_without_its_end_is_incomplete():
    document = _tex("words")
    assert (document.text, document.status) == ("words", Status.PARTIAL)
    assert r"without \end{document}" in document.detail


def test_tex_that_ends_in_its_first_line_is_incomplete():
    assert parse({"main.tex": rb"\documentclass{article"}, WorkId("arxiv:1"), "").status is Status.PARTIAL


def test_a_tex_file_that_nothing_reads_has_a_row():
    document = _tex(r"\input{a}\end{document}", a="words", b="more words")
    assert [(subject, status) for subject, status, _ in document.lost] == [("b.tex", Status.POLICY_SKIPPED)]


CUT = Bounds(0, 1, 1, 1, "text", "")


class _Slow:
    """A sandbox where each file takes three seconds of processor time and has two chunks."""

    def members(self, items, work, blob, parser="member", budget=None, wanted=None):
        results = []
        for path, _ in items:
            words = budget.refusal("seconds")
            results.append(ParseError(Status.PARSE_TIMEOUT, words) if words else ReadDocument(work, path, "x", (), "p", "code", cuts=2 * (CUT,)))
            budget.spend("seconds", 3)
        return results


class _Bench:
    """What reading a repository needs of a build's context."""

    def __init__(self, home, **limits):
        self.settings = Settings(**limits)
        self.derived = DerivedCache(home)
        self.work = WorkBudget("build", {"seconds": 0, "megabytes": 0, "chunks": 0})
        self.sandbox = _Slow()
        self.heard = lambda document: None

    def wanted(self, chunks=0):
        return Wanted(chunks)


def _read(bench: BuildContext, files: int, size: int = 10) -> Code:
    return read_members(bench, REPO, "", [Member(f"f{n}.py", b"x = 1\n" * size, size=6 * size) for n in range(files)])


def test_the_seconds_of_a_repository_end_with_rows_that_are_not_remembered(tmp_path):
    code = _read(_Bench(tmp_path, repo_seconds=5), 4)
    assert [row.status for row in code.rows] == [Status.OK, Status.OK, Status.PARSE_TIMEOUT, Status.PARSE_TIMEOUT]
    assert code.rows[-1].status.cut
    assert "repo_seconds = 5" in code.rows[-1].detail


def test_what_time_cut_is_read_again_by_the_next_build_and_written_when_more_was_read(tmp_path, monkeypatch):
    whole, cuts = Sandbox.members, []

    def members(self, items, *rest, **more):
        read = whole(self, items, *rest, **more)
        late = [isinstance(one, ReadDocument) and one.path == "softcrop/crop.py" for one in read]
        cuts.extend(filter(None, late))
        return [replace(one, status=Status.PARSE_TIMEOUT, spans=(), cuts=()) if cut else one for one, cut in zip(read, late, strict=True)]

    with Upstream(World.load(DEMO)) as upstream:
        good = Demo(tmp_path / "good", upstream.url).build()
        demo = Demo(tmp_path / "cut", upstream.url)
        with monkeypatch.context() as patch:
            patch.setattr(Sandbox, "members", members)
            first, again = demo.build(), demo.build()
        healed, last = demo.build(), demo.build()
    assert (first.content_hash == good.content_hash, again.unchanged, len(cuts)) == (False, True, 2)
    assert (healed.content_hash, healed.unchanged, last.unchanged) == (good.content_hash, False, True)


def test_the_readme_of_an_archive_that_time_cut_is_not_final(tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(_tar("root/README.md", "root/a.py"))
    assert not told(path).cut
    assert told(path, replace(TARBALL, seconds=-1.0)).cut


def test_the_addresses_in_every_file_of_an_archive_are_known(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        for name, text in (("README.md", "of https://github.com/ada/engine"), ("setup.cfg", "flax @ git+https://github.com/google/flax.git@main")):
            member = tarfile.TarInfo(f"root/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    assert told(path).given == {"repo:github.com/ada/engine", "repo:github.com/google/flax"}


def test_the_text_of_a_repository_ends_with_rows(tmp_path):
    code = _read(_Bench(tmp_path, repo_megabytes=0.0012), 3, size=100)
    assert [row.status for row in code.rows] == [Status.TOO_LARGE, Status.OK, Status.OK]
    assert "repo_megabytes" in code.rows[0].detail


def test_the_chunks_of_a_repository_end_with_rows(tmp_path):
    code = _read(_Bench(tmp_path, repo_chunks=3), 3)
    assert [row.status for row in code.rows] == [Status.OK, Status.TOO_LARGE, Status.TOO_LARGE]
    assert len(code.documents) == 1
    assert "repo_chunks = 3" in code.rows[1].detail


@pytest.mark.parametrize("limits", [{"build_chunks": 2}, {"build_megabytes": 0.00015}])
def test_the_chunks_and_the_text_of_a_build_are_bounded(limits):
    allowance = Allowance(budget_of(Settings(**limits), "build"))
    documents = [ReadDocument(REPO, f"f{n}.py", "x" * 100, (), "p", "code", cuts=2 * (CUT,)) for n in range(2)]
    assert [allowance.refuses(document) for document in documents] == [False, True]
    rows = allowance.rows([LedgerRow("member", REPO, f"f{n}.py", "parse", Status.OK, "") for n in range(2)])
    assert [next(iter(limits)) in row.detail for row in rows] == [False, True]
